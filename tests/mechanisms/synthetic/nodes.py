"""What the theorems of code lengths add up, for mechanisms of few words.

Theorem C′: the law of conversations, read off a mechanism's own offers and events, over any nodes none of which comes
after another; and the chance that rows say a word whose interval misses, against what the law gives the word. Theorem
C, which older ledgers keep: the weights of all nodes, and the chance that a node misses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from unworn.mechanisms import Mechanism, Offer, State
from unworn.mechanisms.contract.conversation import charge_symbol, follow_event, publish_symbol
from unworn.mechanisms.contract.mechanism import Symbol
from unworn.queries.query import Facts

Words = Callable[[Offer], Iterable[Symbol]]


class Told:
    """Rows of which only the value of the one question asked is known."""

    def __init__(self, value: float, spread: float = 1.0, rows: int = 1, kind: str = "binary") -> None:
        self.value, self.spread, self.rows, self.kind = value, spread, rows, kind

    def statistics(self, queries: Any, part: Any = None) -> list[Any]:
        if self.kind == "binary":
            return [round(self.value * self.rows)]
        return [(self.value, self.spread) if self.kind == "paired" else self.value]


def told_nats(mechanism: Mechanism, state: State, offer: Offer, symbol: Symbol) -> float:
    """What a word adds to the conversation's nats: -ln of the chance that the law gives it at this node."""
    later = follow_event(mechanism, state, charge_symbol(mechanism, offer, symbol))
    return mechanism.spent(later) - mechanism.spent(state)


def chance_of_words(mechanism: Mechanism, state: State, offer: Offer, words: Iterable[Symbol]) -> float:
    """What the law gives all the words of a node together: at most 1."""
    return math.fsum(math.exp(-told_nats(mechanism, state, offer, symbol)) for symbol in words)


def largest_antichain(
    mechanism: Mechanism, state: State, asked: Callable[[State], Iterable[Offer]], words: Words, depth: int
) -> float:
    """The largest sum of the law over nodes none of which comes after another, for any asker.

    ``asked`` lists what may be offered next; batches are no more than asks one by one, whose price is the same.
    """
    best = 0.0
    for offer in asked(state):
        assert offer.log_level - state.log_beta == pytest.approx(-mechanism.spent(state), abs=1e-9)
        total = 0.0
        for symbol in words(offer):
            later = follow_event(mechanism, state, charge_symbol(mechanism, offer, symbol))
            deeper = largest_antichain(mechanism, later, asked, words, depth - 1) if depth > 1 else 0.0
            total += math.exp(mechanism.spent(state) - mechanism.spent(later)) * max(1.0, deeper)
        best = max(best, total)
    return best


def largest_miss(mechanism: Mechanism, state: State, offer: Offer, truths: Iterable[float] = ()) -> float:
    """The largest P(word) / (beta · Q(conversation, word)) over words and populations whose truth the word misses.

    Below 1 is what Theorem C′ asks of every word by itself. Populations are shares of 0/1 values at the ends of the
    range, those just beyond each published limit among them.
    """
    rows, length = offer.rows, offer.high - offer.low
    counts: dict[str, list[int]] = {}
    symbols: dict[str, Symbol] = {}
    for count in range(rows + 1):
        symbol = answered(mechanism, offer, Told(offer.low + length * count / rows, 1.0, rows, offer.kind))
        symbols[str(symbol)] = symbol
        counts.setdefault(str(symbol), []).append(count)
    worst = 0.0
    for name, symbol in symbols.items():
        told = publish_symbol(mechanism, offer, symbol)
        level = state.log_beta - mechanism.spent(state) - told_nats(mechanism, state, offer, symbol)
        for truth in [told.low - 1e-9, told.high + 1e-9, *truths]:
            if offer.low <= truth <= offer.high and not told.low <= truth <= told.high:
                share = (truth - offer.low) / length
                worst = max(worst, float(binom.pmf(counts[name], rows, share).sum()) / math.exp(level))
    return worst


def weight(mechanism: Mechanism, state: State, facts: Facts, words: Words, depth: int) -> float:
    """Theorem C: the sum of the weights of all nodes down to ``depth``, asking one by one."""
    offer = mechanism.offer(state, facts, None)
    total = math.exp(offer.log_level - state.log_beta)
    if depth > 1:
        for symbol in words(offer):
            total += weight(mechanism, mechanism.after(state, mechanism.event(offer, symbol)), facts, words, depth - 1)
    return total


def answered(mechanism: Mechanism, offer: Offer, rows: Told) -> Symbol:
    return mechanism.answer(None, offer, None, rows).symbol  # type: ignore[arg-type]


def chance_of_a_miss(mechanism: Mechanism, offer: Offer, truths: Iterable[float] = ()) -> float:
    """Where a node's words share its level: the largest chance that it misses, over all shares.

    The values are 0/1 at the ends of the range, whatever the question's kind: the hardest law for a mean.
    """
    rows, length = offer.rows, offer.high - offer.low
    values = [Told(offer.low + length * count / rows, 1.0, rows, offer.kind) for count in range(rows + 1)]
    told = [publish_symbol(mechanism, offer, answered(mechanism, offer, value)) for value in values]
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
