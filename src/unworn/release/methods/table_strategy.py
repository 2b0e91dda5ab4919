"""Which tables to measure, and how precisely: chosen from public numbers, before any row is read.

A workload of 2- and 3-way tables need not be measured as it stands. Tables over more columns cost no more each, and one
of them says something about many of the tables asked for; the closed form of least squares
(:mod:`unworn.release.methods.least_squares`) tells for any choice how precise every answer will be. So the budget is
divided among candidate tables such that the largest error is smallest. With Gaussian noise that is nearly a convex
problem; with Laplace noise, where a budget divided among k tables costs each a factor k and not its root, few larger
tables win, and several starts are tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from unworn.bounds.noise_tails import Noise, middle_of_largest
from unworn.queries.row_protocol import Floats
from unworn.release.methods.least_squares import (
    LeastSquares,
    cells,
    components,
    find_holders,
    interactions,
    subsets,
    varying_columns,
)
from unworn.release.methods.noise_budget import rounded_up, unit_scale
from unworn.release.methods.noisy_table import precision
from unworn.release.problem import Problem
from unworn.universe.model.model import Axes
from unworn.universe.model.question_blocks import Block

PAIRS = 200_000
"""How many (table, interaction) pairs are weighed at most; a larger choice is cut down to the tables asked for."""
LARGEST = 2**20
"""How many cells a measured table may have, unless the workload itself asks for a larger one."""
MOVED = {"gaussian": math.sqrt(2.0), "laplace": 2.0}
"""By how much a table moves when a row is replaced: in Euclidean length, and as a sum."""
_LEAST = 1e-3
"""A table that would get a smaller part of the budget is not measured at all."""
_WORTH = 0.97
"""Larger tables are measured only where they lower the expected largest error below this part of what it is without."""
_POWERS = (4.0, 16.0)
"""The largest variance is approached by power means."""


@dataclass(frozen=True)
class TableStrategy:
    """The tables to measure, and the scale of the noise of each."""

    tables: tuple[Axes, ...]
    scales: tuple[float, ...]


def maximal(many: Iterable[Axes]) -> tuple[Axes, ...]:
    """The sets of columns that lie in no other.

    >>> maximal([(0,), (0, 1), (1, 2), (0, 1)])
    ((0, 1), (1, 2))
    """
    kept: list[tuple[int, Axes]] = []
    for axes in sorted(set(many), key=lambda axes: (-len(axes), axes)):
        bits = sum(1 << axis for axis in axes)
        if not any(bits & ~larger == 0 for larger, _ in kept):
            kept.append((bits, axes))
    return tuple(axes for _, axes in kept)


def solver(problem: Problem, strategy: TableStrategy, noise: Noise, targets: tuple[Axes, ...]) -> LeastSquares:
    """Least squares for the tables of a strategy."""
    precisions = np.array([precision(noise, scale) for scale in strategy.scales])
    return LeastSquares(problem.domain.shape, strategy.tables, precisions, targets)


@lru_cache(maxsize=8)
def choose_tables(problem: Problem, noise: Noise, larger: bool) -> TableStrategy:
    """The tables and scales with the smallest expected largest error; ``larger`` allows tables of more columns."""
    shape = problem.domain.shape
    asked = maximal(varying_columns(shape, block.axes) or block.axes for block in problem.blocks)
    asked = tuple(axes for axes in asked if varying_columns(shape, axes)) or asked  # the rest need not be measured
    tables, found, error = _best(problem, noise, asked, list(asked))
    if larger and error > 0.0 and len(more := _candidates(shape, asked)) > len(asked):
        found_more = _best(problem, noise, asked, more)
        if found_more[2] < _WORTH * error:
            tables, found, _ = found_more
    kept = [place for place in range(len(tables)) if found[place] > 0.0]
    unit = unit_scale(noise, problem) * MOVED[noise]
    scales = [unit / (math.sqrt(found[at]) if noise == "gaussian" else found[at]) for at in kept]
    return TableStrategy(tuple(tables[at] for at in kept), tuple(rounded_up(scale) for scale in scales))


def _best(
    problem: Problem, noise: Noise, asked: tuple[Axes, ...], tables: list[Axes]
) -> tuple[list[Axes], Floats, float]:
    """The best division of the budget among these tables that is found, and its expected largest error."""
    search = _Search(problem, noise, tables)
    if not search.blocks:
        return tables, search.plain(asked), 0.0
    errors = [(search.largest(part), place, part) for place, part in enumerate(search.results(asked))]
    error, _, part = min(errors, key=lambda found: found[:2])
    return tables, part, error


def _candidates(shape: tuple[int, ...], asked: tuple[Axes, ...]) -> list[Axes]:
    """The tables asked for, and those with more columns: all there are, or else with one column more."""
    found = list(asked)
    order, columns = max(map(len, asked)), tuple(sorted(set().union(*asked)))
    if 2 ** len(columns) <= 4096:
        more = [some for size in range(2, len(columns) + 1) for some in combinations(columns, size)]
    else:
        more = [tuple(sorted((*axes, axis))) for axes in asked for axis in columns if axis not in axes]
    ordered = sorted(set(more) - set(asked), key=lambda axes: (len(axes), axes))
    found += [axes for axes in ordered if cells(shape, axes) <= LARGEST]
    weighed = sum(sum(math.comb(len(axes), size) for size in range(order + 1)) for axes in found)
    return found if weighed <= PAIRS else list(asked)


class _Search:
    """The variance of every kind of answer as a function of how the budget is divided."""

    def __init__(self, problem: Problem, noise: Noise, tables: list[Axes]) -> None:
        from scipy.sparse import csr_array

        shape = problem.domain.shape
        kinds = {_kind(block): block for block in problem.blocks if varying_columns(shape, block.axes)}
        self.blocks = blocks = list(kinds.values())
        self.noise, self.tables = noise, tables
        if not blocks:
            return
        parts = interactions(varying_columns(shape, block.axes) for block in blocks)
        rank = {part: place for place, part in enumerate(parts)}
        passed = find_holders(shape, tables, parts)
        lines = np.concatenate([np.full(len(passed[part][0]), place) for place, part in enumerate(parts)])
        columns = np.concatenate([passed[part][0] for part in parts])
        values = np.concatenate([passed[part][1] for part in parts])
        self.passed = csr_array((values, (lines, columns)), shape=(len(parts), len(tables)))
        told = [
            (place, rank[part], float(np.max(components(block, part)[0])))
            for place, block in enumerate(blocks)
            for part in subsets(varying_columns(shape, block.axes))
        ]
        rows, cols, lengths = zip(*told, strict=True)
        self.lengths = csr_array((lengths, (rows, cols)), shape=(len(blocks), len(parts)))
        self.sizes = np.array([float(block.size) for block in blocks])

    def results(self, asked: tuple[Axes, ...]) -> list[Floats]:
        """Local optima, from several starts."""
        known = set(asked)
        starts = [np.array([1.0 if axes in known else 1e-4 for axes in self.tables])]
        if len(self.tables) > len(asked):
            starts.append(np.ones(len(self.tables)))
        if self.noise == "laplace":
            orders = sorted({len(axes) for axes in self.tables})[1:]
            starts += [np.array([1.0 if len(axes) == order else 1e-3 for axes in self.tables]) for order in orders]
        return [self.plain(asked), *(self._climbed(start / start.sum()) for start in starts)]

    def plain(self, asked: tuple[Axes, ...]) -> Floats:
        """The tables asked for, all alike."""
        return np.array([1.0 / len(asked) if axes in asked else 0.0 for axes in self.tables])

    def variances(self, part: Floats) -> Floats:
        """The variance of a cell of each kind of answer, up to a constant."""
        precisions = self.passed @ (part if self.noise == "gaussian" else np.square(part))
        with np.errstate(divide="ignore"):
            return np.asarray(self.lengths @ (1.0 / precisions))

    def largest(self, part: Floats) -> float:
        # Estimates are sums of many draws, so that normal tails will do for either noise.
        return middle_of_largest("gaussian", self.variances(part), 0.0, self.sizes)

    def _climbed(self, part: Floats) -> Floats:
        from scipy.optimize import minimize

        for power in _POWERS:
            start = np.log(np.maximum(part, 1e-9))
            bounds = [(-25.0, 5.0)] * len(start)  # wide enough to give up a table, and far from underflow
            found = minimize(
                self._slope, start, (power,), "L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": 300}
            )
            part = _softmax(found.x)
        kept = np.where(part >= _LEAST, part, 0.0)
        return part if self._lost(kept) else np.asarray(kept / kept.sum())

    def _lost(self, part: Floats) -> bool:
        return not bool(np.isfinite(self.variances(part)).all())

    def _slope(self, logs: Floats, power: float) -> tuple[float, Floats]:
        """The logarithm of the power mean of the variances, and its slope."""
        part = _softmax(logs)
        weights, steps = (part, 1.0) if self.noise == "gaussian" else (np.square(part), 2.0 * part)
        inverse = 1.0 / np.maximum(self.passed @ weights, 1e-100)
        variances = self.lengths @ inverse
        top = float(variances.max())
        leading = (variances / top) ** (power - 1.0) * self.sizes
        total = float(leading @ variances) / top
        slopes = leading / (top * total)
        back: Any = steps * (self.passed.T @ (-np.square(inverse) * (self.lengths.T @ slopes)))
        return math.log(total) / power + math.log(top), part * (back - part @ back)


def _kind(block: Block) -> tuple[Any, ...]:
    """Marginals of the same columns are the same questions; any other block is its own kind."""
    from unworn.universe.model.question_blocks import Marginal

    return (block.axes,) if isinstance(block, Marginal) else (block.axes, id(block))


def _softmax(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def is_covered(tables: Sequence[Axes], axes: Axes) -> bool:
    """Whether one of the tables has all of these columns."""
    return any(set(axes) <= set(table) for table in tables)
