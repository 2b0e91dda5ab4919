"""The largest chance that anything a mechanism says is wrong, over all analysts of a class: exactly, rows being few.

Rows are of three kinds, in shares that the analyst knows, and a question asks for the share of one or two kinds. An
analyst chooses every move knowing all that was said: ask with a guess, ask without, ask for final values and stop, or
go on after them. The rows' counts are multinomial, each sequence of words is the event that they lie in some set, and
the best analyst is found by dynamic programming through the mechanism's own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import multinomial

from tests.mechanisms.synthetic.nodes import Told
from unworn.events import Event
from unworn.mechanisms import Guess, Mechanism, Offer, State
from unworn.mechanisms.contract.conversation import charge_symbol, follow_event, make_reply, publish_symbol
from unworn.mechanisms.contract.mechanism import FinalPlace, Symbol
from unworn.queries.query import Facts

Kinds = frozenset[int]
SHARE = Facts("binary", 0.0, 1.0, zero_one=True)
QUESTIONS: tuple[Kinds, ...] = (frozenset({0}), frozenset({1}), frozenset({0, 1}))


@dataclass(frozen=True)
class Move:
    """A question with a guess or without; or final values, the last words or not."""

    questions: tuple[Kinds, ...]
    guess: float | None = None
    final: bool = False
    close: bool = True


Moves = Callable[[State, int], Iterable[Move]]


@dataclass
class Game:
    """A mechanism on so many rows of three kinds, each as frequent as ``law`` says."""

    mechanism: Mechanism
    rows: int
    confidence: float
    law: tuple[float, float, float]
    moves: Moves
    offer_final: Callable[[State, FinalPlace], Offer] | None = None
    charge: Callable[[Mechanism, Offer, Symbol], Event] = charge_symbol
    counts: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        n = self.rows
        self.counts = np.array([(a, b, n - a - b) for a, b in product(range(n + 1), repeat=2) if a + b <= n])

    def worst(self, depth: int) -> float:
        """max P(anything misses) / (1 - confidence), over analysts of at most ``depth`` moves."""
        state = self.mechanism.begin(self.rows, self.confidence)
        chances = multinomial.pmf(self.counts, self.rows, self.law)
        return self._value(state, chances, {}, depth) / (1 - self.confidence)

    def _value(self, state: State, chances: np.ndarray, told: dict[Kinds, tuple[Offer, Symbol]], depth: int) -> float:
        if depth == 0 or state.closed:
            return 0.0
        return max((self._after(state, chances, told, depth, move) for move in self.moves(state, depth)), default=0.0)

    def _after(
        self, state: State, chances: np.ndarray, told: dict[Kinds, tuple[Offer, Symbol]], depth: int, move: Move
    ) -> float:
        offers = [self._offer(state, move, place, told) for place in range(len(move.questions))]
        said = [self._words(offer, kinds) for offer, kinds in zip(offers, move.questions, strict=True)]
        groups: dict[tuple[str, ...], list[int]] = {}
        for row in np.flatnonzero(chances):
            groups.setdefault(tuple(words[row][0] for words in said), []).append(int(row))
        total = 0.0
        for rows in groups.values():
            mass = float(chances[rows].sum())
            if any(words[rows[0]][2] for words in said):
                total += mass
                continue
            later, known = state, dict(told)
            for offer, kinds, words in zip(offers, move.questions, said, strict=True):
                symbol = words[rows[0]][1]
                later = follow_event(self.mechanism, later, self.charge(self.mechanism, offer, symbol))
                if not move.final:
                    known[kinds] = offer, symbol
            kept = np.zeros_like(chances)
            kept[rows] = chances[rows]
            total += self._value(later, kept, known, depth - 1)
        return total

    def _offer(self, state: State, move: Move, place: int, told: dict[Kinds, tuple[Offer, Symbol]]) -> Offer:
        if not move.final:
            guess = None if move.guess is None else Guess(move.guess, 0.0)
            return self.mechanism.offer(state, SHARE, guess)
        where = FinalPlace(place, len(move.questions), move.close, told.get(move.questions[place]))
        made = self.offer_final or (lambda state, where: self.mechanism.offer_final(state, SHARE, where))
        return made(state, where)

    def _words(self, offer: Offer, kinds: Kinds) -> list[tuple[str, Any, bool]]:
        """For each set of counts: the word, as text and as it is, and whether its interval misses."""
        truth = sum(self.law[kind] for kind in kinds)
        by_count = []
        for count in range(self.rows + 1):
            rows: Any = Told(count / self.rows, 1.0, self.rows)
            symbol = make_reply(self.mechanism, None, offer, None, rows).symbol  # type: ignore[arg-type]
            published = publish_symbol(self.mechanism, offer, symbol)
            misses = not published.low - 1e-12 <= truth <= published.high + 1e-12
            by_count.append((str(symbol), symbol, misses))
        return [by_count[int(count)] for count in self.counts[:, sorted(kinds)].sum(axis=1)]


def laws(steps: int) -> list[tuple[float, float, float]]:
    """Shares of the three kinds on a grid, none of them 0."""
    found = [
        (a / steps, b / steps, 1 - (a + b) / steps) for a, b in product(range(1, steps), repeat=2) if a + b < steps
    ]
    return [(a, b, c) for a, b, c in found if a <= b]
