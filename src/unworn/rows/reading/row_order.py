"""Rows, labels and groups that come with an index of their own, as those of pandas do: are they in one order?

Everything here is matched by its order, as in scikit-learn. Whoever sorts the labels alone, or shuffles the rows, would
get every answer wrong and never see it; the indexes show it before anything is sealed. An index that says nothing, as
pandas gives to what has none, stands against no other, unless that one is the same numbers in another order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unworn.errors import Unaskable


def check_row_order(parts: Mapping[str, Any]) -> None:
    """Refuse parts of the same rows, by what they are called, whose indexes differ.

    >>> import pandas as pd
    >>> X, y = pd.DataFrame({"a": [1, 2, 3]}, index=[7, 8, 9]), pd.Series([0, 1, 1], index=[9, 8, 7])
    >>> check_row_order({"the data": X, "y": y.loc[X.index]})
    >>> check_row_order({"the data": X, "y": y})
    Traceback (most recent call last):
    unworn.errors.Unaskable: the data and y come with different indexes, and rows are matched by their order alone.
      Bring them into one order, as by y.loc[X.index]; or, if they are, drop an index: .reset_index(drop=True)
    """
    known: list[tuple[str, Any]] = []
    for name, part in parts.items():
        index = _index_of(part)
        if index is None or any(index is other or index.equals(other) for _, other in known):
            continue
        for other_name, other in known:
            if len(index) == len(other) and _contradict(index, other):  # the number of rows is looked at elsewhere
                raise Unaskable(
                    f"{other_name} and {name} come with different indexes, and rows are matched by their order alone.\n"
                    "  Bring them into one order, as by y.loc[X.index]; or, if they are, drop an index: "
                    ".reset_index(drop=True)"
                )
        known.append((name, index))


def _index_of(part: Any) -> Any | None:
    """The index of an object of pandas."""
    if type(part).__module__.partition(".")[0] != "pandas":
        return None
    return part.index if hasattr(part, "index") and hasattr(part, "loc") else None


def _contradict(one: Any, other: Any) -> bool:
    if not _says_nothing(one) and not _says_nothing(other):
        return True
    try:
        return bool(one.sort_values().equals(other.sort_values()))
    except TypeError:  # what has no order is not the same numbers
        return False


def _says_nothing(index: Any) -> bool:
    import pandas

    return bool(index.equals(pandas.RangeIndex(len(index))))
