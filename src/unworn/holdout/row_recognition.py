"""Whether rows are those of a ledger: known by keyed digests of their values, whatever they are called.

Rows that borrow a column from a known holdout are turned away, because a fresh ledger for old rows would be a second
budget for the same sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unworn.errors import Mismatch
from unworn.holdout.uses import families
from unworn.ledger import Key, Store
from unworn.record.terms import Terms
from unworn.rows.fingerprints.stored_digests import digests, known_as
from unworn.rows.held_rows import HeldRows


def has_same_rows(sample: HeldRows, terms: Terms, key: Key) -> bool:
    """Whether a holdout with these terms has these very rows; ``Mismatch`` where it has some of their columns."""
    secret = rows_secret(key)
    known, here = set(terms.columns), set(sample.columns)
    told = digests(sample, secret)
    if known <= here and terms.rows == sample.rows and known_as(sample, secret, known, terms.digest):
        if known == here:
            return True
        raise _borrowed(terms, f"they are its rows with the column(s) {_list(here - known)} added")
    kept = veil_columns(terms.columns, key) if terms.veiled else terms.columns
    known_digests = {digest for pair in kept.values() for digest in pair}
    shared = {name for digest, name in told.telling.items() if digest in known_digests}
    if shared:
        raise _borrowed(terms, f"they share its column(s) {_list(shared)}")
    return False


def knows(sample: HeldRows, store: Store) -> bool:
    """Whether a ledger has these rows already; ``Mismatch`` where it has them with other columns."""
    return bool(known_terms(sample, store))


def known_terms(sample: HeldRows, store: Store) -> list[Terms]:
    """The terms on which a ledger has these rows, one for each use; ``Mismatch`` where it has them otherwise."""
    found = (family for family in families(store.holdouts(), store) if family.keyed is not None)
    same = next((family for family in found if family.keyed and has_same_rows(sample, *family.keyed)), None)
    return [] if same is None else [chain.terms for chain in same.chains]


def veil_columns(columns: Mapping[str, tuple[str, str]], key: Key) -> dict[str, tuple[str, str]]:
    """Columns' digests under a mask that only the key can make, or, veiled twice, as they are.

    Without it whoever reads entry 0, which every card and every release shows, could see that two columns are equal.
    """

    derive = key.derive_many()

    def mask(digest: str, name: str, place: int) -> str:
        size = len(digest) // 2
        veil = derive(f"unworn/veil/{place}/{name}")[:size]
        return (int(digest, 16) ^ int.from_bytes(veil)).to_bytes(size).hex()

    return {name: (mask(pair[0], name, 0), mask(pair[1], name, 1)) for name, pair in columns.items()}


def _borrowed(terms: Terms, how: str) -> Mismatch:
    return Mismatch(
        f"these rows belong to holdout {terms.name!r} of this ledger: {how}.\n"
        "  A second ledger for the same rows would be a second budget. Open the rows as they were sealed, and pass "
        "predictions to score() or ask() instead of adding columns.",
        holdout=terms.name,
    )


def rows_secret(key: Key) -> bytes:
    """The key under which rows are fingerprinted."""
    return key.derive("unworn/rows")


def _list(names: Sequence[str] | set[str]) -> str:
    shown = sorted(names)[:5]
    return ", ".join(map(repr, shown)) + (", …" if len(names) > len(shown) else "")
