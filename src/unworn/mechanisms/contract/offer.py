"""An offer: the public numbers that fix one answer before any row is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unworn.basics.frozen_init import assign_fields
from unworn.mechanisms.contract.symbol import Published, Symbol
from unworn.queries.query import Facts, Kind

NO_GUESS = "no guess"
"""The origin where nobody guessed, and a gauge was declared all the same."""


@assign_fields
@dataclass(frozen=True, slots=True)
class Guess:
    """What the asker expects, in the question's own units, with its standard error where known.

    ``discordance`` is for paired questions: how large the mean absolute difference is expected to be at most. ``gauge``
    is the like for others: the fewest rows of a subset, or of the rarer class of a ranking; of a mean the largest
    variance, as a share of the squared length of the range.
    """

    value: float
    error: float | None = None
    discordance: float | None = None
    origin: str = "asker"
    gauge: float | None = None

    def to_json(self) -> list[Any]:
        told = [self.value, self.error, self.discordance, self.origin]
        return told if self.gauge is None else [*told, self.gauge]


class Payload:
    """What a mechanism adds to the header of an offer: numbers of its own, in a frozen dataclass that inherits this.

    The attributes here are what others may ask of any offer. A payload that has such a number declares a field of that
    name (with ``= field()`` where it must be given); all others say that there is none.
    """

    __slots__ = ()

    gauge: float | None = None
    """The declared or known bound of what the rows give beside the value, but for a paired question's."""
    discordance: float = 1.0
    """That bound of a paired question's, as a share of the span."""
    guess: float | None = None
    """The guess that the rows are compared with, in the question's own units."""
    null: tuple[int, float, float] | None = None
    """Where a hypothesis is tested: (side, value, level)."""
    final: tuple[int, int, bool] | None = None
    """Where a final value is told: (position, questions, whether they are the last)."""
    sensitivity: float | None = None
    """By how much one row can change a statistic."""
    part: tuple[int, int] | None = None
    """Which of how many parts of the rows are read, where not all are."""
    requested: bool = False
    """Whether noise was asked for, whatever guess there is."""
    place: tuple[str, float, float, int, int] | None = None
    """What the answer's own symbol is charged by where it falls, where it is charged."""
    kept: float = 0.0
    """What Theorem U stretches nats by, once there was noise."""

    is_rounded: bool = False
    """Whether the values of the rows are rounded at random for this answer, and not only because all are."""
    may_be_rounded: bool = False
    """Whether they may be, once the answers before it in a batch are known."""

    def check(self, rows: int) -> None:
        """Refuse, by ``ValueError``, numbers that no offer about so many rows has: a ledger may hold anything."""

    def numbers(self) -> dict[str, Any]:
        """What of it fixes the interval, by name, for the certificate."""
        return {}


@assign_fields
@dataclass(frozen=True, slots=True)
class NoPayload(Payload):
    """The level is all there is to say."""


@assign_fields
@dataclass(frozen=True, slots=True)
class Offer:
    """The public numbers that fix one answer before any row is read: a header, and what the mechanism adds to it.

    ``log_level`` is the logarithm of the miss probability this one answer may spend; where a hypothesis is tested, that
    of the one test. ``rows`` are those that the answer is made from.
    """

    index: int
    rows: int
    kind: Kind
    low: float
    high: float
    zero_one: bool
    runs_code: bool
    log_level: float
    payload: Payload = NoPayload()

    @classmethod
    def about(cls, facts: Facts, index: int, rows: int, log_level: float, payload: Payload) -> Offer:
        """An offer for a question of which these facts are public."""
        kind, low, high = facts.kind, facts.low, facts.high
        return cls(index, rows, kind, low, high, facts.zero_one, facts.runs_code, log_level, payload)

    def with_payload(self, payload: Payload, log_level: float | None = None) -> Offer:
        """The same header with another payload, and at another level if one is given."""
        level = self.log_level if log_level is None else log_level
        kind, low, high = self.kind, self.low, self.high
        return Offer(self.index, self.rows, kind, low, high, self.zero_one, self.runs_code, level, payload)

    @property
    def span(self) -> float:
        """The length of one value's declared range: a difference of two values can be twice as far apart."""
        return (self.high - self.low) / 2 if self.kind == "paired" else self.high - self.low

    @property
    def facts(self) -> Facts:
        """What was public about the question."""
        payload = self.payload
        about = (self.kind, self.low, self.high, self.zero_one, self.runs_code)
        return Facts(*about, payload.sensitivity, payload.null)

    @property
    def null(self) -> tuple[int, float, float] | None:
        """(side, value, level) of the hypothesis that is tested, if one is."""
        return self.payload.null

    @property
    def final(self) -> tuple[int, int, bool] | None:
        """(position, questions, whether they are the last) of a final value, if it is one."""
        return self.payload.final

    def to_json(self) -> list[Any]:
        """The header, and the payload's numbers in the places that they have in every ledger."""
        from unworn.mechanisms.contract.offer_codec import offer_list

        return offer_list(self)

    @classmethod
    def from_json(cls, told: Sequence[Any]) -> Offer:
        """What :meth:`to_json` wrote, now or in an older version; ``ValueError`` for what no offer says."""
        from unworn.mechanisms.contract.offer_codec import read_offer

        return read_offer(told)


@dataclass(frozen=True, slots=True)
class FinalPlace:
    """Where a final value stands: its position among so many fixed together, and whether anything may follow.

    ``told`` is what was offered and told when the question was asked before, if it was; ``expected`` what visible rows
    let one expect of it, where it was not.
    """

    position: int = 0
    questions: int = 1
    last: bool = True
    told: tuple[Offer, Symbol] | None = None
    expected: Guess | None = None


def whole_range(offer: Offer) -> Published:
    """What holds where nothing is known."""
    return Published((offer.low + offer.high) / 2, offer.low, offer.high, "surprise")
