"""What the mechanisms share that answer with one word, priced by the conversation that it belongs to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

from unworn.bounds.code_length import Pattern
from unworn.bounds.compression import code_length
from unworn.bounds.numerics import LN2
from unworn.errors import Unaskable
from unworn.events import Described
from unworn.mechanisms.coded.coded_payloads import CodedPayload, Place, PlacePayload
from unworn.mechanisms.contract.capabilities import (
    BoundsWidth,
    GivesFinalValues,
    MetersSpending,
    NamesItsTheorem,
    RepricesBatches,
    SettlesParameters,
)
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.contract.mechanism import RAISED, STOPPED, FinalPlace, Mechanism, Offer, Published, State, Symbol
from unworn.mechanisms.contract.offer import NoPayload, Payload
from unworn.mechanisms.symbols.gauges import told_bound
from unworn.queries.query import Facts

Cell = tuple[tuple[float, float], float]
"""Where the rows' value lies, and a bound on its gauge; of a paired question that is a share of the span."""
SPARE_NATS = 30 * LN2
"""What a failure costs where no room is left among the words: 2^-30 of it is set aside for all that might fail."""
REST_NATS = -math.log1p(-(2.0**-30))
"""What the other words cost more for it, 1e-9 nats: less than what a replay takes for rounding."""
OUTSIDE: Place = ("", 0.0, 0.0, 0, 0)
"""The place of an answer that is neither a surprise nor none, and pays for its word alone."""


def failure_nats(offer: Offer, symbol: Symbol, free_nats: float) -> float:
    """The length of the words for "it raised" and "it was interrupted".

    A question that runs code keeps half of the words of surprises for the first, and its other half has room for the
    second that is ``free_nats`` long; else that room is shared by both.
    """
    if offer.runs_code and symbol == RAISED:
        return LN2
    return LN2 + free_nats


def failure_event(offer: Offer, symbol: Symbol, free_nats: float) -> Described:
    """The event of an answer that could not be made: a surprise."""
    return Described(True, failure_nats(offer, symbol, free_nats))


def lone_failure_event(offer: Offer, symbol: Symbol) -> Described:
    """The same where there is one surprise beside failures, which leaves no room but what is set aside."""
    return Described(True, failure_nats(offer, symbol, SPARE_NATS) + (REST_NATS if symbol == RAISED else 0.0))


def lone_nats(offer: Offer) -> float:
    """The length of that one surprise.

    >>> from unworn.mechanisms.contract.mechanism import STOPPED
    >>> offer = Offer(1, 100, "binary", 0.0, 1.0, True, True, -3.0)
    >>> words = lone_nats(offer), lone_failure_event(offer, RAISED).nats, lone_failure_event(offer, STOPPED).nats
    >>> 1 - 1e-9 < sum(math.exp(-nats) for nats in words) <= 1
    True
    """
    return REST_NATS + (LN2 if offer.runs_code else 0.0)


def cell_nats(offer: Offer, cells: int, symbol: Symbol) -> float:
    """The length of the word for one of so many equal cells, or for a failure.

    There is one more word than cells when user code may fail; what else may fail has a long one.
    """
    if symbol == STOPPED or (symbol == RAISED and not offer.runs_code):
        return failure_nats(offer, symbol, SPARE_NATS)
    return math.log(cells + offer.runs_code) + REST_NATS


