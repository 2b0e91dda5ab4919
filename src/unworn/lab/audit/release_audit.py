"""A method of release as something that can be audited: run again and again on two tables that differ in one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.privacy import GDP, Pure
from unworn.lab.audit.cell_counts import Cell, Cells, replaced, spread_evenly
from unworn.lab.audit.claim import Claim
from unworn.lab.audit.mechanism_audit import kebab
from unworn.lab.audit.target import Outputs, Pair, Target
from unworn.noise import Stream
from unworn.queries.query import canonical
from unworn.queries.row_protocol import Floats
from unworn.release.methods.method import Method, ReleaseOutcome
from unworn.release.methods.method_choice import METHODS
from unworn.release.problem import Problem
from unworn.universe.model.model import Axes

CELLS, COLUMNS = 256, 4
"""How large a domain may be: a mistake shows on a few cells, and every place more takes trials to look at."""
_DIGITS = 9
"""A distribution's cells are told to so many digits, in which sums taken in another order still agree."""


def claim_of_release(method: Method, problem: Problem) -> Claim:
    """What a method claims of a problem: its profile, quoted at the problem's delta.

    >>> from unworn.release.methods.additive_noise import LaplaceRelease
    >>> from unworn.universe.domain.domain import Domain
    >>> from unworn.universe.workload import Marginals
    >>> problem = Problem(40, Domain({"a": [0, 1]}), Marginals(1), epsilon=2.0, delta=0.0)
    >>> print(claim_of_release(LaplaceRelease(), problem))
    ε = 2
    """
    told = method.settled(problem).profile(problem)
    return Claim(told, 0.0 if isinstance(told, GDP | Pure) else problem.delta)


def small_enough(problem: Problem) -> bool:
    """Whether a problem can be audited."""
    return problem.cells <= CELLS and len(problem.domain.shape) <= COLUMNS


def release_target(
    method: Method,
    problem: Problem,
    *,
    others: ArrayLike | None = None,
    changes: Sequence[tuple[Cell, Cell]] | None = None,
    claimed: Claim | None = None,
    name: str | None = None,
    trials: int = 4_000,
) -> Target:
    """Audit the code that reads the rows: ``run``, each time with a fresh key, on two tables that differ in one row.

    Everything an :class:`~unworn.release.methods.method.ReleaseOutcome` has is looked at, whether or not a method says
    that it is made of noisy numbers alone: its errors and numbers are released like its answers.

    Parameters
    ----------
    problem
        Of few cells (256 in 4 columns at most), with an epsilon near 1, so that a missing factor of two shows.
    others
        How many of the rows that stay lie in each cell, one row less than the problem has; spread evenly by default.
    changes
        The cell that the other row leaves, and the one it goes to, one pair of inputs each; from the first cell to the
        last one by default, which moves every table.
    claimed
        Another claim than the method's own.

    Examples
    --------
    >>> from unworn.lab.audit import audit
    >>> from unworn.release.methods.additive_noise import LaplaceRelease
    >>> from unworn.universe.domain.domain import Domain
    >>> from unworn.universe.workload import Marginals
    >>> problem = Problem(40, Domain({"a": [0, 1]}), Marginals(1), epsilon=2.0, delta=0.0)
    >>> print(audit(release_target(LaplaceRelease(), problem), trials=400))  # doctest: +ELLIPSIS
    laplace: claims ε = 2, is at least ε = ...: not refuted
    """
    shape = problem.domain.shape
    if not small_enough(problem):
        raise ValueError(
            f"audits are for up to {CELLS} cells in {COLUMNS} columns, not {problem.cells:,} in {len(shape)}: a method "
            "that reveals too much of a large table does so of a small one"
        )
    method.check(problem)
    method = method.settled(problem)
    stay = spread_evenly(shape, problem.rows - 1) if others is None else np.asarray(others)
    if stay.shape != shape or stay.sum() != problem.rows - 1:
        raise ValueError(
            f"others must count {problem.rows - 1} rows, one less than the problem has, in {shape} cells; not "
            f"{int(stay.sum())} in {stay.shape}"
        )
    moved = changes or [((0,) * len(shape), tuple(size - 1 for size in shape))]
    pairs = [Pair(*replaced(stay, *cells), f"one row in cell {cells[1]} instead of {cells[0]}") for cells in moved]
    return Target(
        name or method_name(method),
        claimed or claim_of_release(method, problem),
        pairs,
        partial(_runs, method, problem, _names(method, problem, pairs[0].first)),
        trials,
        note=f"{describe_method(method)}, {problem.rows} rows, {problem.questions} questions of {problem.cells} cells",
    )


