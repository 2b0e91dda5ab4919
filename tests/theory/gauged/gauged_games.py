"""The largest chance that anything said of questions with a gauge is wrong, over all analysts of a class: exactly.

Rows are few and of a few kinds, whose shares the analyst knows; the numbers of rows of each kind are multinomial. Every
question is answered from these numbers alone: a share of a subset of the kinds, a mean of one value per kind, a
ranking of kinds. The best analyst is found by dynamic programming through the mechanism's own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import multinomial

from unworn.bounds.questions import rank_moments
from unworn.mechanisms import Guess, Offer, State
from unworn.mechanisms.coded.coded_mechanism import CodedMechanism
from unworn.mechanisms.contract.capabilities import SharpensAnswers
from unworn.mechanisms.contract.conversation import charge_symbol, follow_event, make_reply, publish_symbol
from unworn.mechanisms.contract.mechanism import FinalPlace, Symbol
from unworn.queries.query import Facts

Numbers = tuple[int, ...]
"""How many rows there are of each kind."""


@dataclass(frozen=True)
class KindQuestion:
    """A question about kinds of rows: which say yes, which are in the subset; or each kind's value, or its score."""

    facts: Facts
    yes: tuple[float, ...]
    among: tuple[bool, ...] = ()

    def truth(self, law: Sequence[float]) -> float | None:
        """The population's value; None where there is none, so that nothing can be wrong."""
        if self.facts.kind == "unit":
            return float(np.dot(law, self.yes))
        if self.facts.kind == "conditional":
            subset = sum(p for p, inside in zip(law, self.among, strict=True) if inside)
            both = sum(p for p, inside, yes in zip(law, self.among, self.yes, strict=True) if inside and yes)
            return both / subset if subset else None
        ups = [(p, s) for p, s, positive in zip(law, self.yes, self.among, strict=True) if positive]
        downs = [(p, s) for p, s, positive in zip(law, self.yes, self.among, strict=True) if not positive]
        mass = sum(p for p, _ in ups) * sum(p for p, _ in downs)
        wins = sum(p * q * (0.5 * (s == t) + (s > t)) for (p, s), (q, t) in product(ups, downs))
        return wins / mass if mass else None

    def rows(self, numbers: Numbers) -> Any:
        return KindRows(self, numbers)


@dataclass(frozen=True)
class KindRows:
    """Rows of which it is known how many there are of each kind."""

    question: KindQuestion
    numbers: Numbers

    def statistics(self, queries: Any, part: Any = None) -> list[Any]:
        if self.question.facts.kind == "ranking":
            moments = self._ranking()
            return [(moments.value, min(moments.positives, moments.negatives))]
        if self.question.facts.kind == "unit":
            return [self._mean()]
        inside = [(c, y) for c, y, a in zip(self.numbers, self.question.yes, self.question.among, strict=True) if a]
        return [(sum(c for c, yes in inside if yes), sum(c for c, _ in inside))]

    def moments(self, queries: Any, part: Any = None) -> list[tuple[float, ...]]:
        if self.question.facts.kind == "ranking":
            return [astuple(self._ranking())]
        mean, size = self._mean(), sum(self.numbers)
        apart = np.array(self.question.yes) - mean
        return [(mean, *(float(np.dot(self.numbers, apart**power)) / size for power in (2, 3, 4)))]

    def _mean(self) -> float:
        return float(np.dot(self.numbers, self.question.yes)) / sum(self.numbers)

    def _ranking(self) -> Any:
        scores = np.repeat(self.question.yes, self.numbers)
        positive = np.repeat(self.question.among, self.numbers)
        return rank_moments(scores[positive], scores[~positive])


@dataclass(frozen=True)
class GaugedMove:
    """A question with a guess and a gauge, without any, sharpened, or asked for its final value.

    ``how`` is ask, sharpen, final, or open: a final value of what was told before, after which more may follow.
    """

    question: KindQuestion
    guess: Guess | None = None
    how: str = "ask"


Moves = Callable[[State], Iterable[GaugedMove]]


@dataclass
class GaugedGame:
    """A mechanism on so many rows, of kinds that are as frequent as ``law`` says."""

    mechanism: CodedMechanism
    rows: int
    confidence: float
    law: tuple[float, ...]
    moves: Moves
    planned: int | None = None
    numbers: list[Numbers] = field(init=False)

    def __post_init__(self) -> None:
        kinds = product(range(self.rows + 1), repeat=len(self.law))
        self.numbers = [numbers for numbers in kinds if sum(numbers) == self.rows]

    def worst(self, depth: int) -> float:
        """max P(anything misses) / (1 - confidence), over analysts of at most ``depth`` moves."""
        chances = multinomial.pmf(np.array(self.numbers), self.rows, self.law)
        begun = self.mechanism.begin(self.rows, self.confidence, self.planned)
        return self._value(begun, chances, {}, depth) / (1 - self.confidence)

    def _value(
        self, state: State, chances: np.ndarray, told: dict[KindQuestion, tuple[Offer, Symbol]], depth: int
    ) -> float:
        if depth == 0 or state.closed:
            return 0.0
        best = 0.0
        for move in self.moves(state):
            if move.how not in ("sharpen", "open") or move.question in told:
                best = max(best, self._after(state, chances, told, depth, move))
        return best

    def _after(
        self,
        state: State,
        chances: np.ndarray,
        told: dict[KindQuestion, tuple[Offer, Symbol]],
        depth: int,
        move: GaugedMove,
    ) -> float:
        offer, groups = self._offer(state, told, move), dict[str, tuple[Symbol, list[int]]]()
        for place in np.flatnonzero(chances):
            rows = move.question.rows(self.numbers[place])
            symbol = make_reply(self.mechanism, state, offer, None, rows).symbol  # type: ignore[arg-type]
            groups.setdefault(str(symbol), (symbol, []))[1].append(int(place))
        truth, total = move.question.truth(self.law), 0.0
        for symbol, places in groups.values():
            published = publish_symbol(self.mechanism, offer, symbol)
            if truth is not None and not published.low - 1e-12 <= truth <= published.high + 1e-12:
                total += float(chances[places].sum())
                continue
            later = follow_event(self.mechanism, state, charge_symbol(self.mechanism, offer, symbol))
            kept = np.zeros_like(chances)
            kept[places] = chances[places]
            known = told if move.how in ("final", "open") else {**told, move.question: (offer, symbol)}
            total += self._value(later, kept, known, depth - 1)
        return total

    def _offer(self, state: State, told: dict[KindQuestion, tuple[Offer, Symbol]], move: GaugedMove) -> Offer:
        if move.how == "sharpen":
            assert isinstance(self.mechanism, SharpensAnswers)
            return self.mechanism.sharpen(state, *told[move.question])
        if move.how in ("final", "open"):
            place = FinalPlace(last=move.how == "final", told=told.get(move.question))
            return self.mechanism.offer_final(state, move.question.facts, place)
        return self.mechanism.offer(state, move.question.facts, move.guess)
