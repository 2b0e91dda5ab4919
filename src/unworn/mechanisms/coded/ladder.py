"""The Ladder: a leaderboard that answers only to those who are a whole step better than the best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

from unworn.basics.frozen_init import assign_fields
from unworn.bounds.code_length import distance_nats, spare_chance
from unworn.bounds.numerics import LN2
from unworn.errors import Unaskable
from unworn.events import Climbed, Described, Event
from unworn.mechanisms.coded.coded_mechanism import (
    CodedMechanism,
    cell_nats,
    failure_event,
    fold_symbol,
    lone_failure_event,
    lone_nats,
    place_now,
    price_offer,
    publish_value,
    typical_state,
)
from unworn.mechanisms.coded.coded_payloads import CellsPayload, CodedPayload
from unworn.mechanisms.coded.guess_slack import declared_gauge
from unworn.mechanisms.coded.octave_words import grid_words, likely_octave, octave_nats, pack_steps, unpack_steps
from unworn.mechanisms.coded.rungs import Rungs
from unworn.mechanisms.contract.capabilities import AnswersSubsets, ExplainsNumbers, LimitsQuestions, UsesGauges
from unworn.mechanisms.contract.conversation import likely_width, refuse_statistics
from unworn.mechanisms.contract.mechanism import RAISED, Guess, Offer, Published, Reply, State, Symbol, has_failed
from unworn.mechanisms.noisy.noisy_mechanism import check_goal
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.exact_value import exact_value, spread_of
from unworn.mechanisms.symbols.symbol_cells import check_step, grid_of
from unworn.noise import Stream
from unworn.queries.query import SUBSETS, Facts, Query, has_length
from unworn.queries.row_protocol import Rows


@assign_fields
@dataclass(frozen=True, slots=True)
class RungPayload(CodedPayload):
    """A score is compared with the rung that the best so far has reached, of so many in all, and of a subset its rows
    with how many were declared (``gauge``). The first score, told without a baseline, is one of equal cells instead."""

    cells: int
    best: int
    place: tuple[str, float, float, int, int] | None = None
    kept: float = 0.0
    gauge: float | None = None


@dataclass(frozen=True)
class Ladder(CodedMechanism, AnswersSubsets, LimitsQuestions, UsesGauges, ExplainsNumbers):
    """Tell a submission by how many whole steps it is better than the best so far, or that it is not.

    Most submissions are not better, and being told so costs next to nothing; an improvement costs about eight nats, and
    up to about 2 ln d + 1 more for d steps (a nat makes the conversation e times less likely under a law fixed before
    it). So every score on the board holds for the population, however the submissions were chosen (Theorem C′). All
    submissions are scored by one metric: that they share the ``range`` is checked, the rest is up to the organiser.

    Of a share of a subset (recall, say) or a ranking, an improvement also tells the power of two by which fewer rows
    count than there are. That a submission is not better tells that as many count as were declared, by ``gauge=`` or
    ``train``; where nothing was declared, it says nothing of the population.

    Parameters
    ----------
    step
        What counts as an improvement, as a share of the range.
    baseline
        A score to beat, known beforehand, in the metric's own units. Without one the first submission is told which
        step of the range it reached, which costs the logarithm of the number of steps.
    higher
        Whether a higher score is better; ``False`` for losses.
    feedback
        ``"score"`` tells by how many steps; ``"bit"`` only that it was at least one, and the best then moves up by one.
        Intervals are then narrower, because there is less to pay for.
    range
        The metric's range.

    Examples
    --------
    >>> board = Ladder(step=0.005, baseline=0.5)
    >>> state = board.begin(rows=10_000, confidence=0.95, asks=1_000)
    >>> offer = board.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), None)
    >>> better = board.reveal(offer, 80)
    >>> round(better.value, 4), round(better.low, 3), round(better.high, 3)
    (0.9025, 0.885, 0.919)
    >>> worse = board.reveal(offer, 0)
    >>> worse.low, round(worse.high, 3), worse.source
    (0.0, 0.513, 'not better')

    References
    ----------
    Blum and Hardt, "The Ladder: a reliable leaderboard for machine learning competitions", ICML 2015; the code and the
    limits are derived in ``docs/mechanisms/ladder.md``.
    """

    needs_guess: ClassVar[bool] = False

    step: float
    baseline: float | None = None
    higher: bool = True
    feedback: Literal["score", "bit"] = "score"
    range: tuple[float, float] = (0.0, 1.0)

    @property
    def gauged_kinds(self) -> frozenset[str]:
        return SUBSETS

    def __post_init__(self) -> None:
        self.check_law()
        check_step("step", self.step)
        if self.feedback not in ("score", "bit"):
            raise ValueError(f"feedback is 'score' or 'bit', not {self.feedback!r}")
        if len(self.range) != 2 or not has_length(*self.range):
            raise ValueError(f"range is the metric's lowest and highest value, both finite, not {self.range!r}")
        object.__setattr__(self, "range", (float(self.range[0]), float(self.range[1])))  # a ledger has it as a list
        if self.baseline is not None and not self.range[0] <= self.baseline <= self.range[1]:
            raise ValueError(
                f"baseline must lie in the range [{self.range[0]:g}, {self.range[1]:g}], in its units, "
                f"not {self.baseline!r}"
            )
        if self.feedback == "bit" and self.baseline is None:
            raise ValueError("feedback='bit' goes up one step at a time, from a baseline: give baseline=")

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        state = super().begin(rows, confidence, asks)
        if self.baseline is None:
            return state
        return replace(state, best=Rungs(*self.range, self.step, self.higher).of(self.baseline))

    def check(self, facts: Facts) -> None:
        refuse_statistics(self, facts)
        if facts.kind == "paired":
            raise self.refused(facts, "a board has one score per submission; PairedLadder compares two")
        if (facts.low, facts.high) != self.range:
            raise Unaskable(
                f"this board's scores lie in [{self.range[0]:g}, {self.range[1]:g}], and this question's in "
                f"[{facts.low:g}, {facts.high:g}]: all submissions share one metric, and range= is its range"
            )

    def after(self, state: State, event: Event) -> State:
        if isinstance(event, Described):  # it raised
            if state.best is None and state.pattern is not None:
                return state.further(nats=event.nats)
            return fold_symbol(state, event.surprise, event.nats)
        if not isinstance(event, Climbed):
            raise TypeError(f"the Ladder does not know the event {event!r}")
        # The first score, told without a baseline, is one of equally long words, and no surprise.
        first = state.best is None
        later = state.further(nats=event.nats) if first else fold_symbol(state, event.steps > 0, event.nats)
        return replace(later, best=_rung(state.best) + event.steps) if event.steps else later

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        if position:
            raise Unaskable("a ladder is climbed one submission at a time: each is compared with the best before it")
        rungs = Rungs(facts.low, facts.high, self.step, self.higher)
        if state.best is None:  # the first score is one of equally long words
            return price_offer(state, facts, 0, CellsPayload(rungs.count, place_now(state, ""), state.kept))
        gauge = None if guess is None or facts.kind not in SUBSETS else declared_gauge(facts, guess, 0.0)
        return price_offer(state, facts, 0, RungPayload(rungs.count, state.best, place_now(state), state.kept, gauge))

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        symbol = exact_value(offer, query, rows)
        if symbol != RAISED:
            value, gauge = spread_of(offer, symbol)
            if offer.kind in SUBSETS and not gauge:  # of no rows nothing is known, and nothing is better
                value = offer.low if self.higher else offer.high
            climbed = self._rungs(offer).of(value) - _rung(_best(offer))
            symbol = pack_steps(offer, gauge, min(max(climbed, 0), self._most(offer)))
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        if has_failed(symbol):
            return self._failed(offer, symbol)
        _, steps = unpack_steps(offer, symbol, self._most(offer))
        nats = self._nats(offer, symbol)
        # Not better, but of fewer rows than were declared: a surprise that moves nothing.
        return Climbed(steps, nats) if steps or symbol == 0 else Described(True, nats)

    def _nats(self, offer: Offer, symbol: Symbol) -> float:
        """What a word costs: the words of surprises, and all the others, sum to at most one (Kraft's inequality)."""
        placed, (_, steps) = offer.payload.place is not None, unpack_steps(offer, symbol, self._most(offer))
        if _best(offer) is None:
            if steps == 0:
                raise ValueError("the first score reaches some rung")
            words = grid_words(offer, _cells(offer))
            return cell_nats(offer, words, steps) if placed else math.log(words)
        if symbol == 0:
            return 0.0
        if self.feedback == "bit":
            return lone_nats(offer) + octave_nats(offer)
        nats = LN2 * offer.runs_code + octave_nats(offer)
        if steps == 0:
            return nats
        return nats + (distance_nats(steps, self._most(offer)) if placed else math.log(steps * (steps + 1)))

    def _failed(self, offer: Offer, symbol: Symbol) -> Described:
        """The words for what fails are made of those for 1, 2, … steps that would lead past the last rung."""
        best, placed = _best(offer), offer.payload.place is not None
        if best is None and placed:
            return Described(False, cell_nats(offer, grid_words(offer, _cells(offer)), symbol))
        if best is None:  # under Theorem C the first score is no surprise: all the words of surprises are free
            return failure_event(offer, symbol, 0.0)
        if self.feedback == "bit":
            return lone_failure_event(offer, symbol)
        spare = spare_chance(self._most(offer)) if placed else 1.0 / (self._most(offer) + 1)
        declared = 0.0 if offer.payload.gauge is None else LN2  # half of the words tell that a bound does not hold
        return failure_event(offer, symbol, -math.log(spare) + 1e-12 + declared)

    def prices(self, offer: Offer) -> tuple[float, float]:
        calm, surprised = self.place_prices(offer)
        told = 0.0 if _best(offer) is not None else self._nats(offer, self.likely(offer))
        return calm + told, surprised + self._nats(offer, self.likely(offer))

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        rungs, (gauge, steps) = self._rungs(offer), unpack_steps(offer, symbol, self._most(offer))
        reached = _rung(_best(offer)) + steps
        if not steps:  # the board does not move, and shows what it showed
            cell = rungs.cell(0, reached)
        else:
            cell = rungs.cell(reached, rungs.count - 1 if self.feedback == "bit" else reached)
        source = "ladder" if steps else "not better"
        surprise, nats = symbol != 0 and _best(offer) is not None, self._nats(offer, symbol)
        if self.feedback == "bit":  # on which side of an edge the score lies
            limits = interval(offer, cell, gauge, self.log_one_side(offer, surprise, nats))
            return publish_value(rungs.edge(reached), limits, source)
        return publish_value(
            rungs.middle(reached), interval(offer, cell, gauge, self.log_side(offer, surprise, nats)), source
        )

    def numbers(self, offer: Offer) -> dict[str, float]:
        best = _best(offer)
        return {"step": self.step} if best is None else {"step": self.step, "best": float(best)}

    def likely(self, offer: Offer) -> Symbol:
        """An improvement by one step: what is submitted is hoped to be one, and its width is what one wants to know."""
        step = min(1, self._most(offer))
        return [likely_octave(offer), step] if step and offer.kind in SUBSETS else step

    def widest(self, offer: Offer) -> float:
        """The widest interval of a score that goes on the board: "not better" is no score, and bounded on one side."""
        rungs, least = self._rungs(offer), _rung(_best(offer)) + 1
        if offer.kind in SUBSETS:  # of a subset without rows nothing is known
            return offer.span / 2
        if self.feedback == "bit" or least >= rungs.count:
            return likely_width(self, offer)
        # Limits are widest in the middle of the range; a cell farther out may hold one row more.
        row = 1 / offer.rows if offer.kind == "binary" else 0.0
        # The longest word of all stands for each of them.
        level = self.log_side(offer, _best(offer) is not None, self._nats(offer, self._most(offer)))
        widths = []
        for rung in (rungs.count // 2 - 1, rungs.count // 2, rungs.count // 2 + 1):
            first, last = rungs.cell(min(max(rung, least), rungs.count - 1))
            low, high = interval(offer, (max(first - row, offer.low), min(last + row, offer.high)), 1.0, level)
            widths.append((high - low) / 2)
        return max(widths)

    def _rungs(self, offer: Offer) -> Rungs:
        return Rungs(offer.low, offer.high, self.step, self.higher)

    def _most(self, offer: Offer) -> int:
        """The largest number of steps there is to tell; 0 once the best is on the last rung."""
        left = _cells(offer) - 1 - _rung(_best(offer))
        return min(left, 1) if self.feedback == "bit" else left

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """Steps of a standard error at one half, below which scores differ by chance.

        >>> Ladder.for_(rows=10_000, asks=1_000).step
        0.005
        """
        ladder = cls(1 / math.ceil(2 * math.sqrt(rows)))
        last = replace(typical_state(ladder.begin(rows, confidence, asks), asks - 1, 0, 0.0), best=0)
        narrowest = ladder.widest(ladder.offer(last, Facts("binary", 0.0, 1.0, zero_one=True), None))
        check_goal(cls.__name__, narrowest, width, rows, asks)
        return ladder


def _best(offer: Offer) -> int | None:
    """The rung that the best score so far has reached; none before the first."""
    return offer.payload.best if isinstance(offer.payload, RungPayload) else None


def _cells(offer: Offer) -> int:
    """How many rungs there are."""
    return offer.payload.cells if isinstance(offer.payload, RungPayload) else grid_of(offer)[2]


def _rung(best: int | None) -> int:
    """Before the first score, the rung below all."""
    return -1 if best is None else best
