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
_MOST_READ = 20_000
_ENOUGH = 3
"""Columns this fine, and no rows that fit a machine coincide by chance."""


def repeated_rows(sample: Sample, secret: bytes) -> int:
    """How many rows repeat an earlier one; 0 where chance explains them, or where groups say which belong together.

    With at most E coincidences expected by chance it takes more than 3 + 20 E to count: a false alarm has a chance
    below 1e-8, if numbers are as fine as they look. Rows count that have them: where they are missing, or are the 0 of
    those who earned nothing, rows coincide as easily as their other columns do.
    """
    if sample.groups is not None or sample.rows > SORTED:
        return 0
    fine = list(islice((column for column in sample.columns.values() if is_fine(column)), _ENOUGH))
    if not fine:
        return 0
    hashed = _row_hashes(sample, secret)
    counts = np.unique(hashed, return_counts=True)[1]
    most = 3 + 20 * sample.rows**2 / 2 * _COINCIDENCE ** len(fine)
    if sample.rows - len(counts) <= most or _are_drawn_from_few(counts):
        return 0
    repeats = _fine_repeats(hashed, fine)
    return repeats if repeats > most else 0


def _fine_repeats(hashed: Words, fine: list[Column]) -> int:
    """How many rows repeat an earlier one in values that are not met again by chance, each of them."""
    _, first, counts = np.unique(hashed, return_index=True, return_counts=True)
    places, copies = first[counts > 1], counts[counts > 1] - 1
    step = -(-len(places) // _MOST_READ)  # of very many a part is read, and stands for all
    places, copies = places[::step], copies[::step]
    unlikely = np.logical_and.reduce([_unlikely(column, places) for column in fine])
    return int(copies[unlikely].sum()) * step


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


def is_fine(column: Column) -> bool:
    """Whether most of a column's values (as far as a look at some of them tells) are not met again by chance."""
    seen = np.arange(min(_LOOKED_AT, len(column.values)))
    if column.missing is not None:
        seen = seen[~column.missing[seen]]
    return len(seen) > 0 and bool(np.mean(_unlikely(column, seen)) > 0.5)


def _unlikely(column: Column, places: NDArray[np.intp]) -> NDArray[np.bool_]:
    """In which of these rows the column has a value that is not met again by chance."""
    values = column.values[places]
    if column.vocabulary is not None:
        found = np.array([len(column.vocabulary[code]) >= _LONG for code in values.tolist()], dtype=np.bool_)
    elif column.kind == "number" and values.dtype.kind == "f":
        found = _digits(values)
    else:
        return np.zeros(len(values), dtype=np.bool_)
    return found if column.missing is None else found & ~column.missing[places]


def _digits(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which numbers take more than nine digits to write."""
    numbers = values.astype(np.float64)
    found = np.isfinite(numbers) & (numbers != np.rint(numbers))
    found[found] = [float(f"{number:.9g}") != number for number in numbers[found].tolist()]
    return np.asarray(found, dtype=np.bool_)
