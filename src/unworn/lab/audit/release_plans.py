"""A plan for every method of release: a tiny problem, and two tables that differ in one row, where a mistake shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unworn.lab.audit.cell_counts import Cell
from unworn.lab.audit.release_audit import method_name, release_target
from unworn.lab.audit.target import Target
from unworn.release.methods.additive_noise import GaussianRelease, LaplaceRelease
from unworn.release.methods.averaged_mwem import AveragedMWEM
from unworn.release.methods.method import Method
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.projection import Projection
from unworn.release.methods.small_db import SmallDB
from unworn.release.methods.threshold_release import ThresholdRelease
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import Marginals, Thresholds

_BIT, _BITS, _LINE = Domain({"a": [0, 1]}), Domain({"a": [0, 1], "b": [0, 1]}), Domain({"a": range(4)})
_PURE, _APPROXIMATE = (2.0, 0.0), (4.0, 0.1)
"""Budgets that hide little: with epsilon = 2, or mu = 2.06, a missing factor of two cannot hide."""


@dataclass(frozen=True)
class ReleasePlan:
    """How a method is audited. What it leaves open is chosen as for any release."""

    method: Method
    problem: Problem
    others: Sequence[Any] | None = None
    changes: Sequence[tuple[Cell, Cell]] | None = None
    trials: int = 4_000
    name: str | None = None

    @property
    def called(self) -> str:
        """The name it is found by."""
        return f"release-{self.name or method_name(self.method)}"

    def target(self) -> Target:
        return release_target(
            self.method,
            self.problem,
            others=self.others,
            changes=self.changes,
            name=self.called,
            trials=self.trials,
        )


def _pure(rows: int, domain: Domain, workload: Any) -> Problem:
    return Problem(rows, domain, workload, *_PURE)


def _approximate(rows: int, domain: Domain, workload: Any) -> Problem:
    return Problem(rows, domain, workload, *_APPROXIMATE)


_TIED: dict[str, Any] = {"others": [[5, 1], [0, 1]], "changes": [((0, 1), (1, 0))]}
"""One table is off by 3 of 8 rows and the other by 1, or both by 2: where one row decides most about a selection."""
_HALVES: dict[str, Any] = {"others": [4, 3], "changes": [((0,), (1,))]}
"""The uniform distribution is off by one row, or right."""
_TOLD: dict[str, Any] = {"changes": [((0,), (2,))]}
"""Of the counts a tree measures, those of the last value's path are not needed, and nobody sees them."""

RELEASES: tuple[ReleasePlan, ...] = (
    ReleasePlan(GaussianRelease(), _approximate(20, _BITS, Marginals(1))),
    ReleasePlan(LaplaceRelease(), _pure(20, _BITS, Marginals(1))),
    ReleasePlan(Projection(), _approximate(40, _BITS, Marginals(1))),
    ReleasePlan(Projection(), _pure(40, _BITS, Marginals(1)), name="projection-laplace"),
    ReleasePlan(MWEM(rounds=1), _pure(8, _BITS, Marginals(1)), **_TIED),
    ReleasePlan(MWEM(rounds=2), _approximate(8, _BITS, Marginals(1)), **_TIED, name="mwem-gaussian"),
    ReleasePlan(AveragedMWEM(rounds=2), _pure(8, _BIT, Marginals(1)), **_HALVES),
    # The nearest data set of three rows is that with none of the second value; or another one is as near.
    ReleasePlan(SmallDB(size=3), _pure(6, _BIT, Marginals(1)), others=[5, 0], changes=[((0,), (1,))]),
    ReleasePlan(ThresholdRelease("consistent"), _pure(40, _LINE, Thresholds("a"))),
    ReleasePlan(ThresholdRelease("direct"), _pure(40, _LINE, Thresholds("a")), name="thresholds-direct"),
    ReleasePlan(ThresholdRelease("tree"), _pure(80, _LINE, Thresholds("a")), **_TOLD, name="thresholds-tree"),
    ReleasePlan(
        ThresholdRelease("square-root"), _approximate(40, _LINE, Thresholds("a")), name="thresholds-square-root"
    ),
)
"""Every method of release there is: a test asks for each that has a name."""
