"""``check_release``: what this package's methods keep, and what it finds wrong with others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn.bounds.privacy import Profile, Pure
from unworn.errors import Unaskable
from unworn.lab.audit.conformance import PROBLEMS
from unworn.noise import Stream
from unworn.release.methods.additive_noise import GaussianRelease, LaplaceRelease
from unworn.release.methods.averaged_mwem import AveragedMWEM
from unworn.release.methods.method import Method, Progress, ReleaseOutcome
from unworn.release.methods.method_choice import METHODS
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.small_db import SmallDB
from unworn.release.problem import Problem, Tables
from unworn.testing import Conformance, check_release
from unworn.universe.domain.domain import Domain
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.workload import Marginals

ONE = PROBLEMS[:1]
QUICK: dict[str, Method] = {
    **{name: kind() for name, kind in METHODS.items()},
    "mwem": MWEM(rounds=2),
    "averaged-mwem": AveragedMWEM(rounds=3),
    "small-db": SmallDB(size=3),
}
"""Every method, with little to do."""


@pytest.mark.parametrize("name", METHODS)
@in_two_sizes(short=(100, 10), full=(400, 200))
def test_every_method_of_release_conforms(name: str, size: tuple[int, int]) -> None:
    """In many worlds with what a method leaves open chosen; false alarm 2e-6 a problem over all seeds.

    That is the sum of what is allowed for an audit and for the errors' misses; true odds and misses stay well away
    from what is allowed, so that false alarms are far rarer than that.
    """
    trials, worlds = size
    method = QUICK[name] if worlds == 10 or name == "small-db" else METHODS[name]()
    told = check_release(method, trials=trials, worlds=worlds, seed=reseeded(0))
    assert told.passed, told
    assert told.tried == 6
    assert told.name == name
    assert told.refused < 5
    assert len(told.audits) >= 1


def test_what_was_refused_is_counted() -> None:
    told = check_release(GaussianRelease(), trials=100, worlds=10, refuses=[ONE[0]])
    assert told.passed, told
    assert str(told) == "gaussian: 6 problems, of which it refuses 3; no fault found"
    assert [report.name for report in told.audits] == ["gaussian"] * 2


# ---------------------------------------------------------------------------- methods with one fault each


@dataclass(frozen=True)
class Changed(LaplaceRelease):
    """Laplace noise, with something else done to what comes out."""

    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        return outcome

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        return self.changed(super().run(problem, tables, noise, progress))


class Silent(Changed):
    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        return replace(outcome, answers=None)


class Short(Changed):
    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        return replace(outcome, errors=outcome.errors[:1])


class Lost(Changed):
    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        return replace(outcome, errors=[np.full(2, np.nan)] * 2)


class Negative(Changed):
    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        return replace(outcome, errors=[-each for each in outcome.errors])


class Bold(Changed):
    """Its errors are half of what they can be."""

    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        return replace(outcome, errors=[each / 2 for each in outcome.errors])


class Misshapen(Changed):
    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        return replace(outcome, model=Explicit.uniform((4,)))


class Unsavable(Changed):
    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        return replace(outcome, numbers={"scale": np.float32(1.0)})


class Moody(Changed):
    """Takes its randomness from elsewhere, too."""

    drawn = np.random.default_rng(0)

    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        assert outcome.answers is not None
        return replace(outcome, answers=[each * self.drawn.random() for each in outcome.answers])


class Failing(Changed):
    def changed(self, outcome: ReleaseOutcome) -> ReleaseOutcome:
        raise ZeroDivisionError("division by zero")


class Boastful(LaplaceRelease):
    """Predicts less than nothing."""

    def predicted(self, problem: Problem) -> float:
        return -1.0


class Wasteful(LaplaceRelease):
    """Says itself that it reveals twice what is allowed."""

    def profile(self, problem: Problem) -> Profile:
        return Pure(2.0 * problem.epsilon)

    def check(self, problem: Problem) -> None: ...


class HalfTheNoise(LaplaceRelease):
    def settled(self, problem: Problem) -> Self:
        ours = super().settled(problem)
        return ours if self.scale is not None else replace(ours, scale=(ours.scale or 1.0) / 4.0)

    def profile(self, problem: Problem) -> Profile:
        return Pure(problem.epsilon)


class Restless(LaplaceRelease):
    """Settles on another scale each time."""

    def settled(self, problem: Problem) -> Self:
        ours = super().settled(problem)
        return replace(ours, scale=(ours.scale or 1.0) * 1.5)


@dataclass(frozen=True)
class Forgetful(LaplaceRelease):
    """Has a parameter that its JSON leaves out."""

    factor: float = 2.0

    def to_json(self) -> dict[str, Any]:
        return {name: told for name, told in super().to_json().items() if name != "factor"}

    def settled(self, problem: Problem) -> Self:
        return replace(super().settled(problem), factor=3.0)


class Shouting(LaplaceRelease):
    def check(self, problem: Problem) -> None:
        raise TypeError("no")


class Refusing(LaplaceRelease):
    def check(self, problem: Problem) -> None:
        raise Unaskable("never")


class Eager(LaplaceRelease):
    """Tells more steps done than there are."""

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        if progress is not None:
            progress(3, 2)
        return super().run(problem, tables, noise)


FAULTY: dict[Callable[[], Method], tuple[str, int]] = {
    Silent: ("neither a distribution nor answers", 1),
    Short: (r"its errors are vectors of the sizes \[\(2,\), \(2,\)\], one a block, not \[\(2,\)\]", 1),
    Lost: ("some of its errors are not finite", 1),
    Negative: ("some of its errors are negative", 1),
    Bold: (r"its errors were larger than it says in \d+ of 200 worlds", 200),
    Misshapen: (r"shape \(4,\), and the domain \(2, 2\)", 1),
    Unsavable: ("TypeError where check", 1),
    Moody: ("the same key gave another release", 1),
    Failing: ("ZeroDivisionError where check.. lets the problem pass: division by zero", 1),
    Boastful: ("predicted.. is a share, not -1.0", 1),
    Wasteful: (r"delta = 0.84\d at epsilon = 2, above 0", 1),
    HalfTheNoise: ("its privacy is refuted: half-the-noise: claims ε = 2, .*REFUTED", 1),
    Restless: ("settled.. of what is settled chooses again", 1),
    Forgetful: ("to_json.. does not hold the whole configuration", 1),
    Shouting: ("check.. refuses by Unaskable, and raised TypeError: no", 1),
    Refusing: ("it refuses every problem", 1),
    Eager: (r"progress is told as .*, not \[\(3, 2\)\]", 1),
}


@pytest.mark.parametrize("make", FAULTY, ids=lambda make: make.__name__)
def test_a_fault_is_named(make: Callable[[], Method]) -> None:
    says, worlds = FAULTY[make]
    told = check_release(make(), ONE, trials=600 if make is HalfTheNoise else 100, worlds=worlds)
    assert not told.passed
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(str(told))


def test_what_should_be_refused() -> None:
    told = check_release(LaplaceRelease(), [], refuses=ONE)
    assert told.faults == ("Marginals(ways=1, among=None) of 100 rows: check() should refuse it",)
    assert isinstance(told, Conformance)
    shouted = check_release(Shouting(), [], refuses=ONE)
    assert "raised TypeError" in shouted.faults[0]


def test_a_domain_too_large_for_an_audit_is_still_tried() -> None:
    problem = Problem(100, Domain({"a": range(300)}), Marginals(1), 2.0, 0.0)
    told = check_release(LaplaceRelease(), [problem], worlds=2)
    assert told.passed, told
    assert told.audits == ()
    assert not check_release(Failing(), [problem], worlds=2).passed


@pytest.mark.parametrize("given", [{"trials": 0}, {"worlds": 0}, {"seed": -1}, {"trials": 1.5}], ids=repr)
def test_impossible_numbers(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(given))} must be a whole number"):
        check_release(LaplaceRelease(), ONE, **given)
