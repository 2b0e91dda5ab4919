"""PrivateLadder: a board that tells only real steps up, behind a secret threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from unworn.basics.frozen_init import assign_fields
from unworn.errors import Unaskable
from unworn.events import Climbed, Event
from unworn.mechanisms.contract.capabilities import BoundsWidth
from unworn.mechanisms.contract.conversation import published_width
from unworn.mechanisms.contract.mechanism import Guess, Offer, Published, State, Symbol
from unworn.mechanisms.noisy.noisy_mechanism import check_goal
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload, price
from unworn.mechanisms.threshold.secret_threshold import (
    BELOW,
    Threshold,
    ThresholdPayload,
    check_limit,
    check_positive,
    check_share,
    check_yes_no,
    paid_for,
    released_count,
    threshold_payload,
)
from unworn.noise import Stream
from unworn.queries.query import Facts, has_length

if TYPE_CHECKING:
    from unworn.bounds.sparse.sparse_vector_bounds import Run


@assign_fields
@dataclass(frozen=True, slots=True)
class ClimbPayload(ThresholdPayload):
    """Besides: how many steps the best score so far is above the baseline."""

    best: int = 0


def climb_payload(offer: Offer) -> ClimbPayload:
    """That of an answer about a submission."""
    if not isinstance(offer.payload, ClimbPayload):
        raise TypeError("a submission is held against the best so far, and this offer names none")
    return offer.payload


@dataclass(frozen=True)
class PrivateLadder(Threshold, BoundsWidth):
    """Compare each score with the best so far plus one step; only a score above that is told, and becomes the best.

    The best score is public, so each submission is one comparison of the sparse vector technique. The score of an
    improvement is released with noise, and the best moves up by whole steps, at least one, and never down. Nothing else
    is told. The error grows like the fourth root of ``tops``.

    Parameters
    ----------
    step
        How much better a score must be, as a share of the range; None for a step that noise alone does not reach.
    epsilon
        What one threshold may reveal about one row; None leaves it to the plan.
    tops
        How many improvements are told.
    baseline
        A score to beat, known beforehand, in the metric's own units; None for the worst score there is. Then the first
        submission counts as an improvement, unless it is within a step and noise of the worst.
    higher
        Whether a higher score is better; ``False`` for losses.
    range
        The metric's range, which all submissions share.

    Examples
    --------
    >>> from unworn.queries.query import Facts
    >>> board = PrivateLadder(step=0.02, epsilon=0.02, tops=5, baseline=0.5)
    >>> state = board.begin(100_000, 0.95, asks=1_000)
    >>> offer = board.offer(state, Facts("binary", 0.0, 1.0, True), None)
    >>> offer.payload.best, round(board.reveal(offer, "below").high, 3), board.event(offer, 61_000)
    (0, 0.57, Climbed(steps=6, nats=0.0))

    References
    ----------
    Blum and Hardt, "The Ladder", ICML 2015; Hardt, "Climbing a shaky ladder", 2017.
    """

    choices: ClassVar[tuple[str, ...]] = ("step", "epsilon")

    step: float | None = None
    epsilon: float | None = None
    tops: int = 10
    baseline: float | None = None
    higher: bool = True
    range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_positive("step", self.step)
        check_share("step", self.step)
        check_positive("epsilon", self.epsilon, 700.0)
        check_limit("tops", self.tops)
        check_yes_no("higher", self.higher)
        ends = self.range if isinstance(self.range, tuple | list) else ()
        if len(ends) != 2 or not has_length(*ends):
            raise ValueError(f"range is the metric's lowest and highest value, both finite, not {self.range!r}")
        low, high = float(self.range[0]), float(self.range[1])
        object.__setattr__(self, "range", (low, high))  # a ledger has it as a list
        if self.baseline is not None and not low <= self.baseline <= high:
            raise ValueError(f"baseline must lie in the range [{low:g}, {high:g}], in its units, not {self.baseline!r}")

    @property
    def limit(self) -> int:
        return self.tops

    def run(self, rows: int) -> Run:
        from unworn.bounds.sparse.sparse_vector_bounds import Run

        unit = 1.0 / (self.epsilon or 1.0)
        return Run(2.0 * unit, 4.0 * unit, 4.0 * unit, self.tops)

    # ------------------------------------------------------------------ scores, in rows: more is better

    def stride(self, rows: int) -> int:
        """One step, in whole rows."""
        return max(1, round((self.step or 0.0) * rows))

    def best(self, offer: Offer) -> int:
        """The score to beat: so many steps above the baseline."""
        worst, top = self.range if self.higher else reversed(self.range)
        start = 0.0 if self.baseline is None else (self.baseline - worst) / (top - worst)
        return round(start * offer.rows) + climb_payload(offer).best * self.stride(offer.rows)

    def score(self, offer: Offer, count: int) -> int:
        return count if self.higher else offer.rows - count

    # ------------------------------------------------------------------ one ask

    def check(self, facts: Facts) -> None:
        super().check(facts)
        if facts.kind == "paired":
            raise Unaskable("a board has one score per submission, and compares it with the best by itself")
        if (facts.low, facts.high) != self.range:
            raise Unaskable(
                f"this board's scores lie in [{self.range[0]:g}, {self.range[1]:g}], and this question's in "
                f"[{facts.low:g}, {facts.high:g}]: all submissions share one metric, and range= is its range"
            )

    def after(self, state: State, event: Event) -> State:
        if not isinstance(event, Climbed) or event.steps < 0:
            raise TypeError(f"PrivateLadder does not know the event {event!r}")
        return replace(self.passed(state, event.steps > 0), best=(state.best or 0) + event.steps)

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        if position:
            raise Unaskable(
                "a ladder is climbed one submission at a time: each is compared with the best before it, "
                "which others in a batch may have raised"
            )
        offer = super().offer(state, facts, guess, position)
        told = threshold_payload(offer)
        return offer.with_payload(ClimbPayload(told.steps, told.price, told.sensitivity, told.slack, state.best or 0))

    def compared(self, offer: Offer, count: int) -> tuple[int, int]:
        return self.score(offer, count), self.best(offer) + self.stride(offer.rows)

    def released_count(self, offer: Offer, count: int, noise: Stream) -> Symbol:
        from unworn.noise import discrete_laplace

        scale = self.run(offer.rows).value or 1.0
        return self.score(offer, count) + int(discrete_laplace.laplace(noise, scale, 1)[0])

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        if symbol == BELOW:
            return Climbed(0, 0.0)
        # What was above climbs by one step at least: the next must be better than it, whatever its noise was.
        gained = min(released_count(symbol), offer.rows) - self.best(offer)
        return Climbed(max(1, round(gained / self.stride(offer.rows))), 0.0)

    def reveal_noisy(self, offer: Offer, payload: PlannedNoisePayload, symbol: Symbol) -> Published:
        paid, rows = paid_for(payload), offer.rows
        if symbol == BELOW:
            best = self.best(offer)
            low, high = 0.0, paid.limits((best + self.stride(rows)) / rows)[1]
            value = min(best / rows, high)
        else:
            value = min(max(released_count(symbol) / rows, 0.0), 1.0)
            low, high = paid.limits(released_count(symbol) / rows)
            low, high = min(low, value), max(high, value)
        if not self.higher:
            value, low, high = 1.0 - value, 1.0 - high, 1.0 - low
        value, low, high = (min(offer.low + (offer.high - offer.low) * end, offer.high) for end in (value, low, high))
        return Published(value, low, high, "not better" if symbol == BELOW else "ladder")

    def likely(self, offer: Offer) -> Symbol:
        """A climb by one step: what is submitted is hoped to be one, and its width is what one wants to know."""
        return min(self.best(offer) + self.stride(offer.rows), offer.rows)

    def widest(self, offer: Offer) -> float:
        """Of a score that goes on the board: "not better" is no score, and bounded on one side."""
        return published_width(self, offer, offer.rows // 2)

    # ------------------------------------------------------------------ the plan

    def chosen(self, rows: int, asks: int, beta: float) -> Self:
        """Noise for the narrowest intervals, and a step that no score climbs by noise alone, but with ``beta``."""
        from unworn.bounds.sparse.crossing import best_factor, false_alarm

        found = self
        if self.epsilon is None:
            one = replace(self, epsilon=1.0).run(rows)
            found = replace(self, epsilon=1.0 / best_factor(one, rows, asks, beta, cleared=self.step is None))
        if found.step is not None:
            return found
        return replace(found, step=min(1.0, (false_alarm(found.run(rows), asks, beta) + 1.0) / rows))

    @classmethod
    def for_(
        cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95, tops: int = 10
    ) -> Self:
        """Noise and step that make intervals narrowest; ``width`` is that of a score that climbed."""
        best = cls(tops=tops).settled(rows, confidence, asks)
        narrowest = price(best, rows, asks, best.begin(rows, confidence, asks).log_beta).width
        check_goal(cls.__name__, narrowest, width, rows, asks)
        return best