@dataclass(frozen=True)
class CodedMechanism(
    Mechanism,
    SettlesParameters,
    GivesFinalValues,
    RepricesBatches,
    NamesItsTheorem,
    MetersSpending,
    BoundsWidth,
):
    """A mechanism whose words are few and cheap, but for some that are rare: *surprises*, which pay for their place.

    ``law`` says by which theorem they pay: C', or C in ledgers that were sealed before there was C'.
    """

    theorem: ClassVar[str] = "code length (Theorem C')"
    prices_failure: ClassVar[bool] = True
    former: ClassVar[dict[str, Any]] = {"law": "C"}
    no_tests: ClassVar[str] = (
        "{name} answers one kind of question, and a test is not among its words: seal rows with GuessAndCheck to test "
        "hypotheses"
    )
    left_open: ClassVar[tuple[str, ...]] = ("law",)
    """Parameters that, left out, are whatever the rows were sealed with."""

    law: Literal["C", "C'"] | None = field(default=None, kw_only=True, repr=False)

    def check_law(self) -> None:
        if self.law not in (None, "C", "C'"):
            raise ValueError(f'law is "C\'", or "C" for older ledgers, not {self.law!r:.40}')

    def named_theorem(self) -> str:
        return self.theorem.replace("C'", "C") if self.law == "C" else self.theorem

    def settled(self, rows: int, confidence: float, asks: int | None) -> Self:
        return replace(self, law=self.law or "C'")

    def complete(self) -> bool:
        return self.law is not None

    def accepts(self, sealed: Mechanism) -> bool:
        if type(self) is not type(sealed):
            return False
        given = {name: getattr(sealed, name) for name in self.left_open if getattr(self, name) is None}
        return replace(self, **given) == sealed

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        state = super().begin(rows, confidence, asks)
        return state if self.law == "C" else replace(state, pattern=Pattern())

    def spent(self, state: State) -> float:
        if state.pattern is not None:
            return state.pattern.nats + state.nats
        # The price of the next ask; at the end of a plan, that of the last.
        index = state.asked + 1 if state.planned is None else min(state.asked + 1, state.planned)
        return code_length(index, min(state.surprises, index - 1), state.nats, state.planned)

    def reprice(self, offer: Offer, state: State) -> Offer:
        """Under C' each answer of a batch pays for those before it, as if they had been asked one by one."""
        payload = offer.payload
        if state.pattern is None or not isinstance(payload, CodedPayload) or payload.place is None:
            return offer
        log_beta = state.log_beta if payload.null is None else math.log(payload.null[2])
        place = place_of(state, payload.place[0]) if payload.place[0] else OUTSIDE
        later = replace(payload, place=place, kept=max(payload.kept, state.kept))  # type: ignore[type-var]
        return offer.with_payload(later, log_beta - self.spent(state))

    def log_side(self, offer: Offer, surprise: bool, nats: float) -> float | None:
        """ln of the level of each limit, once the symbol is known; none where the two share the offer's."""
        place = offer.payload.place
        if place is None:
            return None
        _, calm, surprised, *_ = place
        return (offer.log_level - (surprised if surprise else calm) - nats) / (1.0 - offer.payload.kept)

    def log_one_side(self, offer: Offer, surprise: bool, nats: float) -> float:
        """The same for a cell that ends where the range does: one limit has all of the level.

        Why it may, under Theorem C: let an answer say "below", and publish [low, U], or "not below", and publish
        [L, high], where no population above U gives "below" with probability over b, and none under L "not below". A
        population that missed in both ways would give either word with probability at most b, and 2b < 1.
        """
        side = self.log_side(offer, surprise, nats)
        return offer.log_level if side is None else side

    def test_level(self, offer: Offer) -> float:
        """ln of the level at which a hypothesis is tested, where "rejected" is the one surprise."""
        side = self.log_side(offer, True, lone_nats(offer))
        return offer.log_level if side is None else side

    def place_prices(self, offer: Offer) -> tuple[float, float]:
        """What no surprise and a surprise cost by where they fall."""
        place = offer.payload.place
        return (0.0, 0.0) if place is None else (place[1], place[2])

    def offer_final(self, state: State, facts: Facts, place: FinalPlace) -> Offer:
        from unworn.mechanisms.symbols.final_values import final_offer

        if state.pattern is None:
            raise Unaskable(
                "this ledger was sealed under Theorem C, which has no final values.\n"
                "  Sharpen an answer, or seal fresh rows."
            )
        told = None if place.told is None else (self.cell_of(*place.told), publish_symbol(self, *place.told))
        return final_offer(state, facts, place, self.spent(state), told)

    def cell_of(self, offer: Offer, symbol: Symbol) -> Cell:
        """The cell that an answer told, and the bound on its gauge; the whole range where it told none."""
        return (offer.low, offer.high), told_bound(offer, symbol)

    def refused(self, facts: Facts, why: str) -> Unaskable:
        return Unaskable(f"{type(self).__name__} cannot answer a {facts.kind} question: {why}")


def place_of(state: State, origin: str) -> Place:
    """What the next symbol costs by where it falls, under C'."""
    if state.pattern is None:
        raise TypeError("only Theorem C' charges an answer for its own symbol")
    return origin, *state.pattern.prices(origin), *state.sides


def place_now(state: State, origin: str = "asker") -> Place | None:
    """The same; without an origin, that of an answer outside the pattern; none under Theorem C."""
    if state.pattern is None:
        return None
    return (origin, *state.pattern.prices(origin), *state.sides) if origin else OUTSIDE


def price_offer(state: State, facts: Facts, position: int, payload: Payload | None = None) -> Offer:
    """The offer that the transcript so far allows, with this payload; without one, that of a symbol at its place."""
    index = state.index(position)
    if state.pattern is None:
        level = state.log_beta - code_length(index, state.surprises, state.nats, state.planned)
        return Offer.about(facts, index, state.rows, level, NoPayload() if payload is None else payload)
    level = state.log_beta - state.pattern.nats - state.nats
    own = PlacePayload(place_now(state), state.kept) if payload is None else payload
    return Offer.about(facts, index, state.rows, level, own)


def fold_symbol(state: State, surprise: bool, nats: float, origin: str = "asker", side: int = 0) -> State:
    """The state after a symbol that was, or was not, a surprise, below or above its guess."""
    pattern = None if state.pattern is None else state.pattern.after(origin, surprise)
    below, above = state.sides
    return state.further(surprise, nats, pattern, (below + (side < 0), above + (side > 0)) if side else None)


def typical_state(state: State, asks: int, surprises: int, nats: float) -> State:
    """Where a conversation stands after so many asks, wherever its surprises fell: for planning."""
    pattern = None if state.pattern is None else Pattern.typical(asks, surprises)
    return replace(state, asked=asks, surprises=surprises, nats=nats, pattern=pattern)


def publish_value(value: float, limits: tuple[float, float], source: str) -> Published:
    """With the value inside: of a cell that few rows can fall in, the middle may lie beyond the limits."""
    return Published(value, min(limits[0], value), max(limits[1], value), source)


def check_steps_word(symbol: Symbol, most: int) -> int:
    """A word that is a number of steps, checked: a replay meets whatever an entry holds."""
    if isinstance(symbol, bool) or not isinstance(symbol, int) or not 0 <= symbol <= most:
        raise ValueError(f"the words here are 0 to {most}, not {symbol!r:.40}")
    return symbol
