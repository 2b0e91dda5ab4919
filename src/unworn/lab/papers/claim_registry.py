"""Every claim there is, found by walking the package: a new file is known by being there."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from unworn.lab import papers
from unworn.lab.papers.claim_contract import PaperClaim, UnfitClaim

_ENDING = "_claim"


@cache
def claim_files() -> dict[str, str]:
    """The module of each claim, by the claim's name; none of them is imported for it.

    >>> claim_files()["freedman"].rpartition(".")[2]
    'freedman_claim'
    """
    found: dict[str, str] = {}
    for module in _modules():
        file = module.rpartition(".")[2]
        if file.endswith(_ENDING):
            found[file.removesuffix(_ENDING).replace("_", "-")] = module
    return dict(sorted(found.items()))


def claim_named(name: str) -> PaperClaim:
    """The claim of this name.

    >>> claim_named("freedman").lectures[0][:3]
    '000'
    >>> claim_named("freedmann")
    Traceback (most recent call last):
    unworn.lab.papers.claim_contract.UnfitClaim: there is no claim 'freedmann'; did you mean freedman? (unworn lab list)
    """
    module = claim_files().get(name)
    if module is None:
        from difflib import get_close_matches

        near = get_close_matches(name, claim_files(), n=1)
        hint = f"did you mean {near[0]}?" if near else "see all:"
        raise UnfitClaim(f"there is no claim {name[:60]!r}; {hint} (unworn lab list)")
    claim = getattr(import_module(module), "CLAIM", None)
    if not isinstance(claim, PaperClaim) or claim.name != name:
        raise UnfitClaim(f"{module} should have a constant CLAIM, a PaperClaim with the name {name!r}")
    return claim


def all_claims() -> list[PaperClaim]:
    """Every claim, in the order of names."""
    return [claim_named(name) for name in claim_files()]


def _modules() -> Iterator[str]:
    # Packages of this room are imported on the way, and are empty.
    for info in pkgutil.walk_packages(papers.__path__, f"{papers.__name__}."):
        yield info.name
