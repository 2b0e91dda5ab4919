"""The distribution that fits noisy answers to many questions best, whether it is kept cell by cell or in factors.

Least squares over distributions, by mirror descent with the entropy: a step multiplies every cell by e to the power of
minus its gradient, and the gradient is a sum of tables over the columns of the questions, so a product of factors
stays one (Beck and Teboulle 2003; McKenna, Sheldon and Miklau 2019). Of all distributions that fit equally well the
steps lead to one near where they start. Plain steps are slow near the end; here they start from the combination of the
last few points whose answers would fit best were answers linear in the exponents (Anderson 1965). What does not fit
better than before is dropped for a plain step, which does if it is short enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.universe.model.contraction import spread
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.factored_model import Factored
from unworn.universe.model.model import Axes, Model
from unworn.universe.model.question_blocks import Block

Measured = tuple[Block, Floats, float]
"""Questions, the shares measured for them, and how much they weigh: one over the variance of their noise."""
AnyModel = TypeVar("AnyModel", bound=Model)

MEMORY = 6
"""How many past points a step looks back on: fewer are slower, more hardly quicker, as measured."""
_REACH = 32.0
"""By how many nats a step may move a cell: longer ones are cut, since what was learnt about the slope is local."""
_PATIENCE = 12
"""Steps without a gain after which nothing more is to be had."""


def fit_model(
    model: AnyModel,
    measured: Sequence[Measured],
    steps: int = 300,
    tolerance: float = 1e-6,
    progress: Callable[[int, int], None] | None = None,
) -> AnyModel:
    """The distribution near ``model`` that fits what was measured in weighted least squares; ``model`` is not changed.

    Every step reads the tables of one distribution, and there are at most ``steps`` of them; fewer where a dozen in a
    row have together lowered the sum of squares by less than the part ``tolerance``. A distribution in factors
    refuses (:class:`~unworn.errors.Unaskable`) what its tables cannot hold.

    >>> from unworn.universe.model.question_blocks import Marginal
    >>> start = Explicit.uniform((2, 2, 3))
    >>> found = fit_model(start, [(Marginal((0, 1), (2, 2)), np.array([0.6, 0.1, 0.1, 0.2]), 1.0)])
    >>> found.table((0, 1)).round(4).tolist(), found.table((2,)).round(4).tolist()
    ([[0.6, 0.1], [0.1, 0.2]], [0.3333, 0.3333, 0.3333])
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(f"steps must be a whole number of at least 1, not {steps!r}")
    if not 0.0 <= tolerance < 1.0:
        raise ValueError(f"tolerance must lie in [0, 1), not {tolerance!r}")
    found = model.copy()
    if not measured:
        return found
    goal = _Goal(measured)
    off = goal.off(found)
    past = _Past(off)
    # Relative to the entropy the sum of squares is smooth with this constant, so that this step is short enough.
    length = 1.0 / goal.smoothness
    misfits = [float(off @ off)]
    for done in range(1, steps + 1):
        move, exponents = goal.cut(past.move(length))
        trial = found.copy()
        tilt_all(trial, goal.many, exponents)
        new = goal.off(trial)
        misfit = float(new @ new)
        if misfit < misfits[-1]:
            change = new - past.off
            # The curvature along the move, by which the next step is measured (Barzilai and Borwein 1988).
            length = min(2.0 * length, max(0.5 * length, float(move @ change) / max(float(change @ change), 1e-300)))
            found = trial
            past.add(move, new)
        elif not past.forget():
            length /= 4.0
        misfits.append(min(misfit, misfits[-1]))
        if progress is not None:
            progress(done, steps)
        earlier = misfits[max(0, done - _PATIENCE)]
        if misfits[-1] <= goal.rounding or (done >= _PATIENCE and earlier - misfits[-1] <= tolerance * earlier):
            break
    return found


