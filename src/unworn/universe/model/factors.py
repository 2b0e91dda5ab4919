"""Tables over a few columns each, brought together: widened to more columns, multiplied, summed down to fewer.

The columns of a table are always in increasing order, so widening is a reshape and never a copy.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.universe.model.model import Axes


def widen_table(table: Floats, axes: Axes, onto: Axes) -> Floats:
    """The table with a side of length 1 for every column of ``onto`` it does not speak of, ready to broadcast.

    >>> widen_table(np.zeros((2, 3)), (1, 4), (0, 1, 4)).shape
    (1, 2, 3)
    """
    sizes = iter(table.shape)
    return table.reshape([next(sizes) if axis in axes else 1 for axis in onto])


def sum_table(table: Floats, axes: Axes, onto: Iterable[int]) -> Floats:
    """The table summed down to the columns ``onto``, which are among its own.

    >>> sum_table(np.ones((2, 3)), (1, 4), (4,)).tolist()
    [2.0, 2.0, 2.0]
    """
    kept = set(onto)
    others = tuple(place for place, axis in enumerate(axes) if axis not in kept)
    return np.add.reduce(table, axis=others) if others else table


def together(parts: list[tuple[Axes, Floats]], onto: Axes) -> Floats:
    """The product of tables, summed down to the columns ``onto``; no table over all their columns is made.

    >>> steps = np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> together([((0, 1), steps), ((1, 2), steps)], (0, 2)).tolist()
    [[0.25, 0.75], [0.0, 1.0]]
    """
    names = {axis: name for name, axis in enumerate(sorted({axis for axes, _ in parts for axis in axes}))}
    given = [thing for axes, table in parts for thing in (table, [names[axis] for axis in axes])]
    return np.asarray(np.einsum(*given, [names[axis] for axis in onto], optimize=len(parts) > 2))  # type: ignore[arg-type]


def conditional(logs: Floats, axes: Axes, given: Axes) -> tuple[Floats, Floats]:
    """From log-weights over ``axes``: the distribution of the other columns given those, and the log of its total.

    The largest weight of every line is divided out first, so a line's total is at least 1 and nothing overflows or
    vanishes, however far apart the lines are.

    >>> shares, totals = conditional(np.array([[900.0, 900.0], [-900.0, -900.0]]), (0, 1), (0,))
    >>> shares.tolist(), [round(total, 3) for total in totals.tolist()]
    ([[0.5, 0.5], [0.5, 0.5]], [900.693, -899.307])
    """
    others = tuple(place for place, axis in enumerate(axes) if axis not in given)
    top = np.maximum.reduce(logs, axis=others, keepdims=True)
    weights = np.exp(logs - top)
    total = np.add.reduce(weights, axis=others, keepdims=True)
    weights /= total
    return weights, (np.log(total) + top).reshape([logs.shape[axes.index(axis)] for axis in given])
