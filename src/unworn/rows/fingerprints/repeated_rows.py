"""Rows that occur more than once in a holdout, where chance does not explain it.

Rows of few values coincide by chance, and nothing is said of them. A number that takes more than nine digits to write
does not: two independent rows agree in it about once in 10^9. Where rows with such numbers repeat each other they were
copied, or belong to one unit, and are fewer independent draws than they look.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unworn.rows.fingerprints.hash_sums import SORTED
from unworn.rows.fingerprints.row_hashes import Words, hash_runs

if TYPE_CHECKING:
    from unworn.queries.row_protocol import Column
    from unworn.rows.memory.sample import Sample

_COINCIDENCE = 1e-9
_LONG = 24
"""Text of so many characters is not written twice by chance."""
_FEW_COPIES, _FEW_ROWS = 4, 50
_LOOKED_AT = 200
_ENOUGH = 3
"""Columns this fine, and no rows that fit a machine coincide by chance."""


def repeated_rows(sample: Sample, secret: bytes) -> int:
    """How many rows repeat an earlier one; 0 where chance explains them, or where groups say which belong together.

    With at most E coincidences expected by chance it takes more than 3 + 20 E to count: a false alarm has a chance
    below 1e-8, if numbers are as fine as they look.
    """
    if sample.groups is not None or sample.rows > SORTED:
        return 0
    fine = sum(1 for _ in islice((name for name, column in sample.columns.items() if _is_fine(column)), _ENOUGH))
    if not fine:
        return 0
    counts = np.unique(_row_hashes(sample, secret), return_counts=True)[1]
    repeats = sample.rows - len(counts)
    expected = sample.rows**2 / 2 * _COINCIDENCE**fine
    return repeats if repeats > 3 + 20 * expected and not _are_drawn_from_few(counts) else 0


def _row_hashes(sample: Sample, secret: bytes) -> Words:
    """A word per row, equal for equal rows; that they were sealed with will do."""
    if sample.row_hashes is not None:
        return sample.row_hashes
    with sample.reading():
        columns = [sample.columns[name] for name in sorted(sample.columns)]
        return np.concatenate([part[0] for _, part in hash_runs(sample.rows, secret, columns, (0,))])


def _are_drawn_from_few(counts: NDArray[np.int64]) -> bool:
    """Whether the rows look like draws from a population of few rows, each as often as chance has it.

    Copies are either few for each row, or as many for each: draws from K rows vary by their mean or more, and by less
    than a quarter of it with a chance below 1e-8 (chi-square, K at least 50).
    """
    times = float(np.mean(counts))
    return times > _FEW_COPIES and (len(counts) < _FEW_ROWS or float(np.var(counts)) >= times / 4)


def _is_fine(column: Column) -> bool:
    """Whether most of a column's values (as far as a look at some of them tells) are not met again by chance."""
    part = column[slice(0, _LOOKED_AT)]
    present = slice(None) if part.missing is None else ~part.missing
    values = part.values[present]
    if len(values) == 0:
        return False
    if part.vocabulary is not None:
        found = np.array([len(part.vocabulary[code]) >= _LONG for code in values.tolist()])
    elif part.kind == "number" and values.dtype.kind == "f":
        found = _digits(values)
    else:
        return False
    return bool(np.mean(found) > 0.5)


def _digits(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which numbers take more than nine digits to write."""
    numbers = values.astype(np.float64)
    found = np.isfinite(numbers) & (numbers != np.rint(numbers))
    found[found] = [float(f"{number:.9g}") != number for number in numbers[found].tolist()]
    return np.asarray(found, dtype=np.bool_)
