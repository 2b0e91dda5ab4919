"""Guess and check: agreement with a good guess is nearly free; a surprise costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from unworn.bounds import code_length, offset_nats
from unworn.errors import Unaskable
from unworn.events import Described, Event
from unworn.mechanisms.base import RAISED, Guess, Mechanism, Offer, Published, Reply, State, Symbol, has_failed
from unworn.mechanisms.cells import check_cells, check_step, edges, is_inside, locate
from unworn.mechanisms.coded import failure_nats, lone_failed, lone_nats
from unworn.mechanisms.limits import interval
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.rows import Raised, Rows

_LN2 = math.log(2)
_UPWARD = 1.0 + 1e-12
"""The length of a word that is made of what others leave is rounded up."""


@dataclass(frozen=True)
class GuessAndCheck(Mechanism):
    """Compare the rows with a guess, and release only the cell in which their value lies.

    Theorem C: if the transcript so far is one of a set of possible ones to which weights summing to one were
    given before the rows were drawn, an answer published at level ``(1 - confidence) × weight`` is right together
    with all the others. Agreement keeps the weight high; each surprise costs about ``ln(asks)`` nats plus the length
    of its offset. Nothing is assumed about how questions and guesses were chosen.

    Parameters
    ----------
    z
        How many standard errors of guess and holdout together still count as agreement.
    cell
        Width of a surprise's cell, as a share of the range; by default four standard errors at one half.
    pieces
        How many sub-cells sharpening chooses from.

    Examples
    --------
    >>> mechanism = GuessAndCheck()
    >>> state = mechanism.begin(rows=10_000, confidence=0.95)
    >>> offer = mechanism.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), Guess(0.9))
    >>> round(mechanism.widest(offer), 3), round(mechanism.publish_width(offer, 0), 3)
    (0.024, 0.024)

    References
    ----------
    Rogers, Roth, Smith, Srebro, Thakkar and Woodworth, "Guaranteed validity for empirical approaches to adaptive
    data analysis", AISTATS 2020; the graded code and exact limits are derived in ``docs/theory/code-length.md``.
    """

    theorem: ClassVar[str] = "code length (Theorem C)"
    tests: ClassVar[bool] = True
    prices_failure: ClassVar[bool] = True

    z: float = 4.0
    cell: float | None = None
    pieces: int = 8

    def __post_init__(self) -> None:
        if not (math.isfinite(self.z) and self.z > 0):
            raise ValueError(f"z must be a finite number above 0, not {self.z}")
        if self.cell is not None:
            check_step("cell", self.cell)
        check_cells("pieces", self.pieces)

    def after(self, state: State, event: Event) -> State:
        if not isinstance(event, Described):
            raise TypeError(f"guess-and-check does not know the event {event!r}")
        return state.further(event.surprise, event.nats)

    def spent(self, state: State) -> float:
        # The price of the next ask; at the end of a plan, that of the last.
        index = state.asked + 1 if state.planned is None else min(state.asked + 1, state.planned)
        return code_length(index, min(state.surprises, index - 1), state.nats, state.planned)

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        index = state.index(position)
        level = state.log_beta - code_length(index, state.surprises, state.nats, state.planned)
        kind = (facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code)
        if guess is None and facts.kind == "paired":
            guess = Guess(0.0)
        if guess is None:
            return Offer(index, state.rows, *kind, level, cells=math.ceil(1 / self._share(state.rows)))
        span, slack = facts.span, self._slack(facts, guess, state.rows)
        if not math.isfinite(slack):
            raise Unaskable(f"a guess with the standard error {guess.error:g} says nothing: give a smaller guess_se")
        return Offer(
            index,
            state.rows,
            *kind,
            level,
            guess=guess.value,
            slack=slack,
            cell=self._share(state.rows) * span,
            discordance=1.0 if guess.discordance is None else min(guess.discordance / span, 1.0),
        )

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        from unworn.mechanisms.judging import nominal_level  # loaded by those who test

        index = state.index(position)
        level = nominal_level(facts) - code_length(index, state.surprises, state.nats, state.planned)
        kind = (facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code)
        return Offer(index, state.rows, *kind, level, null=facts.null)

    def sharpen(self, state: State, told: Offer, symbol: Symbol) -> Offer:
        """The offer to ask the same question again inside the cell that was published."""
        if has_failed(symbol):
            raise ValueError("there is nothing to sharpen: the question's code failed on the rows")
        if told.null is not None:
            raise ValueError("there is nothing to sharpen: a test tells of no cell")
        index = state.index(0)
        spread, offset = _unpack(told, symbol)
        low, high = edges(told, offset)
        published = self.publish(told, symbol)
        return replace(
            told,
            index=index,
            log_level=state.log_beta - code_length(index, state.surprises, state.nats, state.planned),
            guess=None,
            slack=0.0,
            cell=0.0,
            cells=self.pieces,
            inside=(max(low, told.low), min(high, told.high)),
            # Code may answer otherwise the second time, so its two intervals need not speak of one question.
            within=None if told.runs_code else (published.low, published.high),
            discordance=spread,
        )

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        try:
            symbol = self._symbol(offer, query, rows) if offer.null is None else _judged(offer, query, rows)
        except Raised:
            symbol = RAISED
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        return Described(*self.cost(offer, symbol))

    def cost(self, offer: Offer, symbol: Symbol) -> tuple[bool, float]:
        """Whether a symbol is a surprise, and the length of its code word in nats.

        Kraft's inequality holds at every node: the words of all the symbols that are not surprises, and those of
        all that are, each sum to at most one. Questions that run code keep half of the surprises' words for "it
        raised", others the words of offsets beyond the range; paired ones keep half for "only the discordance was off".
        A test has one surprise: "rejected".
        """
        if has_failed(symbol):
            return True, _failure_nats(offer, symbol)
        if offer.null is not None:
            return (False, 0.0) if symbol == 0 else (True, lone_nats(offer))
        nats = _LN2 if offer.runs_code else 0.0
        if offer.guess is None:
            return False, math.log(offer.cells)
        if symbol == 0:
            return False, 0.0
        if isinstance(symbol, list):
            nats += math.log(_octaves(offer.rows) + 1) + _LN2
            offset = symbol[1]
        else:
            offset = int(symbol)
        return True, nats + (offset_nats(offset) if offset else 0.0)

    def prices(self, offer: Offer) -> tuple[float, float]:
        surprise: Symbol = [0, 1] if offer.kind == "paired" else 1
        return self.cost(offer, self.likely(offer))[1], self.cost(offer, surprise)[1]

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        spread, offset = _unpack(offer, symbol)
        cell = edges(offer, offset)
        low, high = interval(offer, cell, spread)
        if offer.within is not None:
            low, high = max(low, offer.within[0]), min(high, offer.within[1])
        if offer.guess is not None and symbol == 0:
            return Published(offer.guess, min(low, offer.guess), max(high, offer.guess), "guess")
        value = (max(cell[0], offer.low) + min(cell[1], offer.high)) / 2
        return Published(value, min(low, value), max(high, value), "surprise" if offer.guess is not None else "grid")

    def likely(self, offer: Offer) -> Symbol:
        return 0 if offer.guess is not None else locate(offer, (offer.low + offer.high) / 2)

    def widest(self, offer: Offer) -> float:
        # Limits are widest for values in the middle of the range, so the cells there (and agreement) bound the rest.
        middle = locate(offer, (offer.low + offer.high) / 2)
        near: list[Symbol] = []
        for offset in (middle - 1, middle, middle + 1):
            if offer.guess is None:
                near.append(min(max(offset, 0), offer.cells - 1))
            elif offset != 0:
                near.append([0, offset] if offer.kind == "paired" else offset)
        if offer.kind == "paired" and offer.guess is not None:
            near.append([0, 0])  # agreement in all but the discordance: the widest cell there is
        return max(self.publish_width(offer, symbol) for symbol in [*near, self.likely(offer)])

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """Nothing needs choosing: the defaults suit any number of rows and asks.

        >>> GuessAndCheck.for_(rows=10_000, asks=1_000)
        GuessAndCheck(z=4.0, cell=None, pieces=8)
        """
        return cls()

    def _share(self, rows: int) -> float:
        return self.cell if self.cell is not None else 1 / math.ceil(math.sqrt(rows) / 2)

    def _slack(self, facts: Facts, guess: Guess, rows: int) -> float:
        """z standard errors of holdout and guess together, in the question's own units."""
        holdout = facts.span * standard_error(_variance(facts, guess), rows)
        return self.z * math.hypot(holdout, holdout if guess.error is None else guess.error)

    def _symbol(self, offer: Offer, query: Query, rows: Rows) -> Symbol:
        if offer.kind == "paired":
            return self._paired_symbol(offer, query, rows)
        exact = offer.kind == "binary"
        value = int(rows.counts([query])[0]) / offer.rows if exact else float(rows.means([query])[0])
        if offer.inside is not None and not is_inside(offer, value):
            return RAISED
        return _with_a_word(offer, locate(offer, value))

    def _paired_symbol(self, offer: Offer, query: Query, rows: Rows) -> Symbol:
        difference, spread = (float(x) for x in rows.differences([query])[0])
        spread /= offer.span
        if offer.guess is None:
            # Sharpening: the cell and the discordance told before must still hold, or it is another question.
            holds = is_inside(offer, difference) and spread <= offer.discordance + 1e-9
            return locate(offer, difference) if holds else RAISED
        offset = _with_a_word(offer, locate(offer, difference))
        if offset == 0 and spread <= offer.discordance:
            return 0
        octave = _octaves(offer.rows) if spread == 0 else math.floor(-math.log2(spread))
        return [min(max(octave, 0), _octaves(offer.rows)), offset]


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


