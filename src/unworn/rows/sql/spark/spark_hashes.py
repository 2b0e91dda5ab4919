"""How changed rows are found: by what the hashes of columns add up to.

Every column a statement reads is hashed row by row; the hashes of a row are added, and the rows' sums too. Each column
has its own sum from the opening, and the sums of those that were read must be that again. All is done in whole numbers
that cannot overflow, which under some settings of Spark is an error and under others goes unnoticed: forty bits of a
hash, and the sum in two halves.

What a column's values add up to does not tell which rows they are in: values that change places within one column are
not found here, but by the keyed hashes of whole rows when a holdout is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

_BITS = 40
_LOW = 25
_MASK = (1 << _LOW) - 1
HIGH, LOW = f"shiftright({{}}, {_LOW})", f"{{}} & {_MASK}"
"""Both halves of a hash, each to be added up by itself."""


def sum_hashes(hashed: str) -> str:
    """The sum of a hash over all rows, as one number.

    >>> sum_hashes("h")
    'CAST(sum(shiftright(h, 25)) AS DECIMAL(20, 0)) * 33554432 + sum(h & 33554431)'
    """
    return f"CAST(sum({HIGH.format(hashed)}) AS DECIMAL(20, 0)) * {1 << _LOW} + sum({LOW.format(hashed)})"


def row_hash(columns: Mapping[int, str]) -> str:
    """The hashes of a row's columns together; a column's number is hashed along, so that no two may change places.

    >>> row_hash({3: "u3"})
    '(xxhash64(3, u3) & 1099511627775)'
    """
    hashes = (f"(xxhash64({number}, {text}) & {(1 << _BITS) - 1})" for number, text in columns.items())
    return " + ".join(hashes) or "0L"


def halves(hashes: NDArray[np.int64]) -> tuple[int, int]:
    """The same sums, of hashes that are here.

    >>> total([halves(np.array([2**50, 1, 2**26]))]) == 2**50 + 1 + 2**26
    True
    """
    return int((hashes >> _LOW).sum()), int((hashes & _MASK).sum())


def total(parts: Iterable[tuple[int, int]]) -> int:
    """The sum whose halves were added up in several parts of the rows."""
    return sum((high << _LOW) + low for high, low in parts)