def tilt_all(model: Model, many: Sequence[Axes], exponents: Sequence[Floats]) -> None:
    """Tilt by many tables at once: in one pass over the cells, or with one sweep through the tree."""
    if isinstance(model, Factored):
        model.tilts(many, exponents)
    elif isinstance(model, Explicit):
        model.tilt(tuple(range(len(model.shape))), spread(exponents, many, model.shape))
    else:
        for axes, table in zip(many, exponents, strict=True):
            model.tilt(axes, table)


class _Goal:
    """What was measured, as one vector in units of its noise."""

    def __init__(self, measured: Sequence[Measured]) -> None:
        roots, wanted = [], []
        for block, shares, weight in measured:
            told = np.asarray(shares, dtype=np.float64)
            if told.shape != (block.size,) or not np.isfinite(told).all():
                raise ValueError(
                    f"a block of {block.size} questions needs as many finite shares, not an array of {told.shape}"
                )
            if isinstance(weight, bool) or not (math.isfinite(weight) and weight > 0.0):
                raise ValueError(f"a weight must be positive and finite, not {weight!r}")
            roots.append(np.full(block.size, math.sqrt(weight)))
            wanted.append(told * math.sqrt(weight))
        self.blocks = [block for block, _, _ in measured]
        self.many = list(dict.fromkeys(block.axes for block in self.blocks))
        self._roots, self._wanted = np.concatenate(roots), np.concatenate(wanted)
        self._ends = np.cumsum([block.size for block in self.blocks])[:-1]

    @property
    def smoothness(self) -> float:
        """The most that the squares of all questions, weighted, add up to in one cell."""
        # Questions are 0 or 1, so each is its own square.
        return math.fsum(float(table.max()) for table in self.tables(self._roots))

    @property
    def rounding(self) -> float:
        """A sum of squares that is all rounding."""
        return 1e-30 * float(self._roots @ self._roots)

    def off(self, model: Model) -> Floats:
        """By how much the model's answers are off."""
        tables = dict(zip(self.many, model.tables(self.many), strict=True))
        answers = np.concatenate([block.answers(tables[block.axes]) for block in self.blocks])
        return np.asarray(answers * self._roots - self._wanted)

    def tables(self, move: Floats) -> list[Floats]:
        """A move of the questions' multipliers as exponents over their columns."""
        sums: dict[Axes, Floats] = {}
        for block, part in zip(self.blocks, np.split(move * self._roots, self._ends), strict=True):
            table, held = block.spread(part), sums.get(block.axes)
            sums[block.axes] = table if held is None else held + table
        return [sums[axes] for axes in self.many]

    def cut(self, move: Floats) -> tuple[Floats, list[Floats]]:
        """The move, shortened where it would go too far in some cell, and its exponents."""
        tables = self.tables(move)
        reach = math.fsum(float(table.max() - table.min()) for table in tables)
        part = 1.0 if reach <= _REACH else _REACH / reach
        return move * part, [table * part for table in tables]


class _Past:
    """Where the last points were, by their multipliers relative to now, and how far off they were."""

    def __init__(self, off: Floats) -> None:
        self.off = off
        self._back: list[tuple[Floats, Floats]] = []

    def move(self, length: float) -> Floats:
        """From the best combination of the past, a mirror step."""
        if not self._back:
            return -length * self.off
        moves, offs = (np.stack(lines) for lines in zip(*self._back, strict=True))
        mixed = np.linalg.lstsq(offs @ offs.T, -(offs @ self.off), rcond=1e-13)[0]
        return np.asarray(mixed @ moves - length * (self.off + mixed @ offs))

    def add(self, move: Floats, off: Floats) -> None:
        change = off - self.off
        back = [(old - move, was - change) for old, was in [(np.zeros_like(move), np.zeros_like(off)), *self._back]]
        self.off, self._back = off, back[:MEMORY]

    def forget(self) -> bool:
        """Drop all but the present; False where nothing else was held."""
        held, self._back = bool(self._back), []
        return held
