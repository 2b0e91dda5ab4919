"""What the mechanisms share that answer with one word, priced by where the telling words fell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from unworn.bounds import code_length
from unworn.bounds.numerics import LN2
from unworn.errors import Unaskable
from unworn.events import Described
from unworn.mechanisms.base import RAISED, Mechanism, Offer, Published, State, Symbol
from unworn.queries.query import Facts

SPARE_NATS = 30 * LN2
"""What a failure costs where no room is left among the words: 2^-30 of it is set aside for all that might fail."""
REST_NATS = -math.log1p(-(2.0**-30))
"""What the other words cost more for it, 1e-9 nats: less than what a replay takes for rounding."""


def failure_nats(offer: Offer, symbol: Symbol, free_nats: float) -> float:
    """The length of the words for "it raised" and "it was interrupted".

    A question that runs code keeps half of the words of surprises for the first, and its other half has room for the
    second that is ``free_nats`` long; else that room is shared by both.
    """
    if offer.runs_code and symbol == RAISED:
        return LN2
    return LN2 + free_nats


def failed(offer: Offer, symbol: Symbol, free_nats: float) -> Described:
    """The event of an answer that could not be made: a surprise."""
    return Described(True, failure_nats(offer, symbol, free_nats))


def lone_failed(offer: Offer, symbol: Symbol) -> Described:
    """The same where there is one surprise beside failures, which leaves no room but what is set aside."""
    return Described(True, failure_nats(offer, symbol, SPARE_NATS) + (REST_NATS if symbol == RAISED else 0.0))


def lone_nats(offer: Offer) -> float:
    """The length of that one surprise.

    >>> from unworn.mechanisms.base import STOPPED
    >>> offer = Offer(1, 100, "binary", 0.0, 1.0, True, True, -3.0)
    >>> words = lone_nats(offer), lone_failed(offer, RAISED).nats, lone_failed(offer, STOPPED).nats
    >>> 1 - 1e-9 < sum(math.exp(-nats) for nats in words) <= 1
    True
    """
    return REST_NATS + (LN2 if offer.runs_code else 0.0)


@dataclass(frozen=True)
class Coded(Mechanism):
    """A mechanism whose words are few and cheap, but for some that are rare: *surprises*, which pay for their place."""

    theorem: ClassVar[str] = "code length (Theorem C)"
    prices_failure: ClassVar[bool] = True

    def spent(self, state: State) -> float:
        # The price of the next ask; at the end of a plan, that of the last.
        index = state.asked + 1 if state.planned is None else min(state.asked + 1, state.planned)
        return code_length(index, min(state.surprises, index - 1), state.nats, state.planned)

    def no_tests(self) -> str:
        return (
            f"{type(self).__name__} answers one kind of question, and a test is not among its words: "
            "seal rows with GuessAndCheck to test hypotheses"
        )

    def refused(self, facts: Facts, why: str) -> Unaskable:
        return Unaskable(f"{type(self).__name__} cannot answer a {facts.kind} question: {why}")


def priced(state: State, facts: Facts, position: int) -> Offer:
    """The offer that the transcript so far allows at this depth."""
    index = state.index(position)
    level = state.log_beta - code_length(index, state.surprises, state.nats, state.planned)
    return Offer(index, state.rows, facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code, level)


def published(value: float, limits: tuple[float, float], source: str) -> Published:
    """With the value inside: of a cell that few rows can fall in, the middle may lie beyond the limits."""
    return Published(value, min(limits[0], value), max(limits[1], value), source)


def whole(symbol: Symbol, most: int) -> int:
    """A word that is a number of steps, checked: a replay meets whatever an entry holds."""
    if isinstance(symbol, bool) or not isinstance(symbol, int) or not 0 <= symbol <= most:
        raise ValueError(f"the words here are 0 to {most}, not {symbol!r:.40}")
    return symbol
