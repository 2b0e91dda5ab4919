"""Guess and check: agreement with a good guess is nearly free; a surprise costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self

from unworn.bounds.code_length import TEST
from unworn.bounds.one_currency import beats_cells
from unworn.errors import Unaskable
from unworn.events import Blurred, Described, Event, Guessed, Matched, Screened
from unworn.mechanisms.coded.blurred_counts import (
    after_blurred,
    blurred_cost,
    blurred_count,
    blurred_event,
    blurred_offer,
    check_blurrable,
    likely_blurred,
    outside_blurred,
    reveal_blurred,
)
from unworn.mechanisms.coded.coded_mechanism import Cell, CodedMechanism, folded, priced
from unworn.mechanisms.coded.guess_words import farthest, octaves, unpack, with_a_word, word_cost
from unworn.mechanisms.coded.noisy_checks import is_checked_with_noise, noisy_check_offer
from unworn.mechanisms.contract.mechanism import (
    MOST_ASKS,
    RAISED,
    Guess,
    Offer,
    Published,
    Reply,
    State,
    Symbol,
    has_failed,
)
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.symbol_cells import FINEST, check_cells, check_step, edges, is_inside, locate
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Raised, Rows

THEOREM_U = "one currency (Theorem U)"
_WORTHWHILE = 0.9
"""What sharpening must narrow an interval to."""


@dataclass(frozen=True)
class GuessAndCheck(CodedMechanism):
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
    >>> mechanism = GuessAndCheck()
    >>> state = mechanism.begin(rows=10_000, confidence=0.95)
    >>> offer = mechanism.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), Guess(0.9))
    >>> round(mechanism.publish_width(offer, 0), 3), round(mechanism.widest(offer), 3)
    (0.02, 0.028)

    References
    ----------
    Rogers, Roth, Smith, Srebro, Thakkar and Woodworth, "Guaranteed validity for empirical approaches to adaptive
    data analysis", AISTATS 2020; the law, the graded code and exact limits are derived in
    ``docs/theory/code-length.md``.
    """

    tests: ClassVar[bool] = True
    left_open: ClassVar[tuple[str, ...]] = ("law", "z", "pieces", "unguessed", "surprises")
    former: ClassVar[dict[str, Any]] = {"law": "C", "z": 4.0, "pieces": 8, "unguessed": "cells"}

    z: float | None = None
    cell: float | None = None
    pieces: int | None = None
    unguessed: Literal["cells", "noise"] | None = None
    surprises: int | None = None

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
            if isinstance(self.surprises, bool) or not 1 <= self.surprises <= MOST_ASKS:
                raise ValueError(f"surprises is a whole number from 1 to {MOST_ASKS:,}, not {self.surprises!r:.40}")
            if self.law == "C":
                raise ValueError("Theorem C has no price for agreement that is told with noise: leave out surprises=")

    def to_json(self) -> dict[str, Any]:
        """Without ``surprises`` where none are planned, as before there were any to plan."""
        told = super().to_json()
        if self.surprises is None:
            del told["surprises"]
        return told

    def named_theorem(self) -> str:
        return super().named_theorem() if self.surprises is None else THEOREM_U

    def after(self, state: State, event: Event) -> State:
        if isinstance(event, Blurred | Screened | Matched) and state.pattern is not None:
            return after_blurred(state, event)
        if isinstance(event, Described):  # outside the pattern, unless there is none
            return state.further(event.surprise, event.nats)
        if not isinstance(event, Guessed) or state.pattern is None:
            raise TypeError(f"guess-and-check does not know the event {event!r}")
        return folded(state, event.surprise, event.nats, event.origin, event.side)

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        if guess is not None and not guess.origin:
            raise ValueError("a guess has an origin: it is what its surprises are charged by")
        if guess is None and facts.kind == "paired":
            guess = Guess(0.0, origin="no difference")
        if guess is None:
            return self._unguessed_offer(state, priced(state, facts, position, ""))
        span, slack = facts.span, self._slack(facts, guess, state, state.asked + 1 + position)
        if not math.isfinite(slack):
            raise Unaskable(f"a guess with the standard error {guess.error:g} says nothing: give a smaller guess_se")
        if self.surprises is not None and is_checked_with_noise(facts, state):
            plain = priced(state, facts, position, "", guess=guess.value)
            nats, error = self.spent(state) - state.log_beta, self._error(facts, guess, state)
            checked = noisy_check_offer(plain, state, self.surprises, nats, error)
            if checked is not None:
                return checked
        return priced(
            state,
            facts,
            position,
            guess.origin,
            guess=guess.value,
            slack=slack,
            cell=self._cell(state, slack, span),
            discordance=1.0 if guess.discordance is None else min(guess.discordance / span, 1.0),
        )

    def offer_noise(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        """Noise, whatever guess there is; a guess that few rows count, or nearly all, is checked first."""
        check_blurrable(facts, state)
        offer = replace(priced(state, facts, position, ""), requested=True)
        expected = None
        if guess is not None:
            slack = self._slack(facts, guess, state, state.asked + 1 + position) / facts.span
            # A guess that may be anything says nothing of how many rows count, and noise needs none.
            expected = ((guess.value - facts.low) / facts.span, slack) if math.isfinite(slack) else None
        return blurred_offer(offer, state, self.spent(state) - state.log_beta, expected)

    def reprice(self, offer: Offer, state: State) -> Offer:
        later = super().reprice(offer, state)
        if offer.requested:
            fresh = replace(later, radius=0, kept=state.kept)
            return blurred_offer(fresh, state, self.spent(state) - state.log_beta)
        unguessed = offer.guess is None and offer.null is None and offer.inside is None
        if state.pattern is None or offer.place is None or not unguessed:
            return later
        return self._unguessed_offer(state, replace(later, cells=0, steps=0, radius=0, kept=state.kept))

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        from unworn.mechanisms.symbols.hypothesis_symbols import nominal_level  # loaded by those who test

        offer = priced(state, facts, position, TEST)
        return replace(offer, log_level=offer.log_level - state.log_beta + nominal_level(facts), null=facts.null)

    def check_gain(self, told: Offer, symbol: Symbol, offer: Offer) -> None:
        """Refuse to sharpen once more, or where it gains too little to be worth its nats: both are public."""
        before = self.publish_width(told, symbol)
        pieces = {*range(0, offer.cells, max(1, offer.cells // 64)), offer.cells // 2, offer.cells - 1}
        after = max(self.publish_width(offer, piece) for piece in pieces)
        if told.inside is not None and offer.place is not None:
            raise Unaskable("this answer was sharpened already; holdout.final releases the exact value")
        if after > _WORTHWHILE * before:
            raise Unaskable(
                f"sharpening would gain next to nothing: ± {before:.4g} would become ± {after:.4g} at worst.\n"
                "  Nothing was charged. holdout.final releases the exact value, as the last word."
            )

    def sharpen(self, state: State, told: Offer, symbol: Symbol) -> Offer:
        """The offer to ask the same question again inside the cell that was published."""
        if has_failed(symbol):
            raise ValueError("there is nothing to sharpen: the question's code failed on the rows")
        if told.null is not None or told.final is not None or told.radius:
            raise ValueError("there is nothing to sharpen: only answers that name a cell can be sharpened")
        (low, high), spread = self.cell_of(told, symbol)
        published = self.publish(told, symbol)
        nats = state.nats if state.pattern is None else self.spent(state)
        return replace(
            priced(state, _facts(told), 0, ""),
            cells=self.pieces or (8 if nats < 5 else 16 if nats < 25 else 32),
            inside=(max(low, told.low), min(high, told.high)),
            # Code may answer otherwise the second time, so its two intervals need not speak of one question.
            within=None if told.runs_code else (published.low, published.high),
            discordance=spread,
        )

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        try:
            if offer.radius:
                symbol = blurred_count(offer, query, rows, noise)
            else:
                symbol = self._symbol(offer, query, rows) if offer.null is None else self._judged(offer, query, rows)
        except Raised:
            symbol = RAISED
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        if offer.radius:
            return blurred_event(offer, symbol)
        surprise, nats = self.cost(offer, symbol)
        if offer.place is None or not offer.place[0]:
            return Described(surprise, nats)
        if not surprise:
            return _agreement(offer.place[0], nats)
        side = 0 if has_failed(symbol) or offer.null is not None else unpack(offer, symbol)[1]
        return Guessed(offer.place[0], surprise, (side > 0) - (side < 0), nats)

    def cost(self, offer: Offer, symbol: Symbol) -> tuple[bool, float]:
        """Whether a symbol is a surprise, and the length of its code word in nats."""
        if offer.radius:
            return blurred_cost(offer, symbol)
        return word_cost(offer, symbol)

    def prices(self, offer: Offer) -> tuple[float, float]:
        surprise: Symbol = [0, 1] if offer.kind == "paired" else 1
        if offer.radius:
            surprise = outside_blurred(offer)
        _, calm, surprised, *_ = offer.place or ("", 0.0, 0.0)
        return calm + self.cost(offer, self.likely(offer))[1], surprised + self.cost(offer, surprise)[1]

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        if offer.radius:
            return reveal_blurred(offer, symbol, self.log_side(offer, *self.cost(offer, symbol)))
        cell, spread = self.cell_of(offer, symbol)
        low, high = interval(offer, cell, spread, self.log_side(offer, *self.cost(offer, symbol)))
        if offer.within is not None:
            low, high = max(low, offer.within[0]), min(high, offer.within[1])
        if offer.guess is not None and symbol == 0:
            return Published(offer.guess, min(low, offer.guess), max(high, offer.guess), "guess")
        value = (max(cell[0], offer.low) + min(cell[1], offer.high)) / 2
        return Published(value, min(low, value), max(high, value), "surprise" if offer.guess is not None else "grid")

    def cell_of(self, offer: Offer, symbol: Symbol) -> Cell:
        if offer.radius:
            return (offer.low, offer.high), 1.0
        spread, offset = unpack(offer, symbol)
        return edges(offer, offset), spread

    def likely(self, offer: Offer) -> Symbol:
        if offer.radius:
            return likely_blurred(offer)
        return 0 if offer.guess is not None else locate(offer, (offer.low + offer.high) / 2)

    def widest(self, offer: Offer) -> float:
        if offer.radius:
            return max(self.publish_width(offer, symbol) for symbol in (likely_blurred(offer), outside_blurred(offer)))
        # Limits are widest for values in the middle of the range, and for the longest words.
        middle = locate(offer, (offer.low + offer.high) / 2)
        if offer.guess is None:
            near = (min(max(offset, 0), offer.cells - 1) for offset in (middle - 1, middle, middle + 1))
            return max(self.publish_width(offer, symbol) for symbol in near)
        paired, far = offer.kind == "paired", max(farthest(offer, -1), farthest(offer, 1))
        longest = max(self.cost(offer, [0, o] if paired else o)[1] for o in (-far, far) if abs(o) <= farthest(offer, o))
        level = self.log_side(offer, True, longest)
        # Agreement in all but the discordance is the widest cell that a paired question has.
        offsets = [0] * paired + [offset for offset in (middle - 1, middle, middle + 1) if offset]
        limits = [interval(offer, edges(offer, offset), 1.0, level) for offset in offsets]
        return max(self.publish_width(offer, 0), *((high - low) / 2 for low, high in limits))

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """Nothing needs choosing: the defaults suit any number of rows and asks.

        >>> GuessAndCheck.for_(rows=10_000, asks=1_000)
        GuessAndCheck(z=None, cell=None, pieces=None, unguessed=None, surprises=None)
        """
        return cls()

    def _share(self, rows: int) -> float:
        return self.cell if self.cell is not None else 1 / math.ceil(math.sqrt(rows) / 2)

    def _unguessed_offer(self, state: State, offer: Offer) -> Offer:
        """One of many cells; or noise, from where on that is cheaper.

        Noise hides means over rows, and code that sees all the rows at once need not be one: it gets cells.
        """
        cells = math.ceil(1 / self._share(state.rows))
        if state.pattern is not None and self.unguessed != "cells" and not offer.runs_code:
            unguessed = state.asked - state.pattern.asks
            others = max(self.spent(state) - (unguessed - state.noisy) * math.log(cells), 0.0)
            # Where guesses are checked with noise, its price is paid already: all nats are stretched.
            noise = self.unguessed == "noise" or self.surprises is not None or state.noisy
            if noise or beats_cells(state.rows, others - state.log_beta, unguessed):
                return blurred_offer(offer, state, self.spent(state) - state.log_beta)
        return replace(offer, cells=cells)

    def _cell(self, state: State, slack: float, span: float) -> float:
        if self.cell is None and state.pattern is not None:
            return max(slack / 3, FINEST * span)
        return self._share(state.rows) * span

    def _slack(self, facts: Facts, guess: Guess, state: State, index: int) -> float:
        """z standard errors of holdout and guess together, in the question's own units."""
        z = self.z if self.z is not None else 4.0 if state.pattern is None else default_z(index, state.planned)
        return z * self._error(facts, guess, state)

    def _error(self, facts: Facts, guess: Guess, state: State) -> float:
        holdout = facts.span * standard_error(_variance(facts, guess), state.rows)
        return math.hypot(holdout, holdout if guess.error is None else guess.error)

    def _judged(self, offer: Offer, query: Query, rows: Rows) -> Symbol:
        from unworn.mechanisms.symbols.hypothesis_symbols import judged

        return judged(offer, query, rows, self.test_level(offer))

    def _symbol(self, offer: Offer, query: Query, rows: Rows) -> Symbol:
        if offer.kind == "paired":
            return self._paired_symbol(offer, query, rows)
        exact = offer.kind == "binary"
        value = int(rows.counts([query])[0]) / offer.rows if exact else float(rows.means([query])[0])
        if offer.inside is not None and not is_inside(offer, value):
            return RAISED
        return with_a_word(offer, locate(offer, value))

    def _paired_symbol(self, offer: Offer, query: Query, rows: Rows) -> Symbol:
        difference, spread = (float(x) for x in rows.differences([query])[0])
        spread /= offer.span
        if offer.guess is None:
            # Sharpening: the cell and the discordance told before must still hold, or it is another question.
            holds = is_inside(offer, difference) and spread <= offer.discordance + 1e-9
            return locate(offer, difference) if holds else RAISED
        offset = with_a_word(offer, locate(offer, difference))
        if offset == 0 and spread <= offer.discordance:
            return 0
        octave = octaves(offer.rows) if spread == 0 else math.floor(-math.log2(spread))
        return [min(max(octave, 0), octaves(offer.rows)), offset]


@lru_cache(maxsize=64)
def _agreement(origin: str, nats: float) -> Guessed:
    """One object for the many that say the same."""
    return Guessed(origin, False, 0, nats)


@lru_cache(maxsize=64)
def planned_z(asks: int) -> float:
    """As many standard errors as leave one honest surprise in seven plans of so many asks."""
    from statistics import NormalDist  # loaded by those who plan: it brings fractions and decimals

    return -NormalDist().inv_cdf(0.075 / asks)


def default_z(index: int, planned: int | None) -> float:
    """How many standard errors still count as agreement: a surprise costs more than a little slack.

    >>> default_z(1, None), default_z(31, None), default_z(3001, None), round(default_z(1, 300), 2)
    (3.5, 4.0, 4.5, 3.48)
    """
    if planned is not None:
        return planned_z(planned)
    return 3.5 if index <= 30 else 4.0 if index <= 3000 else 4.5


def standard_error(variance: float, rows: int) -> float:
    """Of a mean of ``rows`` values in [0, 1], never below that of a single odd row.

    A guess of exactly 0 or 1 has no variance of its own; without the floor every honest such guess would be a
    surprise.

    >>> standard_error(0.25, 10_000), standard_error(0.0, 10_000)
    (0.005, 0.0001)
    """
    return math.sqrt(max(variance, 1 / rows) / rows)


def _variance(facts: Facts, guess: Guess) -> float:
    """The largest variance one value can have if the guess is right, on the scale of [0, 1]."""
    if facts.kind == "paired":
        spread = 1.0 if guess.discordance is None else min(guess.discordance / facts.span, 1.0)
        return max(spread - (guess.value / facts.span) ** 2, 0.0)
    share = (guess.value - facts.low) / facts.span
    return share * (1 - share)


def _facts(offer: Offer) -> Facts:
    return Facts(offer.kind, offer.low, offer.high, offer.zero_one, offer.runs_code, offer.sensitivity)
