"""What the tests of the sparse-vector family share: rows that are only a count, and noise that follows a script."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from unworn.mechanisms import Guess, Mechanism, Offer, State
from unworn.mechanisms.threshold.secret_threshold import BELOW, Threshold
from unworn.noise import Stream
from unworn.noise.pmf import laplace_log_pmf
from unworn.queries.query import Facts

SHARE = Facts("binary", 0.0, 1.0, zero_one=True)


@dataclass
class Counted:
    """Rows of which a mechanism may learn nothing but this count."""

    size: int
    count: int

    def rounded(self, queries: Sequence[Any], noises: Sequence[Any]) -> list[int]:
        return [self.count] * len(queries)


class Scripted(Stream):
    """A stream that says what it is for, so that a script can tell the threshold's noise from the count's."""

    def __init__(self, *context: bytes | str | int) -> None:
        super().__init__(bytes(32), *context)
        self.secret, self.drawn = "threshold" in context, 0

    def beside(self, *context: bytes | str | int) -> Stream:
        return Scripted(*context)


@contextmanager
def scripted(script: dict[str, int]) -> Iterator[None]:
    """Every draw of Laplace noise as the script says at the time, on ``threshold``, ``count`` or ``value``."""

    def draw(stream: Scripted, scale: float, size: int) -> np.ndarray:
        assert size == 1
        if stream.secret:
            return np.array([script["threshold"]])
        stream.drawn += 1
        return np.array([script["count" if stream.drawn == 1 else "value"]])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unworn.noise.discrete_laplace.laplace", draw)
        yield


def tells(mechanism: Threshold, state: State, offer: Offer, count: int) -> Any:
    """The symbol that the mechanism itself gives for this count, by the noise of the script in force."""
    rows = Counted(offer.rows, count)
    return mechanism.answer(state, offer, None, rows, Scripted("ask", offer.index)).symbol  # type: ignore[arg-type]


def masses(scale: float, far: int) -> np.ndarray:
    """Discrete Laplace noise on -far..far, with everything beyond put at the ends."""
    m = np.arange(-far, far + 1)
    p = np.exp(laplace_log_pmf(m, scale))
    tail = (1.0 - p.sum()) / 2
    p[0] += tail
    p[-1] += tail
    return p


class Table:
    """The decisions of the real ``answer`` for one count and every noise in reach, as a table [rho, nu]."""

    def __init__(self, mechanism: Threshold, rows: int, far: int) -> None:
        self.mechanism, self.rows, self.far = mechanism, rows, far
        self.state = mechanism.begin(rows, 0.95, 100)
        self._known: dict[int, np.ndarray] = {}

    def above(self, count: int) -> np.ndarray:
        """P(above | rho), rho over -far..far, from the decision for every pair of noises."""
        if count not in self._known:
            reach, script = range(-self.far, self.far + 1), {"value": 0}
            offer = self.mechanism.offer(self.state, SHARE, Guess(0.5))
            decided = np.zeros((len(reach), len(reach)))
            with scripted(script):
                for i, rho in enumerate(reach):
                    for j, nu in enumerate(reach):
                        script.update(threshold=rho, count=nu)
                        decided[i, j] = tells(self.mechanism, self.state, offer, count) != BELOW
            self._known[count] = decided @ masses(self.mechanism.run(self.rows).question, self.far)
        return self._known[count]

    def instance(self, counts: Sequence[int], above: Sequence[bool], rho: np.ndarray | None = None) -> float:
        """The probability of what one threshold told: ``rho`` replaces its law (for planted errors)."""
        law = masses(self.mechanism.run(self.rows).threshold, self.far) if rho is None else rho
        for count, was_above in zip(counts, above, strict=True):
            chance = self.above(count)
            law = law * (chance if was_above else 1.0 - chance)
        return float(law.sum())


def outcomes(asks: int) -> list[tuple[bool, ...]]:
    """What one instance can tell: below all the way, or above at the end."""
    ended = [(*(False,) * before, True) for before in range(asks)]
    return [*ended, (False,) * asks]


def neighbours(asks: int, values: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Counts of ``asks`` questions, and every way in which one row can change each of them by one."""
    for counts in product(values, repeat=asks):
        for moved in product((-1, 0, 1), repeat=asks):
            yield counts, tuple(count + move for count, move in zip(counts, moved, strict=True))


def log_ratio(p: float, q: float) -> float:
    return math.inf if q == 0.0 < p else -math.inf if p == 0.0 else math.log(p / q)


def folded(mechanism: Mechanism, state: State, symbols: Sequence[Any], guess: float = 0.5) -> State:
    for symbol in symbols:
        state = mechanism.after(state, mechanism.event(mechanism.offer(state, SHARE, Guess(guess)), symbol))
    return state
