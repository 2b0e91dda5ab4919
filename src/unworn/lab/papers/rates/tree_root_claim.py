"""Prefix sums: a tree of counts against the square root of the summation, and noise on every prefix."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from unworn import charts
from unworn.bounds.release.prefix_bound import sqrt_sd
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.noise import Stream
from unworn.release.methods.prefix_noise import GaussianNoise
from unworn.universe.prefixes import CountTree, Direct, PrefixStrategy, SquareRoot

TREE, ROOT, PLAIN = "binary tree", "square root", "noise on every prefix"
NOISIEST, LARGEST = "standard deviation of the noisiest threshold", "largest error of all thresholds"
STRATEGIES: Mapping[str, Callable[[int], PrefixStrategy]] = {PLAIN: Direct, TREE: CountTree, ROOT: SquareRoot}
ROWS = 1_000


def errors(strategy: PrefixStrategy, noise: Stream, rng: np.random.Generator, budget: float = 1.0) -> np.ndarray:
    """How far each prefix of a release is from the truth, in rows; one row replaced is ``budget``-GDP.

    >>> far = errors(Direct(5), Stream(bytes(32), "release"), np.random.default_rng(1))
    >>> far.shape, bool(np.abs(far).max() < 20)
    ((4,), True)
    """
    counts = rng.multinomial(ROWS, np.full(strategy.cells, 1 / strategy.cells)).astype(np.int64)
    given, measured = GaussianNoise(strategy, budget), strategy.measure(counts)
    # The grid of measurements and that of the noise are powers of two, and the noise's is at least as fine.
    noisy = measured * (given.steps // strategy.grid) + given.draw(noise, measured.size)
    return strategy.prefixes(noisy / given.steps, ROWS) - np.cumsum(counts)[:-1]


def sweep(
    sizes: Sequence[int],
    runs: int,
    seed: int,
    progress: Progress,
    strategies: Mapping[str, Callable[[int], PrefixStrategy]] = STRATEGIES,
) -> ClaimOutcome:
    """Many releases of each strategy for each number of values."""
    table: list[TableRow] = []
    for cells in sizes:
        for what, make in strategies.items():
            rng = np.random.default_rng([seed, cells, len(what)])
            strategy, noise = make(cells), Stream(rng.bytes(32), "prefix sums")
            far = np.array([errors(strategy, noise, rng) for _ in range(runs)])
            promised = GaussianNoise(strategy, 1.0).sd * strategy.spread
            # Thresholds that share noise are as far off together; the mean over all of them and all runs is unbiased.
            drawn = float(np.sqrt(np.mean((far / promised) ** 2)))
            most = float(np.abs(far).max(axis=1).mean())
            table.append(_row(NOISIEST, what, cells, drawn * float(promised.max()), float(promised.max())))
            table.append(_row(LARGEST, what, cells, most, float(promised.max())))
            progress(len(table), 2 * len(sizes) * len(strategies))
    return judge(table)


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    last, runs = (14, 40) if effort == "quick" else (18, 100)
    return sweep([2**power for power in range(4, last + 1, 2)], runs, seed, progress)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`sweep`."""
    told = {(row["panel"], row["what"], int(row["cells"] or 2)): row for row in table}
    sizes = sorted({cells for _, _, cells in told})
    doublings = math.log2(sizes[-1] / sizes[0])

    def error(panel: str, what: str, cells: int) -> float:
        return float(told[panel, what, cells]["error"] or 0)

    def promised(what: str, cells: int) -> float:
        return float(told[NOISIEST, what, cells]["promised"] or 0)

    steps = {what: (promised(what, sizes[-1]) - promised(what, sizes[0])) / doublings for what in (TREE, ROOT)}
    drawn = all(
        0.75 < error(NOISIEST, what, m) / promised(what, m) < 1.25 for what in (PLAIN, TREE, ROOT) for m in sizes
    )
    bounded = all(promised(ROOT, m) <= math.sqrt(2) * sqrt_sd(m) for m in sizes)
    better = all(error(LARGEST, ROOT, m) < error(LARGEST, TREE, m) for m in sizes)
    late = error(LARGEST, TREE, sizes[-1]) < error(LARGEST, PLAIN, sizes[-1])
    law = {TREE: math.sqrt(2), ROOT: math.sqrt(2) * math.log(2) / math.pi}
    rises = all(0.8 < steps[what] / law[what] < 1.2 for what in law)
    m = sizes[-1]
    return ClaimOutcome(
        drawn and bounded and better and late and rises,
        f"For m = {m:,} the largest error is {error(LARGEST, PLAIN, m):.0f} rows by noise on every prefix, "
        f"{error(LARGEST, TREE, m):.0f} by the tree and {error(LARGEST, ROOT, m):.0f} by the square root; each "
        f"doubling of m adds {steps[TREE]:.2f} and {steps[ROOT]:.2f} to the standard deviations of the latter two.",
        tuple(table),
    )


def _row(panel: str, what: str, cells: int, error: float, promised: float) -> TableRow:
    return {"panel": panel, "what": what, "cells": cells, "error": error, "promised": promised}


CLAIM = PaperClaim(
    name="tree-root",
    title="Thresholds: tree against square root",
    statement="The noise of m prefix sums is √m where each has noise of its own, of order log m by a binary tree "
    "(√(L(L + 1)) for m = 2^L and a row added), and at most ln(m)/π + 1.07 by the square root of the summation.",
    citation="Dwork, Naor, Pitassi and Rothblum, STOC 2010; Chan, Shi and Song, TISSEC 2011; Fichtenberger, Henzinger "
    "and Upadhyay, Constant matters: fine-grained error bound on differentially private continual observation, ICML "
    "2023.",
    lectures=("002 Thresholds with binary tree",),
    expected="Where a row is replaced, by 1-GDP noise: each doubling of m adds √2 to the tree's standard deviation and "
    "√2 ln(2)/π to the square root's, within 20 %; noise as drawn within 25 % of that; the square root's at most √2 "
    "of the theorem's, its largest error below the tree's for every m, and the tree's below plain noise's at the last.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="cells",
        y="error",
        x_title="m: values, and so m − 1 thresholds",
        y_title="error, in rows",
        panel="panel",
        own_axes=True,
    ),
)
