"""Measured errors of releases against what theory says of them; everything is seeded, and nothing is timed.

Medians over seeds, except where theory speaks of a mean.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

import adult
from peers import counted, errors
from table import Row, compared
from unworn.bounds.noise_tails import rounding
from unworn.bounds.regret import regret_bound
from unworn.bounds.release import projection_error, sqrt_sd, tree_sd
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.release.methods.additive_noise import GaussianRelease
from unworn.release.methods.averaged_mwem import AveragedMWEM
from unworn.release.methods.method import Method, ReleaseOutcome
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.prefix_noise import GaussianNoise
from unworn.release.methods.projection import Projection
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.model.model import Axes
from unworn.universe.model.online_learning import Learner
from unworn.universe.prefixes import CountTree, PrefixStrategy, SquareRoot
from unworn.universe.workload import Marginals, Workload

SLOPE = -0.43
"""What errors fall by at least, on double logarithmic paper: theory has -1/2 and a logarithm."""
SMALL = ("marital", "income", "education", "hours")
"""Columns of the Adult-like table, 336 cells: so few that rows enough for the slow theorem can be had."""


class Codes:
    """Rows as a method of release sees them."""

    def __init__(self, codes: NDArray[np.int32], shape: tuple[int, ...]) -> None:
        self.codes, self.shape, self.size = codes, shape, len(codes)

    def table(self, axes: Axes) -> NDArray[np.int64]:
        return self.tables([axes])[0]

    def tables(self, many: list[Axes]) -> list[NDArray[np.int64]]:
        return list(counted(self.codes, self.shape, list(many)).values())


def released(
    method: Method, names: tuple[str, ...], workload: Workload, rows: int, seed: int
) -> tuple[Floats, ReleaseOutcome]:
    """Largest, mean and mean squared error of one release of some columns of the Adult-like table."""
    whole = adult.domain()
    domain = Domain({name: whole.labels(name) for name in whole.names if name in names})
    places = [whole.names.index(name) for name in domain.names]
    tables = Codes(adult.codes(seed, rows)[:, places], domain.shape)
    problem = Problem(rows, domain, workload, 1.0, 1e-6)
    found = method.run(problem, tables, Stream(bytes(32), "theory", seed, rows))
    assert found.model is not None
    axes = [block.axes for block in problem.blocks]
    told = dict(zip(axes, found.model.tables(axes), strict=True))
    off = np.concatenate([(told[a] - tables.table(a) / rows).reshape(-1) for a in axes])
    return np.array([*errors(tables.codes, domain.shape, told), float(np.mean(off**2))]), found


def mwem(quick: bool) -> Iterator[Row]:
    """The averaged version below its bound at every size, falling as it should; the practical one never worse."""
    sizes, seeds = ((500, 4_000, 32_000), 3) if quick else ((500, 2_000, 8_000, 32_000, 128_000, 200_000), 7)
    medians: list[float] = []
    for rows in sizes:
        runs = {
            kind: [released(kind(), SMALL, Marginals(2), rows, seed) for seed in range(seeds)]
            for kind in (AveragedMWEM, MWEM)
        }
        largest = {kind: statistics.median(float(off[0]) for off, _ in every) for kind, every in runs.items()}
        bound = float(runs[AveragedMWEM][0][1].errors[0].max())
        medians.append(largest[AveragedMWEM])
        yield compared(f"averaged MWEM, {rows:,} rows: largest error, against its bound", medians[-1], bound, 1.0)
        yield compared(f"MWEM, {rows:,} rows: largest error, against the averaged one", largest[MWEM], medians[-1], 1.0)
    slope = float(np.polyfit(np.log(sizes), np.log(medians), 1)[0])
    yield Row("averaged MWEM: slope of log error over log rows", slope, None, None, SLOPE, slope <= SLOPE)


def adversaries() -> dict[str, Callable[[Floats, int], Floats]]:
    def favourite(played: Floats, turn: int) -> Floats:
        return np.asarray((np.arange(len(played)) == played.argmax()).astype(float))

    def steady(played: Floats, turn: int) -> Floats:
        return np.asarray((np.arange(len(played)) > 0).astype(float))

    def late(played: Floats, turn: int) -> Floats:
        return np.asarray(np.arange(len(played)) % 2 == turn % 2, dtype=float) if turn else np.full(len(played), 0.5)

    def random(played: Floats, turn: int) -> Floats:
        return np.random.default_rng(turn).random(len(played))

    return {"the favourite costs": favourite, "one is free": steady, "one step late": late, "random costs": random}


def regret(quick: bool) -> Iterator[Row]:
    """The worst over all numbers of actions and of rounds."""
    for name, costs in adversaries().items():
        worst = (0.0, 1.0)
        for actions in (2, 16, 1024):
            for rounds in (50, 400) if quick else (50, 400, 3_000):
                for planned in (rounds, None):
                    learner = Learner(actions, planned)
                    for turn in range(rounds):
                        learner.learn(costs(learner.distribution, turn))
                    pair = learner.regret, regret_bound(actions, rounds)
                    worst = max(worst, pair, key=lambda one: one[0] / one[1])
        yield compared(f"regret, {name}: at its worst, against its bound", *worst, 1.0)


def largest_sd(way: PrefixStrategy, draws: int) -> float:
    """Of the noisiest prefix, as drawn, in rows, at mu = 1."""
    added, place = GaussianNoise(way, 1.0), int(np.argmax(way.spread))
    size = len(way.measure(np.zeros(len(way.spread) + 1, dtype=np.int64)))
    noise = (added.draw(Stream(bytes(32), "sd", turn), size) / added.steps for turn in range(draws))
    return float(np.std([way.prefixes(each, 0)[place] for each in noise]))


def thresholds(quick: bool) -> Iterator[Row]:
    """The square root beats the tree by the factor of theory, within four deviations of as many draws."""
    draws = 400 if quick else 3_000
    allowed = 4.0 / math.sqrt(draws)
    for m in (256,) if quick else (256, 1024):
        tree, root = CountTree(m), SquareRoot(m)
        factor = largest_sd(tree, draws) / largest_sd(root, draws)
        exact = tree.l2 * float(tree.spread.max()) / (root.l2 * float(root.spread.max()))
        what = f"{m:,} thresholds: largest sd of the tree over that of the square root"
        close = abs(factor / exact - 1.0) <= allowed
        yield Row(f"{what}, drawn, against exact", factor, exact, factor / exact, 1.0 + allowed, close)
        published = tree_sd(m) / sqrt_sd(m)
        yield compared(f"{what}, published (a row added), against ours (a row replaced)", published, exact, 1.0)


def projection(quick: bool) -> Iterator[Row]:
    """Mean squared errors, in the mean over seeds: of the noise of plain tables, and what theory says is left of it."""
    names, workload, seeds = adult.domain().names, Marginals(3), 2 if quick else 7
    for rows in (300, 6_000) if quick else (300, 1_000, 6_000, adult.ROWS):
        problem = Problem(rows, adult.domain(), workload, 1.0, 1e-6)
        scale = GaussianRelease(summed=False).settled(problem).scale or 1.0
        sd, radius = math.sqrt(scale**2 + rounding(scale)) / rows, math.sqrt(len(problem.blocks))
        bound = projection_error(problem.cells, problem.questions, sd, radius)
        square = float(np.mean([released(Projection(), names, workload, rows, seed)[0][2] for seed in range(seeds)]))
        part = "noise" if bound > 0.999 * sd**2 else "projection"
        what = f"projection, {rows:,} rows: mean squared error × 1e6, against its bound ({part})"
        yield compared(what, 1e6 * square, 1e6 * bound, 1.0)


def rows(quick: bool) -> Iterator[Row]:
    yield from mwem(quick)
    yield from regret(quick)
    yield from thresholds(quick)
    yield from projection(quick)
