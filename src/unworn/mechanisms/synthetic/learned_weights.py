"""What wrong guesses teach a distribution over the cells of a domain, the same on every machine.

Weights are whole numbers, kept in floats that hold them exactly: their sums come out the same in any order. A step uses
nothing but products, quotients and square roots, which every machine rounds alike; logarithms and powers it does not.
So whoever replays a ledger finds the very same guesses.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.mechanisms.synthetic.version_space import GRID, on_grid
from unworn.mechanisms.synthetic.wrong_guesses import Wrong
from unworn.queries import parse
from unworn.queries.query import Query
from unworn.queries.row_protocol import Floats
from unworn.universe.domain.domain import Domain
from unworn.universe.model.contraction import tables
from unworn.universe.model.model import Axes

MOST_CELLS = 2**22
"""How many cells are kept at most: every wrong guess touches each of them."""
SLIP = 2.0**-27
"""What rounding may take, in nats, from what a wrong guess teaches: below MOST_CELLS / (_WHOLE/2 - MOST_CELLS)."""
_WHOLE = 2.0**51
"""What all weights together are at most, at the start and after each step but for a unit a cell."""
_EDGE = Fraction(1, GRID)
"""No question is tilted nearer to 0 or 1 than this: a weight never vanishes."""
_HALF = 2**10
"""A power on the grid is the product of two from tables of this length."""
_AGAIN = 8
"""How often a question is tilted until it is where it should be: once if it is 0/1, and each time teaches more."""
_SURE = 16
"""In so many scales the noise of a released count is believed to lie: all but exp(-16) of it does."""
_SPREAD = 3
"""In so many roots of the rows random rounding is believed to lie: six of its standard deviations, or more."""


@dataclass(frozen=True, eq=False)
class Weights:
    """A distribution over the cells of a product domain, as whole numbers.

    >>> weights = Weights.uniform((2, 4))
    >>> first = on_grid(np.array([1.0, 0.0]))
    >>> weights.share((0,), first)
    Fraction(1, 2)
    >>> told = weights.tilted((0,), first, Fraction(3, 4))
    >>> round(float(told.share((0,), first)), 12)
    0.75
    """

    cells: Floats

    @classmethod
    def uniform(cls, shape: Sequence[int]) -> Weights:
        return cls(np.full(tuple(shape), math.floor(_WHOLE / math.prod(shape)), dtype=np.float64))

    @cached_property
    def total(self) -> int:
        return int(self.cells.sum())

    def table(self, axes: Axes) -> NDArray[np.int64]:
        """The weights summed over all other columns. Those of a few columns are kept: they are asked for again."""
        if (found := self._tables.get(axes)) is not None:
            return found
        table: NDArray[np.int64] = tables(self.cells, [axes])[0].astype(np.int64)
        if 64 * table.size <= self.cells.size and len(self._tables) < _HALF:
            self._tables[axes] = table
        return table

    @cached_property
    def _tables(self) -> dict[Axes, NDArray[np.int64]]:
        return {}

    def share(self, axes: Axes, steps: NDArray[np.int64]) -> Fraction:
        """The mean of a question that has the value ``steps``/GRID in each cell of the table over ``axes``."""
        table = self.table(axes)
        high, low = divmod(steps, _HALF)  # a weight times a value on the grid would not fit
        return Fraction(_HALF * int((table * high).sum()) + int((table * low).sum()), GRID * self.total)

    def tilted(self, axes: Axes, steps: NDArray[np.int64], target: Fraction) -> Weights:
        """The nearest distribution under which a 0/1 question is at ``target``; for others, part of the way there.

        With the question scaled to reach from 0 to 1 over the cells, each is multiplied by r^value, where
        r = target·(1 - share) / ((1 - target)·share), and rounded up. What is alike in all cells teaches nothing.
        """
        least, span = int(steps.min()), int(steps.max() - steps.min())
        if not span:
            return self
        steps = (2 * GRID * (steps - least) + span) // (2 * span)
        share, wanted = self.share(axes, steps), (target * GRID - least) / span
        target = min(max(wanted, _EDGE), 1 - _EDGE)
        if (wanted - share) * (target - share) <= 0:  # it is as near to an end as it gets
            return self
        ratio = float(target * (1 - share) / ((1 - target) * share))
        factors = _powers(ratio, steps) / float((1 - share) / (1 - target))
        grouped, kept = _grouped(self.cells.shape, axes)
        factors = factors.reshape([size if stays else 1 for size, stays in zip(grouped, kept, strict=True)])
        old = self.cells.reshape(grouped)
        cells = np.ceil(old * factors)
        if (total := float(cells.sum())) < _WHOLE / 2:  # values between 0 and 1 make all weights smaller
            cells = np.ceil(old * (factors * 2.0 ** (51 - math.frexp(total)[1])))
        return Weights(cells.reshape(self.cells.shape))


@dataclass
class LearnedWeights:
    """The weights after all wrong guesses so far: each is learnt once, and the last few states are kept.

    ``gap`` is how far off, as a share, every wrong guess is; ``scale`` that of a released count's noise, in rows.
    """

    domain: Domain
    gap: float
    scale: float
    _kept: tuple[tuple[tuple[Wrong, ...], Weights], ...] = field(default=(), repr=False)

    def weights(self, wrong: tuple[Wrong, ...]) -> Weights:
        """After these wrong guesses. Those of a ledger that was cut and grew again start from what is still true."""
        told, found = next(
            ((told, found) for told, found in self._kept if told == wrong[: len(told)]),
            ((), None),
        )
        if found is not None and len(told) == len(wrong):
            return found
        weights = found or Weights.uniform(self.domain.shape)
        for one in wrong[len(told) :]:
            weights = self._after(weights, one)
        still = [kept for kept in self._kept if kept[0] == wrong[: len(kept[0])]]
        self._kept = ((wrong, weights), *still[:1])  # at once: another thread may look
        return weights

    def _after(self, weights: Weights, one: Wrong) -> Weights:
        """Towards what is now known of the rows, that the question's value passes ``bound``, if it does not yet."""
        if one.answer == one.guess:
            return weights
        axes, steps = steps_of(self.domain, parse(json.loads(one.question)), one.low, one.high)
        bound, side = self.bound(one), 1 if one.answer > one.guess else -1
        for _ in range(_AGAIN):
            if side * (bound - weights.share(axes, steps)) <= _EDGE:
                break
            weights = weights.tilted(axes, steps, bound)
        return weights

    def bound(self, one: Wrong) -> Fraction:
        """Which share of the rows says yes at least (at most, for an answer below its guess), but by bad luck.

        A wrong guess is off by ``gap`` and half a row. Its answer is off by the noise that is believed possible, and
        at most twice as far from the guess as the rows are, unless noise alone would have carried it to the other side.
        Where rows were rounded at random, less is known.
        """
        rounding = 0 if one.counted else _SPREAD * math.isqrt(one.rows) + _SPREAD
        by_gap, apart = Fraction(self.gap) * one.rows + Fraction(1, 2), abs(one.answer - one.guess)
        by_answer = max(Fraction(apart, 2), Fraction(apart - math.ceil(_SURE * self.scale)))
        off = max(by_gap / 2, max(by_gap, by_answer) - rounding)
        return (one.guess + (off if one.answer > one.guess else -off)) / one.rows

    def __reduce__(self) -> tuple[Any, ...]:
        return LearnedWeights, (self.domain, self.gap, self.scale)


