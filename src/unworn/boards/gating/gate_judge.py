"""Who says what a proposal is worth: practice rows at full resolution, check rows with a certificate.

Practice rows may be in several *pools*, of which a lane uses one at a time; which row is in which is known to the
holdout's key alone, and does not depend on values.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from unworn.boards.gating.part_guesses import guess_parts
from unworn.boards.metered_asks import ask_for_what_is_left
from unworn.errors import Exhausted, ReadOnly, Refused
from unworn.events import is_surprise
from unworn.holdout.practice import Practice
from unworn.queries import Query
from unworn.queries.composite import Composite, Question
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.rows import Sample

_FOLDS = 20
_WORTH_SHARPENING = 0.85
"""Sharpening leaves three fifths of an interval, around a value that may be lower: beyond this share of the half-width
it is likely to prove a gain. Elsewhere its two nats are better spent on the claim at the end."""


@dataclass(frozen=True)
class CheckedGain:
    """What the check rows certify of a gain."""

    value: float
    low: float
    high: float
    is_surprise: bool
    index: int


class GateJudge(Protocol):
    """What a lane asks; ``after`` and ``before`` are predictions, whatever they are."""

    @property
    def pools(self) -> int:
        """How many pools of practice rows there are."""

    def score(self, predictions: Any, pool: int) -> float:
        """The score on a pool of practice rows: exact, free, and may wear out."""

    def gain(self, after: Any, before: Any, pool: int) -> tuple[float, float]:
        """How much better ``after`` is there, and the standard error of that."""

    def check(self, after: Any, before: Any, guess: float, proposal: int) -> CheckedGain:
        """How much better it certainly is, by the check rows."""


class HoldoutJudge:
    """The judge that a holdout is: questions about predictions are made by whoever knows the metric.

    ``gain_question`` is that of ``after`` over ``before``, positive where ``after`` is better. ``count_left`` says how
    many surprises whoever asks may still make, where that is limited.
    """

    def __init__(
        self,
        holdout: Holdout,
        score_question: Callable[[Any], Question],
        gain_question: Callable[[Any, Any], Question],
        *,
        pools: int = 1,
        by: str | None = None,
        lane: str = "main",
        count_left: Callable[[], int] | None = None,
    ) -> None:
        self._holdout, self._score, self._gain = holdout, score_question, gain_question
        self._pools, self._by, self._lane = pools, by, lane
        self._count_left = count_left or (lambda: sys.maxsize)

    @property
    def pools(self) -> int:
        return self._pools

    @cached_property
    def _practice(self) -> list[Practice]:
        holdout = self._holdout
        whole = holdout.practice._available()
        if self._pools == 1:
            return [holdout.practice]
        return [Practice(holdout, part) for part in self._split(whole, self._pools, "unworn/gate pools")]

    def _split(self, rows: Sample, parts: int, purpose: str) -> list[Sample]:
        key = self._holdout._desk.key
        if key is None:
            raise ReadOnly("the key of this board is not beside its ledger, and only the key says which rows are which")
        edges = [rows.size * part // parts for part in range(parts + 1)]
        secret = key.derive(purpose)
        return [rows.restricted(secret, slice(low, high), shown=True) for low, high in pairwise(edges)]

    def score(self, predictions: Any, pool: int) -> float:
        return self._practice[pool].ask(self._score(predictions)).value

    def gain(self, after: Any, before: Any, pool: int) -> tuple[float, float]:
        question, practice = self._gain(after, before), self._practice[pool]
        if isinstance(question, Query):
            query, facts = self._holdout._understand(question)
            rows = practice._available()
            mean, variance, *_ = rows.moments([query])[0]
            return float(mean), (facts.high - facts.low) * math.sqrt(max(float(variance), 0.0) / rows.size)
        told, error = practice.ask(question), self._varying(question, pool)
        return told.value, told.error if error is None else error

    def _varying(self, question: Composite, pool: int) -> float | None:
        """The standard error of what is not a mean over rows, by leaving out a part of the pool at a time (jackknife).

        A part alone may lack a class, and then has no F1; what is left without it hardly ever does.
        """
        parts = np.array([_tallies(fold, question) for fold in self._folds(pool)])
        sums, sizes = np.moveaxis(parts.sum(axis=0) - parts, 2, 0)
        if not bool((sizes > 0).all()):
            return None
        values = [question.value(each) for each in (sums / sizes).tolist()]
        error = math.sqrt((len(values) - 1) * float(np.var(values)))
        return error if math.isfinite(error) else None

    def _folds(self, pool: int) -> list[Sample]:
        known = self.__dict__.setdefault("_known_folds", {})
        if pool not in known:
            known[pool] = self._split(self._practice[pool]._available(), _FOLDS, "unworn/gate folds")
        return list(known[pool])

    def check(self, after: Any, before: Any, guess: float, proposal: int) -> CheckedGain:
        question = self._gain(after, before)
        how: dict[str, Any] = {"by": self._by, "tags": {"gate": self._lane, "proposal": proposal}}
        if isinstance(question, Query):
            _, facts = self._holdout._understand(question)
            # The slack of the check rows alone: what the guess lacks is less than that, in all simulations.
            how |= {"guess": min(max(guess, facts.low), facts.high), "guess_se": 0.0}
        else:
            how |= guess_parts(self._holdout, question, question, self._score(after), self._score(before), guess)
        answer = ask_for_what_is_left(self._holdout, question, self._count_left, **how)
        if answer is None:
            raise Exhausted("the team used up what its surprises may cost before all parts of the gain were looked at")
        if isinstance(answer, Answer) and answer.low <= 0.0 < answer.value - _WORTH_SHARPENING * answer.width:
            with contextlib.suppress(Refused):  # where there is no cell to sharpen, or nothing to gain
                answer = min(answer, self._holdout.sharpen(answer, by=self._by), key=lambda each: each.width)
        return _checked_gain(answer)


def _tallies(rows: Sample, question: Composite) -> list[tuple[float, float]]:
    """For each part of a question a sum over these rows, and of how many: of a ranking, which is no sum, about that."""
    told: list[tuple[float, float]] = []
    for each in rows.statistics(question.questions):
        first, second = each if isinstance(each, tuple) else (each, rows.size)
        if not isinstance(second, int):  # of differences, their mean and their mean size
            second = rows.size
        told.append((first, second) if isinstance(first, int) else (first * second, second))
    return told


def _checked_gain(answer: Answer | DerivedAnswer) -> CheckedGain:
    parts = answer.parts if isinstance(answer, DerivedAnswer) else (answer,)
    surprise = any(is_surprise(part.certificate.record.event) for part in parts)
    return CheckedGain(answer.value, answer.low, answer.high, surprise, parts[0].index)