def method_name(method: Method) -> str:
    """The name a method is asked for by; for one that is not of this package, its class's.

    >>> from unworn.release.methods.mwem import MWEM
    >>> method_name(MWEM())
    'mwem'
    """
    kind = type(method)
    return next((name for name, known in METHODS.items() if known is kind), kebab(kind.__name__))


def describe_method(method: Method) -> str:
    """The configuration, without what was left open."""
    chosen = {field.name: getattr(method, field.name) for field in fields(method)}
    said = ", ".join(f"{name}={value!r}" for name, value in chosen.items() if value is not None)
    return f"{type(method).__name__}({said})"


def _names(method: Method, problem: Problem, rows: Cells) -> tuple[str, ...]:
    """What the numbers are called that tell how a release was made: of one release, which no trial is taken from."""
    return tuple(sorted(method.run(problem, rows, Stream(bytes(32), "rehearsal")).numbers))


def _runs(
    method: Method, problem: Problem, names: tuple[str, ...], rows: Cells, trials: int, rng: np.random.Generator
) -> Outputs:
    """One release a row. Where a number stands does not depend on what the other trials released."""
    told = [method.run(problem, rows, Stream(rng.bytes(32), "release")) for _ in range(trials)]
    return np.array([laid_out(problem, outcome, names) for outcome in told])


def laid_out(problem: Problem, outcome: ReleaseOutcome, names: Sequence[str] = ()) -> Floats:
    """What was released, as numbers: which tables were measured, in order; their noisy counts; the answers; the
    distribution's cells; the errors; the ``numbers`` of these names, and one for all others. NaN where there is none.

    >>> from unworn.universe.domain.domain import Domain
    >>> from unworn.universe.model.explicit_model import Explicit
    >>> from unworn.universe.workload import Marginals
    >>> problem = Problem(40, Domain({"a": [0, 1]}), Marginals(1), epsilon=1.0, delta=0.0)
    >>> outcome = ReleaseOutcome(Explicit.uniform((2,)), None, [np.array([0.1, 0.1])])
    >>> laid_out(problem, outcome).tolist()[:9]    # nothing measured, no answers, two cells, two errors
    [nan, nan, nan, nan, nan, 0.5, 0.5, 0.1, 0.1]
    """
    shape = problem.domain.shape
    sets = [some for size in range(1, len(shape) + 1) for some in combinations(range(len(shape)), size)]
    order, counts = np.full(len(sets), np.nan), {axes: np.full(_size(shape, axes), np.nan) for axes in sets}
    for turn, measured in enumerate(outcome.measured):
        if measured.axes not in counts:
            raise ValueError(
                f"a table was measured over the columns {measured.axes}: they are given by place, 0 to "
                f"{len(shape) - 1}, and rising"
            )
        if turn < len(sets):
            order[turn] = sets.index(measured.axes)
        known = counts[measured.axes]  # of a table that is measured again the sum is kept
        counts[measured.axes] = np.where(np.isnan(known), 0.0, known) + np.asarray(measured.counts).reshape(-1)
    asked = sum(block.size for block in problem.blocks)
    cells = np.full(problem.cells, np.nan)
    if outcome.model is not None:
        cells = np.round(outcome.model.table(tuple(range(len(shape)))).reshape(-1), _DIGITS)
    answers = np.full(asked, np.nan) if outcome.answers is None else _line(outcome.answers)
    numbers = [_number(outcome.numbers.get(name)) for name in names]
    rest = _number({name: told for name, told in outcome.numbers.items() if name not in names} or None)
    return np.concatenate([order, *counts.values(), answers, cells, _line(outcome.errors), [*numbers, rest]])


def _number(told: Any) -> float:
    """A number as it is, nothing as NaN, and anything else by a code of its JSON."""
    if told is None:
        return np.nan
    return float(told) if isinstance(told, int | float) else float(crc32(canonical(told).encode()))


def _line(blocks: Sequence[Floats]) -> Floats:
    return np.concatenate([np.asarray(block, dtype=np.float64).reshape(-1) for block in blocks])


def _size(shape: tuple[int, ...], axes: Axes) -> int:
    return int(np.prod([shape[axis] for axis in axes]))
