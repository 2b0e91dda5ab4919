"""Guess and check: agreement with a good guess is nearly free; a surprise costs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, Self

from unworn.bounds.code_length import TEST
from unworn.errors import Unaskable
from unworn.events import Blurred, Described, Event, Guessed, Matched, Screened
from unworn.mechanisms.coded.blurred_counts import (
    NoisyCountPayload,
    NoisyPayload,
    after_blurred,
    blurred_cost,
    blurred_count,
    blurred_event,
    blurred_payload,
    check_blurrable,
    likely_blurred,
    outside_blurred,
    reveal_blurred,
)
from unworn.mechanisms.coded.coded_mechanism import Cell, CodedMechanism, fold_symbol, place_now, price_offer
from unworn.mechanisms.coded.coded_payloads import CellsPayload, GuessPayload, HypothesisPayload
from unworn.mechanisms.coded.guess_slack import (
    agreement_slack,
    declared_discordance,
    declared_gauge,
    guess_error,
    usable_guess,
    without_gauge,
)
from unworn.mechanisms.coded.guess_words import (
    agreement_event,
    cell_symbol,
    hoeffding_width,
    likely_cell,
    reveal_cell,
    unguessed_payload,
    widest_cell,
    word_cost,
)
from unworn.mechanisms.coded.noisy_checks import check_planned_surprises, is_checked_with_noise, noisy_check_offer
from unworn.mechanisms.coded.sharpening import check_gain, check_sharpenable, sharpened_offer
from unworn.mechanisms.contract.capabilities import (
    ALL_GAUGED,
    AddsNoiseOnRequest,
    AnswersSubsets,
    BoundsWidthQuickly,
    ChargesBySurprise,
    ChecksHypotheses,
    EncodesItself,
    SharpensAnswers,
    UsesGauges,
)
from unworn.mechanisms.contract.declarations import THEOREM_U
from unworn.mechanisms.contract.mechanism import RAISED, Guess, Offer, Published, Reply, State, Symbol, has_failed
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.exact_value import read_symbol, spread_of
from unworn.mechanisms.symbols.gauges import gauge_of, known_bound, unpack
from unworn.mechanisms.symbols.symbol_cells import FINEST, check_cells, check_step, edges
from unworn.noise import Stream
from unworn.queries.query import SUBSETS, Facts, Query
from unworn.queries.row_protocol import Raised, Rows


@dataclass(frozen=True)
class GuessAndCheck(
    CodedMechanism,
    AnswersSubsets,
    UsesGauges,
    ChecksHypotheses,
    AddsNoiseOnRequest,
    SharpensAnswers,
    EncodesItself,
    BoundsWidthQuickly,
    ChargesBySurprise,
):
    """Compare the rows with a guess, and release only the cell in which their value lies.

    A cell is a range of values; the one around the guess means agreement, any other is a *surprise*. Theorem C′: if Q
    is the chance of the conversation so far, under a law fixed before the rows were drawn, then answers published at
    level ``(1 - confidence) × Q`` are all right together. Agreement hardly lowers Q, however often one asks; a surprise
    costs about ten nats, that is, lowers Q by a factor of about e^10. Nothing is assumed about how questions and
    guesses were chosen.

    Parameters
    ----------
    z
        How many standard errors, of guess and holdout combined, still count as agreement; by default 3.5 for the first
        30 asks, 4 up to 3,000 and 4.5 after that, or as many as a plan of ``asks=`` suggests.
    cell
        Width of a surprise's cell, as a share of the range; by default a third of what counts as agreement.
    pieces
        How many sub-cells sharpening chooses from; by default 8, 16 or 32: the more was spent, the more sub-cells.
    unguessed
        How questions without a guess are answered: by one of ``"cells"``, or by a count with ``"noise"``. By default
        the first few by cells and the others with noise, which from then on costs less (Theorem U). Questions that run
        code are answered by cells.
    surprises
        How many surprises are planned, where they are many: then agreement is told with noise, right guesses cost
        nothing, and each surprise a fraction of a nat instead of some ten (Theorem U). Comparisons, tests and questions
        that run code are checked exactly all the same. Narrower from about three surprises in a thousand asks on.

    Examples
    --------
    >>> from unworn.mechanisms.contract.conversation import published_width
    >>> mechanism = GuessAndCheck()
    >>> state = mechanism.begin(rows=10_000, confidence=0.95)
    >>> offer = mechanism.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), Guess(0.9))
    >>> round(published_width(mechanism, offer, 0), 3), round(mechanism.widest(offer), 3)
    (0.02, 0.028)

    References
    ----------
    Rogers, Roth, Smith, Srebro, Thakkar and Woodworth, "Guaranteed validity for empirical approaches to adaptive
    data analysis", AISTATS 2020; the law, the graded code and exact limits are derived in
    ``docs/theory/code-length.md``.
    """

    left_open: ClassVar[tuple[str, ...]] = ("law", "z", "pieces", "unguessed", "surprises")
    former: ClassVar[dict[str, Any]] = {"law": "C", "z": 4.0, "pieces": 8, "unguessed": "cells"}

    z: float | None = None
    cell: float | None = None
    pieces: int | None = None
    unguessed: Literal["cells", "noise"] | None = None
    surprises: int | None = None

    @property
    def gauged_kinds(self) -> frozenset[str]:
        return SUBSETS if self.law == "C" else ALL_GAUGED  # a variance's symbol fixes a bet, and must pay for itself

    def __post_init__(self) -> None:
        self.check_law()
        if self.z is not None and not (math.isfinite(self.z) and self.z > 0):
            raise ValueError(f"z must be a finite number above 0, not {self.z}")
        if self.cell is not None:
            check_step("cell", self.cell)
        if self.unguessed not in (None, "cells", "noise"):
            raise ValueError(f"unguessed is 'cells', 'noise', or None for what is cheaper, not {self.unguessed!r:.40}")
        if self.pieces is not None:
            check_cells("pieces", self.pieces)
        if self.surprises is not None:
            check_planned_surprises(self.surprises, self.law)

    def to_json(self) -> dict[str, Any]:
        """Without ``surprises`` where none are planned, as before there were any to plan."""
        told = {"name": type(self).__name__, **asdict(self)}
        return {name: value for name, value in told.items() if name != "surprises" or value is not None}

    def named_theorem(self) -> str:
        return super().named_theorem() if self.surprises is None else THEOREM_U

    def after(self, state: State, event: Event) -> State:
        if isinstance(event, Blurred | Screened | Matched) and state.pattern is not None:
            return after_blurred(state, event)
        if isinstance(event, Described):  # outside the pattern, unless there is none
            return state.further(event.surprise, event.nats)
        if not isinstance(event, Guessed) or state.pattern is None:
            raise TypeError(f"guess-and-check does not know the event {event!r}")
        return fold_symbol(state, event.surprise, event.nats, event.origin, event.side)

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        guess = usable_guess(facts, guess, self.gauged_kinds)
        # A guess at a share of so many rows says nothing where nobody knows how many: then both are told.
        if guess is None or (facts.kind in SUBSETS and declared_gauge(facts, guess, 0.0) is None):
            state.index(position)  # refuses an ask past the plan before noise is chosen for it
            return price_offer(state, facts, position, unguessed_payload(self, state, facts))
        slack = agreement_slack(facts, guess, state, position, self.z)
        if not math.isfinite(slack):
            if guess.error is None:
                raise Unaskable(f"a range that is {facts.span:g} long has no room for a guess: measure in other units")
            raise Unaskable(f"a guess with the standard error {guess.error:g} says nothing: give a smaller guess_se")
        if self.surprises is not None and is_checked_with_noise(facts, state):
            nats, error = self.spent(state) - state.log_beta, guess_error(facts, without_gauge(guess), state.rows)
            checked = noisy_check_offer(state, facts, position, guess.value, self.surprises, nats, error)
            if checked is not None:
                return checked
        narrow = self.cell is None and state.pattern is not None
        cell = max(slack / 3, FINEST * facts.span) if narrow else self.cell_share(state.rows) * facts.span
        place, size = place_now(state, guess.origin), declared_discordance(facts, guess)
        gauge = declared_gauge(facts, guess, slack)
        return price_offer(
            state, facts, position, GuessPayload(guess.value, slack, cell, size, place, state.kept, gauge)
        )

    def offer_noise(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        """Noise, whatever guess there is; a guess that few rows count, or nearly all, is checked first."""
        check_blurrable(facts, state)
        state.index(position)
        expected = None
        if guess is not None:
            slack = agreement_slack(facts, without_gauge(guess), state, position, self.z) / facts.span
            # A guess that may be anything says nothing of how many rows count, and noise needs none.
            expected = ((guess.value - facts.low) / facts.span, slack) if math.isfinite(slack) else None
        payload = blurred_payload(state, self.spent(state) - state.log_beta, True, expected)
        return price_offer(state, facts, position, payload)

    def reprice(self, offer: Offer, state: State) -> Offer:
        later, payload = super().reprice(offer, state), offer.payload
        if isinstance(payload, NoisyCountPayload) and payload.requested:
            nats = self.spent(state) - state.log_beta
            return later.with_payload(blurred_payload(state, nats, True, most=payload.most))
        unguessed = isinstance(payload, NoisyCountPayload | CellsPayload)
        if state.pattern is None or not unguessed or payload.place is None:
            return later
        return later.with_payload(unguessed_payload(self, state, offer.facts))

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        from unworn.mechanisms.symbols.hypothesis_symbols import nominal_level, tested_null  # loaded by those who test

        payload = HypothesisPayload(tested_null(facts), place=place_now(state, TEST), kept=state.kept)
        offer = price_offer(state, facts, position, payload)
        return offer.with_payload(payload, offer.log_level - state.log_beta + nominal_level(facts))

    def check_sharpenable(self, told: Offer) -> None:
        check_sharpenable(told)

    def check_gain(self, told: Offer, symbol: Symbol, offer: Offer) -> None:
        check_gain(self, told, symbol, offer)

    def sharpen(self, state: State, told: Offer, symbol: Symbol) -> Offer:
        return sharpened_offer(self, state, told, symbol, self.pieces)

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        payload = offer.payload
        try:
            if isinstance(payload, NoisyPayload):
                symbol = blurred_count(offer, payload, query, rows, noise)
            elif payload.null is None:
                symbol = cell_symbol(offer, *spread_of(offer, read_symbol(offer, query, rows)))
            else:
                from unworn.mechanisms.symbols.hypothesis_symbols import judge_hypothesis  # loaded by those who test

                symbol = judge_hypothesis(offer, query, rows, self.test_level(offer))
        except Raised:
            symbol = RAISED
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        payload = offer.payload
        if isinstance(payload, NoisyPayload):
            return blurred_event(offer, payload, symbol)
        (surprise, nats), place = self.cost(offer, symbol), payload.place
        if place is None or not place[0]:
            return Described(surprise, nats)
        if not surprise:
            return agreement_event(place[0], nats)
        side = 0 if has_failed(symbol) or payload.null is not None else unpack(offer, symbol)[1]
        return Guessed(place[0], surprise, (side > 0) - (side < 0), nats)

    def cost(self, offer: Offer, symbol: Symbol) -> tuple[bool, float]:
        """Whether a symbol is a surprise, and the length of its code word in nats."""
        payload = offer.payload
        return blurred_cost(offer, payload, symbol) if isinstance(payload, NoisyPayload) else word_cost(offer, symbol)

    def prices(self, offer: Offer) -> tuple[float, float]:
        surprise: Symbol = 1 if gauge_of(offer) is None else [0, 1]
        if isinstance(offer.payload, NoisyPayload):
            surprise = outside_blurred(offer, offer.payload)
        calm, surprised = self.place_prices(offer)
        return calm + self.cost(offer, self.likely(offer))[1], surprised + self.cost(offer, surprise)[1]

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        payload, level = offer.payload, self.log_side(offer, *self.cost(offer, symbol))
        if isinstance(payload, NoisyPayload):
            return reveal_blurred(offer, payload, symbol, level)
        cell, gauge = self.cell_of(offer, symbol)
        return reveal_cell(offer, symbol, cell, interval(offer, cell, gauge, level))

    def cell_of(self, offer: Offer, symbol: Symbol) -> Cell:
        if isinstance(offer.payload, NoisyPayload):
            return (offer.low, offer.high), known_bound(offer)  # a check before the noise tells of no gauge
        gauge, offset = unpack(offer, symbol)
        return edges(offer, offset), gauge

    def likely(self, offer: Offer) -> Symbol:
        return likely_blurred(offer, offer.payload) if isinstance(offer.payload, NoisyPayload) else likely_cell(offer)

    def widest(self, offer: Offer) -> float:
        return widest_cell(self, offer)

    def rough_width(self, state: State) -> float:
        return hoeffding_width(self.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), Guess(0.5)))

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """Nothing needs choosing: the defaults suit any number of rows and asks.

        >>> GuessAndCheck.for_(rows=10_000, asks=1_000)
        GuessAndCheck(z=None, cell=None, pieces=None, unguessed=None, surprises=None)
        """
        return cls()

    def cell_share(self, rows: int) -> float:
        """Width of a cell of the grid, as a share of the range."""
        return self.cell if self.cell is not None else 1 / math.ceil(math.sqrt(rows) / 2)
