"""What the mechanisms share that answer with one word, priced by where the telling words fell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unworn.bounds import code_length
from unworn.bounds.numerics import LN2
from unworn.errors import Unaskable
from unworn.events import Described
from unworn.mechanisms.base import Mechanism, Offer, Published, State, Symbol
from unworn.queries.query import Facts

FAILED = Described(surprise=True, nats=LN2)
"""The event of code that failed on the rows: half of the words of a question that runs code are kept for it."""


@dataclass(frozen=True)
class Coded(Mechanism):
    """A mechanism whose words are few and cheap, but for some that are rare: *surprises*, which pay for their place."""

    theorem: ClassVar[str] = "code length (Theorem C)"

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
