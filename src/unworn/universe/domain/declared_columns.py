"""Columns of a domain as people and files write them: lists, bins, tables of TOML and JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from unworn.errors import Unaskable
from unworn.universe.domain.axes import Axis
from unworn.universe.domain.bins import Bins
from unworn.universe.domain.value_columns import OTHER, Values

_FIELDS = {"edges": {"missing", "whole"}, "values": {"missing", "other"}}


def read_axis(name: str, given: Any) -> Axis:
    """One column: :class:`Bins`, a list of values, or a table with ``edges`` or ``values`` and what goes with them.

    >>> read_axis("age", {"edges": [0, 18, 65], "whole": True})
    Bins([0, 18, 65], whole=True)
    >>> read_axis("plan", {"values": ["basic", "pro"], "other": True, "missing": True})
    ['basic', 'pro', OTHER, None]
    """
    if isinstance(given, Axis):
        return given
    if not isinstance(given, Mapping):
        return Values(given, name)
    for form, flags in _FIELDS.items():
        if form in given and set(given) <= flags | {form}:
            said = {flag: _flag(name, flag, given[flag]) for flag in flags & set(given)}
            return _of_table(name, form, given[form], said)
    raise ValueError(
        f"the domain's column {name!r} is a table with 'edges' (and 'missing', 'whole'), or with 'values' "
        f"(and 'missing', 'other'), not with {', '.join(map(repr, sorted(map(str, given)))) or 'nothing'}"
    )


def _of_table(name: str, form: str, given: Any, said: Mapping[str, bool]) -> Axis:
    if form == "edges":
        try:
            return Bins(given, **said)
        except ValueError as why:
            raise ValueError(f"the domain's column {name!r}: {why}") from None
    listed = list(Values(given, name))
    more = [OTHER] * (said.get("other", False) and OTHER not in listed)
    return Values([*listed, *more, *[None] * (said.get("missing", False) and None not in listed)], name)


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The columns a TOML file declares."""
    import tomllib
    from pathlib import Path

    file = Path(path)
    if not file.is_file():
        raise Unaskable(f"there is no file {file} to read a domain from", path=str(file))
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Unaskable(f"{file} is not TOML: {error}", path=str(file)) from None


def _flag(name: str, flag: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise ValueError(f"the domain's column {name!r}: {flag} is true or false, not {given!r:.40}")
    return given
