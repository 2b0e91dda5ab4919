"""What a mechanism is: a frozen configuration with eight methods, and the words they speak in.

``begin`` and ``after`` fold the ledger's events into a state; ``offer`` prices the next ask from public numbers alone;
``answer`` is the only step that sees rows, and returns a symbol; ``event`` is what that symbol costs, and ``reveal``
turns it into an interval. Both are pure, so that anyone can run them again. ``likely`` is for quoting a width before
asking, ``for_`` for choosing parameters.

What only some mechanisms do is in :mod:`~unworn.mechanisms.contract.capabilities`; what is the same for all of them,
around these methods, in :mod:`~unworn.mechanisms.contract.conversation`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from unworn.events import Event
from unworn.mechanisms.contract.arguments import MOST, checked_goal, checked_parameters
from unworn.mechanisms.contract.offer import FinalPlace, Guess, Offer, Payload, whole_range
from unworn.mechanisms.contract.state import State
from unworn.mechanisms.contract.symbol import NO_ANSWER, RAISED, STOPPED, Published, Reply, Symbol, has_failed
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows

__all__ = [
    "MOST_ASKS",
    "MOST_ROWS",
    "NO_ANSWER",
    "RAISED",
    "STOPPED",
    "FinalPlace",
    "Guess",
    "Mechanism",
    "Offer",
    "Payload",
    "Published",
    "Reply",
    "State",
    "Symbol",
    "has_failed",
    "whole_range",
]

MOST_ROWS = MOST_ASKS = MOST


@dataclass(frozen=True)
class Mechanism(ABC):
    """How an answer is made from the rows. Subclasses are found by name, from the ledger's entry 0."""

    theorem: ClassVar[str]
    """What makes the intervals true, for the certificate."""
    currency: ClassVar[str] = "nats"
    """What answers are paid in."""
    promises: ClassVar[bool] = True
    """Whether the intervals hold; ledgers of a mechanism that promises nothing are marked as spoiled."""
    reads: ClassVar[Literal["values", "rounded", "draws"]] = "values"
    """What an answer takes from the rows: all their values, all of them rounded at random, or a few fresh rows."""
    prices_failure: ClassVar[bool] = False
    """Whether ``event`` has prices for :data:`RAISED` and :data:`STOPPED`. Where it has none a failure closes the
    holdout: what was published before cannot miss because of what is told later, and nothing follows."""
    former: ClassVar[dict[str, Any]] = {}
    """What parameters meant that entry 0 of an older ledger does not have."""
    payloads: ClassVar[tuple[type[Payload], ...]] = ()
    """The payloads of a third party's mechanism, by whose names its offers are read from a ledger."""
    no_tests: ClassVar[str] = (
        "{name} answers with noise, and an exact test would show what the noise hides: ask the question and see "
        "whether its interval leaves out the value, which is a test at level 1 - confidence (BoundedNoise, Gaussian "
        "and Laplace do that by themselves)"
    )
    """Why hypotheses are not tested, and what to do instead."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Whatever a mechanism checks itself, its parameters are of their declared types by then."""
        super().__init_subclass__(**options)
        own, goal = cls.__dict__.get("__post_init__"), cls.__dict__.get("for_")
        if own is not None:
            cls.__post_init__ = checked_parameters(own)  # type: ignore[attr-defined]
        if isinstance(goal, classmethod):
            cls.for_ = classmethod(checked_goal(goal.__func__))  # type: ignore[method-assign,assignment]

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        """The state before the first ask; ``ValueError`` for a plan that cannot be kept."""
        return State(rows, math.log1p(-confidence), asks)

    @abstractmethod
    def after(self, state: State, event: Event) -> State:
        """The state once an event is in the ledger; ``TypeError`` for one that this mechanism does not enter."""

    @abstractmethod
    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        """Price the ask at ``position`` of the next batch from public numbers, or raise ``Exhausted``."""

    @abstractmethod
    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        """Read the rows: the only step that does."""

    @abstractmethod
    def event(self, offer: Offer, symbol: Symbol) -> Event:
        """What releasing a symbol is entered as. Pure, so that a replay finds an event that was entered too cheaply."""

    @abstractmethod
    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        """The interval that holds for every row set that could have produced this symbol; ``ValueError`` for none."""

    @abstractmethod
    def likely(self, offer: Offer) -> Symbol:
        """The symbol an honest asker should expect, to quote a width before asking."""

    @classmethod
    @abstractmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """The configuration that suits a goal."""
