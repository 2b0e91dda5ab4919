"""What Theorem C adds up, for mechanisms of few words: weights of all nodes, and the chance that a node misses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom, multinomial

from unworn.mechanisms import Mechanism, Offer, State
from unworn.mechanisms.base import Symbol
from unworn.queries.query import Facts

Words = Callable[[Offer], Iterable[Symbol]]


class Told:
    """Rows of which only the value of the one question asked is known."""

    def __init__(self, value: float, spread: float = 1.0, rows: int = 1) -> None:
        self.value, self.spread, self.rows = value, spread, rows

    def counts(self, queries: Any, part: Any = None) -> list[int]:
        return [round(self.value * self.rows)]

    def means(self, queries: Any, part: Any = None) -> list[float]:
        return [self.value]

    def differences(self, queries: Any, part: Any = None) -> list[tuple[float, float]]:
        return [(self.value, self.spread)]


def weight(mechanism: Mechanism, state: State, facts: Facts, words: Words, depth: int) -> float:
    """The sum of the weights of all nodes down to ``depth``, asking one by one."""
    offer = mechanism.offer(state, facts, None)
    total = math.exp(offer.log_level - state.log_beta)
    if depth > 1:
        for symbol in words(offer):
            total += weight(mechanism, mechanism.after(state, mechanism.event(offer, symbol)), facts, words, depth - 1)
    return total


def answered(mechanism: Mechanism, offer: Offer, rows: Told) -> Symbol:
    return mechanism.answer(None, offer, None, rows).symbol  # type: ignore[arg-type]


def chance_of_a_miss(mechanism: Mechanism, offer: Offer, truths: Iterable[float] = ()) -> float:
    """Over all shares, those just beyond each published limit among them: the largest chance that a node misses.

    The values are 0/1 at the ends of the range, whatever the question's kind: the hardest law for a mean.
    """
    rows, length = offer.rows, offer.high - offer.low
    told = [
        mechanism.publish(offer, answered(mechanism, offer, Told(offer.low + length * count / rows, 1.0, rows)))
        for count in range(rows + 1)
    ]
    lows, highs = (np.array([getattr(one, end) for one in told]) for end in ("low", "high"))
    near = [end + tiny for end in {*lows, *highs} for tiny in (-1e-9, 1e-9)]
    worst = 0.0
    for truth in [*near, *truths]:
        if offer.low <= truth <= offer.high:
            missed = (truth < lows) | (truth > highs)
            share = (truth - offer.low) / length
            worst = max(worst, float(binom.pmf(np.arange(rows + 1), rows, share) @ missed))
    return worst


def paired_laws(rows: int) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """Laws of a difference that is -1, 0 or 1: its mean, all that n rows can say of it, and how likely that is."""
    seen = np.array([(a, b, rows - a - b) for a, b in product(range(rows + 1), repeat=2) if a + b <= rows])
    for spread, ahead in product((0.05, 0.2, 0.5, 0.8, 1.0), np.linspace(-1, 1, 41)):
        law = (spread * (1 + ahead) / 2, spread * (1 - ahead) / 2, 1 - spread)
        yield spread * ahead, seen, multinomial.pmf(seen, rows, law)