def steps_of(domain: Domain, query: Query, low: float, high: float) -> tuple[Axes, NDArray[np.int64]]:
    """The columns a question speaks of, and its value in each of their cells, on the grid."""
    axes, values = domain.weights(query)
    return axes, on_grid((values - low) / (high - low))


def most_updates(cells: int, gap: float) -> int:
    """How many guesses can be wrong by ``gap`` or more: each lowers the divergence from the rows by 2·gap².

    It is ln(cells) at most to begin with, and never negative. Dwork and Roth (2014), Theorem 4.10, have
    4·ln(cells)/gap², with steps that are not fitted to the guess.

    >>> most_updates(2**16, 0.1), math.floor(4 * math.log(2**16) / 0.1**2)
    (554, 4436)
    """
    return math.floor(math.log(cells) / (2.0 * gap * gap - SLIP))


def _powers(ratio: float, steps: NDArray[np.int64]) -> Floats:
    """``ratio`` to the power of steps/GRID, from square roots alone."""
    root, high, low = ratio, np.ones(1), np.ones(1)
    for place in range(2 * (_HALF.bit_length() - 1)):
        root = math.sqrt(root)
        if place < _HALF.bit_length() - 1:
            high = np.stack([high, high * root], axis=1).reshape(-1)  # this bit counts less than those before it
        else:
            low = np.stack([low, low * root], axis=1).reshape(-1)
    return np.asarray(np.append(high, ratio)[steps // _HALF] * low[steps % _HALF])


def _grouped(shape: tuple[int, ...], axes: Axes) -> tuple[list[int], list[bool]]:
    """The same array with neighbouring columns taken together, where all of them stay or none: fewer, longer runs.

    >>> _grouped((2, 3, 4, 5), (1, 2))
    ([2, 12, 5], [False, True, False])
    """
    runs = groupby(enumerate(shape), key=lambda item: item[0] in axes)
    sizes = [(math.prod(size for _, size in run), stays) for stays, run in runs]
    return [size for size, _ in sizes], [stays for _, stays in sizes]