def _unpack(offer: Offer, symbol: Symbol) -> tuple[float, int]:
    """The bound on the observed discordance and the offset that a symbol tells."""
    if isinstance(symbol, list):
        octave, offset = symbol
        return 2.0**-octave, offset
    return offer.discordance, int(symbol)


def _farthest(offer: Offer, side: int) -> int:
    """How many cells a value of the range can lie above the guess (below, for -1), with one to spare for rounding."""
    guess = offer.guess or 0.0
    beyond = offer.high - guess if side > 0 else guess - offer.low
    return 1 + max(0, math.ceil((beyond - offer.slack) / offer.cell))


def _with_a_word(offer: Offer, offset: int) -> int:
    """An offset, unless no word is kept for it: the range cannot reach so far."""
    if offset and offer.guess is not None and abs(offset) > _farthest(offer, offset):
        raise Raised
    return offset


def _failure_nats(offer: Offer, symbol: Symbol) -> float:
    """The length of a word for what fails: made of the words that do not come up.

    The words of the offsets o beyond the last one, k, of one side are 1/(2·o(o + 1)) each, 1/(2(k + 1)) together. On
    the grid nothing else is a surprise.
    """
    if offer.null is not None:
        return lone_failed(offer, symbol).nats
    if offer.guess is None:
        return _LN2
    free = 0.5 / (_farthest(offer, -1) + 1) + 0.5 / (_farthest(offer, 1) + 1)
    return failure_nats(offer, symbol, -math.log(free / 2 if offer.kind == "paired" else free) * _UPWARD)


def _octaves(rows: int) -> int:
    return (rows - 1).bit_length()


def _judged(offer: Offer, query: Query, rows: Rows) -> Symbol:
    from unworn.mechanisms.judging import judged

    return judged(offer, query, rows)
