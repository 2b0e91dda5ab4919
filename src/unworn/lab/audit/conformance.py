"""What every method of release must keep, beside its privacy: tried on small problems whose truth is known."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unworn.bounds import clopper_pearson
from unworn.bounds.numerics import whole
from unworn.errors import Unaskable
from unworn.lab.audit.auditor import CONFIDENCE, audit
from unworn.lab.audit.cell_counts import Cells
from unworn.lab.audit.release_audit import method_name, release_target, small_enough
from unworn.lab.audit.report import Report
from unworn.noise import Stream
from unworn.release.folder.packing import Arrays, digest, pack_outcome, unpack_outcome
from unworn.release.methods.method import Method, ReleaseOutcome
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import Marginals, Ranges, Thresholds

_UNSURE = 0.01
"""At a low confidence the stated errors are small, and too small ones miss where it can be seen."""
_BITS, _LINE = Domain({"a": [0, 1], "b": [0, 1]}), Domain({"a": range(4)})
_HUGE = Domain({f"c{place}": range(10) for place in range(12)})

PROBLEMS: tuple[Problem, ...] = (
    Problem(100, _BITS, Marginals(1), 2.0, 0.0, _UNSURE),
    Problem(100, _BITS, Marginals(1) + Marginals(2), 4.0, 0.1, _UNSURE),
    Problem(100, _LINE, Thresholds("a"), 2.0, 0.0, _UNSURE),
    Problem(100, _LINE, Ranges("a"), 4.0, 0.1, _UNSURE),
    Problem(1, Domain({"a": [0], "b": [0, 1]}), Marginals(1), 1.0, 0.0, _UNSURE),
    Problem(1_000_000, _HUGE, Marginals(2), 1.0, 1e-9),
)
"""What a method is tried on unless told otherwise: either kind of budget, a single row, and 10^12 cells."""
_RUN = 2**16
"""On a domain of more cells only what follows from public numbers is tried."""


@dataclass(frozen=True)
class Conformance:
    """What was tried, and every ``fault`` that was found; ``audits`` are the reports behind what is said of privacy."""

    name: str
    tried: int
    refused: int
    faults: tuple[str, ...]
    audits: tuple[Report, ...] = ()
    trials: str = "problems"

    @property
    def passed(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    def __str__(self) -> str:
        tried = f"{self.name}: {self.tried} {self.trials}, of which it refuses {self.refused}"
        return f"{tried}; no fault found" if self.passed else "\n".join([f"{tried}; faults:", *self.faults])


def check_release(
    method: Method,
    problems: Sequence[Problem] = PROBLEMS,
    *,
    refuses: Sequence[Problem] = (),
    trials: int = 400,
    worlds: int = 200,
    seed: int = 0,
) -> Conformance:
    """Try everything that is asked of a method of release, and say what it does not keep.

    A problem that ``check`` refuses (by ``Unaskable``) is left alone; any other must be done. From public numbers: what
    is settled stays settled and survives JSON, the profile is within the budget, a finite error is predicted. On rows:
    the same key gives the same release, what comes out fits the problem and can be saved, no error is larger than was
    said in more of the ``worlds`` than is allowed, and an audit with so many ``trials`` does not refute the profile (of
    domains of up to 256 cells; above 65,536 no rows are tried at all). A method without a fault has one found, by
    chance, with probability 2e-6 per problem at most.

    Parameters
    ----------
    refuses
        Problems that ``check`` must refuse.
    worlds
        How many random tables the errors are tested on.

    Examples
    --------
    >>> from unworn.release.methods.additive_noise import LaplaceRelease
    >>> print(check_release(LaplaceRelease(), PROBLEMS[:1], trials=100, worlds=20))
    laplace: 1 problems, of which it refuses 0; no fault found
    """
    trials, worlds, seed = whole("trials", trials, 100), whole("worlds", worlds, 1), whole("seed", seed, 0)
    faults: list[str] = []
    audits: list[Report] = []
    refused = 0
    for problem in problems:
        where = f"{problem.workload!r} of {problem.rows:,} rows at ({problem.epsilon:g}, {problem.delta:g}): "
        able, said = _able(method, problem)
        found = [said] if said else []
        refused += not able and not said
        if able:
            for step in (_public, _rows):
                found += _faults_of(step, method, problem)
            if not found and problem.cells <= _RUN:
                found += _faults_of(_errors, method, problem, worlds, seed)
                if small_enough(problem):
                    found += _faults_of(_privacy, method, problem, trials, seed, audits)
        faults += [where + fault for fault in found]
    if problems and refused == len(problems):
        faults.append("it refuses every problem it was tried on: give problems= that it can do")
    for problem in refuses:
        able, said = _able(method, problem)
        if able or said:
            faults.append(f"{problem.workload!r} of {problem.rows:,} rows: " + (said or "check() should refuse it"))
    return Conformance(method_name(method), len(problems), refused, tuple(faults), tuple(audits))


def _faults_of(step: Callable[..., Iterator[str]], *given: Any) -> list[str]:
    """The faults that a step finds; that it fails is one too."""
    found: list[str] = []
    try:
        found.extend(step(*given))
    except Exception as error:  # whatever somebody else's code may raise
        found.append(f"{type(error).__name__} where check() lets the problem pass: {error}")
    return found


def _able(method: Method, problem: Problem) -> tuple[bool, str]:
    try:
        method.check(problem)
    except Unaskable:
        return False, ""
    except Exception as error:
        return False, f"check() refuses by Unaskable, and raised {type(error).__name__}: {error}"
    return True, ""


def _public(method: Method, problem: Problem) -> Iterator[str]:
    """What is known before a row is read."""
    ours = method.settled(problem)
    ours.check(problem)
    if ours.settled(problem) != ours:
        yield "settled() of what is settled chooses again: a release is made again from what was recorded"
    recorded = json.loads(json.dumps(ours.to_json(), allow_nan=False))
    if recorded.pop("method", None) != type(ours).__name__ or type(ours)(**recorded) != ours:
        yield "to_json() does not hold the whole configuration: the class, called with it, makes another"
    spent = float(ours.profile(problem).delta(problem.epsilon))
    if not spent <= problem.delta:
        yield f"its profile has delta = {spent:.3g} at epsilon = {problem.epsilon:g}, above {problem.delta:g}"
    if not 0.0 <= ours.predicted(problem) <= 1.0:
        yield f"predicted() is a share, not {ours.predicted(problem)!r}"


def _rows(method: Method, problem: Problem) -> Iterator[str]:
    """What comes out of one table."""
    if problem.cells > _RUN:
        return
    ours, rows = method.settled(problem), _world(problem, 0, 0)
    steps: list[tuple[int, int]] = []
    outcome = ours.run(problem, rows, Stream(bytes(32), "one"), lambda *step: steps.append(step))
    yield from _misfits(problem, outcome)
    structure, arrays = pack_outcome(outcome)
    first = digest(structure, arrays)
    if digest(*pack_outcome(ours.run(problem, rows, Stream(bytes(32), "one")))) != first:
        yield "the same rows and the same key gave another release: all randomness comes from the stream"
    read = unpack_outcome(problem, json.loads(json.dumps(structure, allow_nan=False)), arrays)
    if not _same(arrays, pack_outcome(read)[1]):
        yield "what was saved is read back as something else"
    if any(not 0 <= done <= total for done, total in steps):
        yield f"progress is told as (steps done, steps in all), not {steps}"


def _same(one: Arrays, two: Arrays) -> bool:
    """A distribution is normalised when it is read, and may come out otherwise in its last digit."""
    return one.keys() == two.keys() and all(np.allclose(one[name], two[name], 1e-12, 1e-15) for name in one)


def _misfits(problem: Problem, outcome: ReleaseOutcome) -> Iterator[str]:
    """Whether what was released fits the questions."""
    if outcome.model is None and outcome.answers is None:
        yield "it releases neither a distribution nor answers"
    sizes = [(block.size,) for block in problem.blocks]
    for name, lines in (("answers", outcome.answers), ("errors", outcome.errors)):
        if lines is None:
            continue
        if [np.shape(line) for line in lines] != sizes:
            yield f"its {name} are vectors of the sizes {sizes}, one a block, not {[np.shape(line) for line in lines]}"
        elif not all(np.isfinite(line).all() for line in lines):
            yield f"some of its {name} are not finite"
        elif name == "errors" and any((np.asarray(line) < 0).any() for line in lines):
            yield "some of its errors are negative"
    if outcome.model is not None:
        shape = problem.domain.shape
        if outcome.model.shape != shape:
            yield f"its distribution has the shape {outcome.model.shape}, and the domain {shape}"
            return
        table = outcome.model.table(tuple(range(len(shape))))
        if table.shape != shape or not (table >= 0).all() or not math.isclose(float(table.sum()), 1.0, rel_tol=1e-9):
            yield "its distribution has negative cells, or does not sum to 1"


def _errors(method: Method, problem: Problem, worlds: int, seed: int) -> Iterator[str]:
    """Whether the stated errors hold, all at once, as often as is promised."""
    ours, missed = method.settled(problem), 0
    for place in range(worlds):
        rows = _world(problem, seed, place)
        told = ours.run(problem, rows, Stream(bytes(32), "world", seed, place))
        for at, block in enumerate(problem.blocks):
            if told.answers is None:
                assert told.model is not None
                answers = np.asarray(block.answers(told.model.table(block.axes)))
            else:
                answers = told.answers[at]
            truth = np.asarray(block.answers(rows.table(block.axes))) / problem.rows
            if (np.abs(answers - truth) > told.errors[at] + 1e-9).any():
                missed += 1
                break
    least = float(clopper_pearson(float(missed), float(worlds), math.log1p(-CONFIDENCE) + math.log(2.0))[0])
    if least > problem.chance:
        yield (
            f"its errors were larger than it says in {missed} of {worlds} worlds, so with probability {least:.3g} at "
            f"least, where {problem.chance:.3g} is allowed"
        )


def _privacy(method: Method, problem: Problem, trials: int, seed: int, audits: list[Report]) -> Iterator[str]:
    report = audit(release_target(method, problem), trials, seed=seed)
    audits.append(report)
    if report.refuted:
        yield f"its privacy is refuted: {report}"


def _world(problem: Problem, seed: int, place: int) -> Cells:
    """So many rows of a random distribution."""
    rng = np.random.default_rng([seed, place])
    shares = rng.dirichlet(np.full(problem.cells, 0.7))
    return Cells(rng.multinomial(problem.rows, shares).reshape(problem.domain.shape))
