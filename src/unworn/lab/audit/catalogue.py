"""Everything that can be audited by name: this package's private mechanisms, its methods of release, and controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from unworn.errors import UnwornError
from unworn.lab.audit import controls
from unworn.lab.audit.mechanism_audit import Said, kebab, mechanism_target
from unworn.lab.audit.release_plans import RELEASES
from unworn.lab.audit.target import Target
from unworn.mechanisms import (
    AboveThreshold,
    BoundedNoise,
    Gaussian,
    GuessAndCheck,
    Ladder,
    Laplace,
    Mechanism,
    MedianOracle,
    MultiplicativeWeights,
    Naive,
    OneSample,
    PrivateGuessAndCheck,
    PrivateLadder,
    Rounding,
    SampleSplitting,
    SparseVector,
    Subsampled,
    Thresholdout,
)


@dataclass(frozen=True)
class AuditPlan:
    """A plan under which a mechanism is audited: few rows and little noise, so that a mistake shows in few trials.

    How much noise a mechanism adds is a parameter; whether it is as private as it says for that noise is what an audit
    tests, and with epsilons near 1 a factor of two cannot hide.
    """

    mechanism: Mechanism
    rows: int = 20
    asks: int = 2
    others: int | Sequence[int] | None = None
    guesses: Sequence[float] | None = None
    changes: Sequence[tuple[Said, Said]] | None = None
    trials: int = 6_000
    name: str | None = None

    @property
    def called(self) -> str:
        """The name it is found by."""
        return self.name or kebab(type(self.mechanism).__name__)

    def target(self) -> Target:
        return mechanism_target(
            self.mechanism,
            self.rows,
            self.asks,
            others=self.others,
            guesses=self.guesses,
            changes=self.changes,
            name=self.called,
            trials=self.trials,
        )


@dataclass(frozen=True)
class CoveragePlan:
    """A plan under which a mechanism's intervals are tested: enough rows for them to say something."""

    mechanism: Mechanism
    rows: int
    asks: int
    repetitions: int = 20


_LATE = (((0, 0, 1), (1, 1, 0)),)  # what a threshold lets pass tells of it, and then a value tells of both
_CLOSE: dict[str, Any] = {"rows": 20, "asks": 3, "others": 12, "changes": _LATE, "trials": 4_000}
"""Twelve of twenty rows are where these thresholds lie: where one row decides most."""

PLANS: tuple[AuditPlan, ...] = (
    AuditPlan(BoundedNoise(0.3)),
    AuditPlan(Gaussian(0.1)),
    AuditPlan(Laplace(0.1)),
    # Where no other row says yes, a fresh draw hides nothing but whether the changed row is in it.
    AuditPlan(Subsampled(0.5, drawn=2), rows=4, others=0, trials=4_000),
    AuditPlan(OneSample(0.1), rows=5, others=0, trials=4_000),
    AuditPlan(SparseVector(0.6, 3.0), **_CLOSE),
    AuditPlan(
        SparseVector(0.6, 6.0, tops=2, refresh=False),
        asks=4,
        others=11,
        changes=(((0, 0, 1, 1), (1, 1, 0, 0)),),
        trials=4_000,
        name="sparse-vector-standard",
    ),
    AuditPlan(SparseVector(0.6, 2.0, values=True), **_CLOSE, name="sparse-vector-values"),
    AuditPlan(Thresholdout(0.1, 0.025, budget=1), **_CLOSE, guesses=(0.5, 0.5, 0.5)),
    AuditPlan(PrivateGuessAndCheck(0.1, 2.0, tops=1), **_CLOSE, guesses=(0.5, 0.5, 0.5)),
    AuditPlan(PrivateLadder(0.1, 2.0, tops=1, baseline=0.5), **_CLOSE),
    AuditPlan(MedianOracle(0.1, 2.0, size=1, domain={"x": [0, 1]}), **_CLOSE, guesses=(0.5, 0.5, 0.5)),
    AuditPlan(MultiplicativeWeights(0.1, 2.0, gap=0.45, domain={"x": [0, 1]}), **_CLOSE, guesses=(0.5, 0.5, 0.5)),
)
"""Every private mechanism there is: a test asks for each that is registered."""


COVERED: tuple[CoveragePlan, ...] = (
    CoveragePlan(BoundedNoise(), 2_000, 40),
    CoveragePlan(Gaussian(), 2_000, 40),
    CoveragePlan(Laplace(), 2_000, 40),
    CoveragePlan(Subsampled(drawn=1_000), 2_000, 40),
    CoveragePlan(OneSample(), 100_000, 10, repetitions=5),
    CoveragePlan(SparseVector(), 2_000, 40),
    CoveragePlan(Thresholdout(), 2_000, 40),
    CoveragePlan(PrivateGuessAndCheck(), 2_000, 40),
    CoveragePlan(PrivateLadder(), 2_000, 40),
    CoveragePlan(AboveThreshold(0.55), 100, 24),
    CoveragePlan(Ladder(0.05), 100, 24),
    CoveragePlan(GuessAndCheck(), 100, 24),
    CoveragePlan(Naive(), 100, 60),
    CoveragePlan(Rounding(12), 100, 24),
    CoveragePlan(SampleSplitting(), 100, 24),
)
"""Mechanisms that the lab's analysts can play against, private or not: each comes with intervals."""


def coverage_case(name: str) -> CoveragePlan:
    """How the intervals of the mechanism of this name are tested."""
    known = {kebab(type(plan.mechanism).__name__): plan for plan in COVERED}
    if name not in known:
        raise UnwornError(
            f"no intervals of {name!r} can be tested.\n  There are: {', '.join(known)}.", known=list(known)
        )
    return known[name]


def catalogue() -> dict[str, Callable[[], Target]]:
    """How to make each target, by name: mechanisms first, then methods of release, then controls.

    >>> list(catalogue())[:3]
    ['bounded-noise', 'gaussian', 'laplace']
    """
    made: dict[str, Callable[[], Target]] = {plan.called: plan.target for plan in PLANS}
    made |= {plan.called: plan.target for plan in RELEASES}
    return made | {name: (lambda control=control: control) for name, control in controls.targets().items()}


def find(name: str) -> Target:
    """The target of this name."""
    known = catalogue()
    if name not in known:
        raise UnwornError(f"nothing to audit is called {name!r}.\n  There are: {', '.join(known)}.", known=list(known))
    return known[name]()
