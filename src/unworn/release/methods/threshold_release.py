"""Thresholds of one ordered column: how many rows are at or below each value, or between any two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from unworn.bounds.privacy import GDP, Profile, Pure
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.release.methods.method import Method, Progress, ReleaseOutcome
from unworn.release.methods.prefix_noise import GaussianNoise, LaplaceNoise, PrefixNoise
from unworn.release.problem import Problem, Tables
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.question_blocks import Block, Prefix, Range
from unworn.universe.prefixes import ConsistentTree, CountTree, Direct, PrefixStrategy, SquareRoot, monotone

Name = Literal["direct", "tree", "consistent", "square-root"]
_MOST_ROWS = 2**40
"""Times the finest grid this is still far below 2^63."""
_MOST_CELLS = 2**24


@dataclass(frozen=True)
class ThresholdRelease(Method):
    """Prefix sums, measured in a way that lets a logarithm of the noise through.

    Parameters
    ----------
    strategy
        ``"direct"`` (every prefix), ``"tree"`` (counts of nodes, summed), ``"consistent"`` (the same counts, by least
        squares), ``"square-root"`` (needs delta > 0); None for the one with the smallest predicted error.
    fan
        Into how many a node of a tree is divided; None for 2 where nodes are summed, and for the best where they are
        fitted. All the values at once is the plain table of counts.

    What is released never falls and stays within [0, 1]; with a single column it is a distribution too.

    Examples
    --------
    >>> from unworn.universe.domain.domain import Domain
    >>> from unworn.universe.workload import Thresholds
    >>> problem = Problem(10_000, Domain({"age": range(1024)}), Thresholds("age"), epsilon=1.0, delta=0.0)
    >>> ThresholdRelease().settled(problem)
    ThresholdRelease(strategy='consistent', fan=32)

    References
    ----------
    Dwork, Naor, Pitassi and Rothblum, "Differential privacy under continual observation", STOC 2010; Hay, Rastogi,
    Miklau and Suciu, "Boosting the accuracy of differentially private histograms through consistency", VLDB 2010;
    Fichtenberger, Henzinger and Upadhyay, "Constant matters", ICML 2023.
    """

    theorem: ClassVar[str] = "noise of known distribution through a linear strategy (prefix sums)"

    strategy: Name | None = None
    fan: int | None = None

    def __post_init__(self) -> None:
        if self.strategy is not None and self.strategy not in get_args(Name):
            raise ValueError(f"strategy is one of {', '.join(get_args(Name))}, or None, not {self.strategy!r}")
        if self.fan is not None and (isinstance(self.fan, bool) or not isinstance(self.fan, int) or self.fan < 2):
            raise ValueError(f"fan is a whole number from 2, or None, not {self.fan!r}")
        if self.fan is not None and self.strategy not in ("tree", "consistent"):
            raise ValueError(f"only trees have a fan: name one of them, or leave fan={self.fan!r} out")

    # ------------------------------------------------------------------ from public numbers

    def check(self, problem: Problem) -> None:
        block = _block(problem)
        if self.strategy == "square-root" and problem.delta == 0:
            raise Unaskable(
                "the square root measures every row many times over, each time a little, which only Gaussian noise "
                "hides well: give delta > 0, or take strategy='consistent'"
            )
        if block.shape[0] > _MOST_CELLS or problem.rows > _MOST_ROWS:
            raise Unaskable(
                f"thresholds are for up to {_MOST_CELLS:,} values and {_MOST_ROWS:,} rows, not for {block.shape[0]:,} "
                f"and {problem.rows:,}: use wider bins",
                values=block.shape[0],
                rows=problem.rows,
            )

    def settled(self, problem: Problem) -> Self:
        self.check(problem)
        ways = list(self._ways(_block(problem).shape[0], pure=problem.delta == 0))
        return ways[0] if len(ways) == 1 else min(ways, key=lambda way: way.predicted(problem))

    def _ways(self, cells: int, pure: bool) -> Iterator[Self]:
        """What the open parameters can be."""
        for name in get_args(Name) if self.strategy is None else (self.strategy,):
            if name in ("direct", "square-root"):
                if name == "direct" or not pure:
                    yield replace(self, strategy=name)
            elif self.fan is not None or name == "tree":
                yield replace(self, strategy=name, fan=min(self.fan or 2, cells))
            else:
                for fan in sorted({min(2**power, cells) for power in range(1, 9)} | {min(cells, 2**12)}):
                    yield replace(self, strategy=name, fan=fan)

    def profile(self, problem: Problem) -> Profile:
        return Pure(problem.epsilon) if problem.delta == 0 else GDP(_mu(problem))

    def predicted(self, problem: Problem) -> float:
        # Two prefixes' errors make a range's: at most twice one, and about sqrt(2) times it where they are far apart.
        apart = 1.0 if isinstance(_block(problem), Prefix) else 2.0**0.5
        return min(1.0, apart * self._noise(problem).usual / problem.rows)

    def _noise(self, problem: Problem) -> PrefixNoise:
        ways = list(self._ways(_block(problem).shape[0], pure=problem.delta == 0))
        ours = ways[0] if len(ways) == 1 else self.settled(problem)
        strategy = _strategy(ours.strategy, ours.fan, _block(problem).shape[0])
        return LaplaceNoise(strategy, problem.epsilon) if problem.delta == 0 else GaussianNoise(strategy, _mu(problem))

    # ------------------------------------------------------------------ the rows

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        ours, block = self.settled(problem), _block(problem)
        added = ours._noise(problem)
        strategy = added.strategy
        whole = strategy.measure(tables.table(block.axes).reshape(-1)) * (added.steps // strategy.grid)
        noisy = whole + added.draw(noise, len(whole))  # all that leaves the rows; the rest is made of it
        measured = noisy / added.steps
        widths = added.widths(problem.chance) + strategy.rounding(measured, problem.rows)
        sums, errors = monotone(strategy.prefixes(measured, problem.rows), widths, float(problem.rows))
        if progress is not None:
            progress(1, 1)
        ends = np.concatenate([[0.0], sums / problem.rows, [1.0]])
        model = Explicit(np.diff(ends)) if len(problem.domain.shape) == 1 else None
        numbers: dict[str, Any] = {
            "strategy": ours.strategy,
            "fan": ours.fan,
            "noise": "laplace" if problem.delta == 0 else "gaussian",
            "sd": added.sd,
            "sensitivity": strategy.l1 if problem.delta == 0 else strategy.l2,
            "steps": added.steps,
            "largest_sd": added.sd * float(strategy.spread.max()),
        }
        wrong = np.concatenate([[0.0], errors / problem.rows, [0.0]])
        if isinstance(block, Prefix):
            return ReleaseOutcome(model, [ends[1:-1]], [np.minimum(wrong[1:-1], 1.0)], numbers)
        # A range is the difference of two prefixes, and is wrong by no more than both together.
        first, last = np.triu_indices(block.shape[0])
        return ReleaseOutcome(
            model, [ends[last + 1] - ends[first]], [np.minimum(wrong[first] + wrong[last + 1], 1.0)], numbers
        )


def _block(problem: Problem) -> Block:
    if len(problem.blocks) != 1 or not isinstance(problem.blocks[0], Prefix | Range):
        raise Unaskable(
            "this method is for the thresholds or the ranges of one column, and nothing else: "
            "ask them alone, or take another method"
        )
    return problem.blocks[0]


def _mu(problem: Problem) -> float:
    from unworn.bounds.budget import gaussian_mu

    return gaussian_mu(problem.epsilon, problem.delta)


@lru_cache(maxsize=4)  # a million values are some 50 MB each
def _strategy(name: Name | None, fan: int | None, cells: int) -> PrefixStrategy:
    if name == "square-root":
        return SquareRoot(cells)
    if name == "direct" or fan is None:
        return Direct(cells)
    return (CountTree if name == "tree" else ConsistentTree)(cells, fan)
