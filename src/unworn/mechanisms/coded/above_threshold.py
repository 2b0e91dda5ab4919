"""AboveThreshold: is it at least this much? One bit per ask; only the yeses cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from unworn.errors import Exhausted, Unaskable
from unworn.events import Described, Event
from unworn.mechanisms.coded.coded_mechanism import (
    CodedMechanism,
    fold_symbol,
    lone_failure_event,
    lone_nats,
    place_now,
    price_offer,
    publish_value,
    typical_state,
)
from unworn.mechanisms.coded.coded_payloads import PlacePayload
from unworn.mechanisms.coded.guess_slack import declared_gauge
from unworn.mechanisms.coded.octave_words import octave_nats, pack_steps, unpack_steps
from unworn.mechanisms.contract.capabilities import AnswersSubsets, ExplainsNumbers, LimitsQuestions, UsesGauges
from unworn.mechanisms.contract.conversation import published_width, refuse_statistics
from unworn.mechanisms.contract.mechanism import RAISED, Guess, Offer, Published, Reply, State, Symbol, has_failed
from unworn.mechanisms.noisy.noisy_mechanism import number
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.exact_value import exact_value, spread_of
from unworn.noise import Stream
from unworn.queries.query import SUBSETS, Facts, Query
from unworn.queries.row_protocol import Rows

BELOW, TOP = 0, 1


@dataclass(frozen=True)
class AboveThreshold(CodedMechanism, AnswersSubsets, LimitsQuestions, UsesGauges, ExplainsNumbers):
    """Say whether the value on the rows is at least a threshold, exactly, and stop after so many yeses.

    Thousands of noes cost less than a nat together, each yes about ten (a nat makes the conversation e times less
    likely under a law fixed before it). No noise is needed: short answers reveal little by themselves (Theorem C′).
    *Below* publishes everything up to just beyond the threshold, *top* everything from just before it.

    Of a share of a subset, or a ranking, *top* also tells the power of two by which fewer rows count than there are.
    *Below* tells that as many count as were declared, by ``gauge=`` or ``train``; where nothing was declared it is free
    all the same, and says nothing of the population. Where fewer count than were declared, that is told, as a yes.

    Parameters
    ----------
    threshold
        In the question's own units; a question whose range does not contain it is refused.
    tops
        How many yeses are given before the holdout stops; ``None`` for no limit. Code that fails on the rows uses one,
        and so does a subset with fewer rows than were declared.

    Examples
    --------
    >>> search = AboveThreshold(0.9, tops=5)
    >>> state = search.begin(rows=10_000, confidence=0.95, asks=1_000)
    >>> offer = search.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), None)
    >>> below, top = search.reveal(offer, BELOW), search.reveal(offer, TOP)
    >>> (below.low, round(below.high, 3)), (round(top.low, 3), top.high)
    ((0.0, 0.905), (0.89, 1.0))

    References
    ----------
    Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, section 3.6, for the noisy one; without
    noise, Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, NeurIPS 2015 (description length).
    """

    needs_guess: ClassVar[bool] = False

    threshold: float
    tops: int | None = 1

    @property
    def gauged_kinds(self) -> frozenset[str]:
        return SUBSETS

    def __post_init__(self) -> None:
        self.check_law()
        if not math.isfinite(number("threshold", self.threshold)):
            raise ValueError(f"threshold must be a finite number, in the questions' own units, not {self.threshold!r}")
        if self.tops is not None and (isinstance(self.tops, bool) or not isinstance(self.tops, int) or self.tops < 1):
            raise ValueError(f"tops must be a whole number of at least 1, or None for no end, not {self.tops!r}")

    def check(self, facts: Facts) -> None:
        refuse_statistics(self, facts)
        if not facts.low <= self.threshold <= facts.high:
            raise Unaskable(
                f"the question's range [{facts.low:g}, {facts.high:g}] does not contain the threshold "
                f"{self.threshold:g}: every answer is known beforehand; seal rows with a threshold in its own units"
            )

    def after(self, state: State, event: Event) -> State:
        if not isinstance(event, Described):
            raise TypeError(f"AboveThreshold does not know the event {event!r}")
        return fold_symbol(state, event.surprise, event.nats)

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        # Were an ask of a batch refused half-way, the refusal would tell what those before it said: all may be tops.
        if self.tops is not None and state.surprises + position >= self.tops:
            left = max(self.tops - state.surprises, 0)
            if left:
                happened = f"only {left} of {self.tops} tops are left, and more asks than that came in one batch."
                advice = f"Ask one at a time, or in batches of at most {left}; or seal"
            else:
                happened, advice = f"all {self.tops} tops have been given.", "Seal"
            raise Exhausted(
                f"{happened}\n  {advice} fresh rows, with more tops or with tops=None, which never stops: "
                "every top then makes the answers after it wider.",
                tops=self.tops,
                left=left,
            )
        gauge = None if guess is None or facts.kind not in SUBSETS else declared_gauge(facts, guess, 0.0)
        own = None if gauge is None else PlacePayload(place_now(state), state.kept, gauge)
        return price_offer(state, facts, position, own)

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        symbol = exact_value(offer, query, rows)
        if symbol != RAISED:
            value, gauge = spread_of(offer, symbol)
            is_empty = offer.kind in SUBSETS and not gauge  # of no rows nothing is known: that is no yes
            symbol = pack_steps(offer, gauge, TOP if value >= self.threshold and not is_empty else BELOW)
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        if has_failed(symbol):
            return lone_failure_event(offer, symbol)
        unpack_steps(offer, symbol, TOP)
        return Described(symbol != BELOW, _nats(offer, symbol))

    def prices(self, offer: Offer) -> tuple[float, float]:
        calm, surprised = self.place_prices(offer)
        return calm, surprised + _nats(offer, TOP)

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        edge, (gauge, side) = min(max(self.threshold, offer.low), offer.high), unpack_steps(offer, symbol, TOP)
        level = self.log_one_side(offer, symbol != BELOW, _nats(offer, symbol))
        if side == TOP:
            return publish_value((edge + offer.high) / 2, interval(offer, (edge, offer.high), gauge, level), "above")
        # The middle of where the rows' value lies, as for any cell; the source says how little that is.
        below = (offer.low, math.nextafter(edge, -math.inf))
        return publish_value((offer.low + edge) / 2, interval(offer, below, gauge, level), "below")

    def numbers(self, offer: Offer) -> dict[str, float]:
        return {"threshold": self.threshold}

    def likely(self, offer: Offer) -> Symbol:
        return BELOW

    def widest(self, offer: Offer) -> float:
        if offer.kind in SUBSETS:  # of a subset without rows nothing is known
            return offer.span / 2
        return max(published_width(self, offer, symbol) for symbol in (BELOW, TOP))

    def beyond(self, offer: Offer) -> float:
        """How far past the threshold an answer reaches, at most, as a share of the range: what more tops make wider."""
        below, above = self.reveal(offer, BELOW).high - self.threshold, self.threshold - self.reveal(offer, TOP).low
        return max(below, above) / (offer.high - offer.low)

    @classmethod
    def for_(
        cls,
        *,
        rows: int,
        asks: int,
        width: float | None = None,
        confidence: float = 0.95,
        threshold: float = 0.5,
    ) -> Self:
        """As many tops as leave the last answer within ``width`` of the threshold (of a share); one if none is given.

        >>> AboveThreshold.for_(rows=10_000, asks=1_000, width=0.045)
        AboveThreshold(threshold=0.5, tops=6)
        """
        first = cls(threshold)
        if width is None:
            return first
        facts = Facts("binary", 0.0, 1.0, zero_one=True)

        def reach(tops: int) -> float:
            """Of the last ask, all tops but one being given."""
            state = typical_state(first.begin(rows, confidence, asks), asks - 1, tops - 1, 0.0)
            return first.beyond(price_offer(state, facts, 0))

        if reach(1) > width:
            raise ValueError(
                f"AboveThreshold reaches ± {reach(1):.4g} around its threshold with {rows:,} rows and {asks:,} asks, "
                f"and ± {width:g} is wanted: bring more rows or plan fewer asks"
            )
        low, high = 1, asks // 2 + 1  # up to there every top makes the transcript longer
        if reach(high) <= width:
            return cls(threshold, high)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if reach(middle) <= width else (low, middle)
        return cls(threshold, low)


def _nats(offer: Offer, symbol: Symbol) -> float:
    """The length of a word: all but "below", as it was expected, are surprises, and share what there is for them."""
    return 0.0 if symbol == BELOW else lone_nats(offer) + octave_nats(offer)
