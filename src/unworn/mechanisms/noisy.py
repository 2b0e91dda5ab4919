"""What noisy mechanisms share: an integer count plus integer noise, priced once from the plan.

One row can change the count by one, so the noise hides it; what is hidden cannot be overfitted (Theorem D2). The width
depends on the *planned* number of asks alone: every answer has the same, early or late, and the ask past the
plan is refused. A width taken from the running budget would be narrower at first, and would not hold.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from unworn.errors import Unaskable
from unworn.events import Event, Noised
from unworn.mechanisms.base import Guess, Mechanism, Offer, Published, Reply, State, Symbol
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.rows import Rows

if TYPE_CHECKING:
    from unworn.bounds.transfer import Price


@dataclass(frozen=True)
class Noisy(Mechanism):
    """A count of rows, or of rows rounded at random to 0 or 1, with fresh integer noise.

    ``scale`` says how much, as a share of the range; None leaves the choice to the plan: the noise that makes the
    intervals narrowest for its rows, asks and confidence.
    """

    currency: ClassVar[str] = "mu"
    reads: ClassVar[Literal["values", "rounded", "draws"]] = "rounded"
    theorem: ClassVar[str] = "privacy transfer (Theorem D2)"
    certificate: ClassVar[str]
    """Under which name ``transfer.widths`` lists this noise."""

    scale: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and not 0 < self.scale < math.inf:
            raise ValueError(f"scale is the noise as a share of the range, finite and above 0, not {self.scale!r}")

    # ------------------------------------------------------------------ the noise, as each mechanism has it

    @abstractmethod
    def noised(self, rows: int) -> Noised:
        """How one answer is made, for the accountant."""

    @abstractmethod
    def largest(self, rows: int, asks: int, beta: float) -> float:
        """How far, as a share, the worst of all released counts lies from the rows' own: its CVaR at ``beta``."""

    @abstractmethod
    def draw(self, rows: int, noise: Stream) -> int:
        """Fresh noise, in steps."""

    def steps(self, rows: int) -> int:
        """Into how many steps the range is cut: one a row, unless a finer grid costs nothing."""
        return rows

    def rate(self, rows: int) -> float:
        """The Gaussian-equivalent privacy loss of a single answer, for the meter."""
        return 1 / self.noised(rows).scale

    # ------------------------------------------------------------------ the plan

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        name = type(self).__name__
        if asks is None:
            raise ValueError(f"{name} is priced once, from its plan: give Holdout(asks=...)")
        if self.scale is None:
            raise ValueError(f"{name} needs scale=..., or {name}.for_(rows={rows}, asks={asks}) to choose it")
        state = super().begin(rows, confidence, asks)
        price(self, rows, asks, state.log_beta)
        return state

    def settled(self, rows: int, confidence: float, asks: int | None) -> Self:
        if self.scale is not None or asks is None:
            return self
        return replace(self, scale=self.best(rows, asks, 1 - confidence)[0])

    def accepts(self, sealed: Mechanism) -> bool:
        if isinstance(sealed, type(self)) and self.scale is None:
            return replace(self, scale=sealed.scale) == sealed
        return self == sealed

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """The noise that makes every answer's interval narrowest; refused when even that is wider than ``width``."""
        scale, narrowest = cls().best(rows, asks, 1 - confidence)
        check_goal(cls.__name__, narrowest, width, rows, asks)
        return cls(scale)

    def best(self, rows: int, asks: int, beta: float) -> tuple[float, float]:
        """The scale with the narrowest intervals, and their half-width."""
        from unworn.bounds.transfer import best_scale

        scale, width = best_scale(self.certificate, rows, asks, beta)
        return scale / rows, width

    # ------------------------------------------------------------------ one ask

    def check(self, facts: Facts) -> None:
        if facts.runs_code and facts.kind != "statistic":
            # One row could make it fail on all of them, or predict otherwise: no noise hides that.
            raise Unaskable(
                f"{type(self).__name__} hides what one row can change, and code that sees all the rows may change "
                "everything because of one: ask with an array of predictions or an expression, or use GuessAndCheck"
            )

    def after(self, state: State, event: Event) -> State:
        if event != self.noised(state.rows):
            raise TypeError(f"{type(self).__name__} of this plan does not know the event {event!r}")
        return replace(state, asked=state.asked + 1)

    def spent(self, state: State) -> float:
        return math.sqrt(state.asked) * self.rate(state.rows)

    def prices(self, offer: Offer) -> tuple[float, float]:
        cost = (math.sqrt(offer.index) - math.sqrt(offer.index - 1)) * self.rate(offer.rows)
        return cost, cost

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        index = state.index(position)
        paid = price(self, state.rows, state.planned or 1, state.log_beta)
        return Offer(
            index,
            state.rows,
            facts.kind,
            facts.low,
            facts.high,
            facts.zero_one,
            facts.runs_code,
            state.log_beta,
            steps=self.steps(state.rows),
            price=(paid.noise, paid.tilt, paid.floor),
            sensitivity=facts.sensitivity,
        )

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        if noise is None:
            raise TypeError(f"{type(self).__name__} draws noise from the holdout's key, and was given none")
        symbol = self.count(offer, query, rows, noise) + self.draw(offer.rows, noise)
        return Reply(symbol, self.event(offer, symbol))

    def count(self, offer: Offer, query: Query, rows: Rows, noise: Stream) -> int:
        """The rows' own value, in steps: what one row can change by no more than the steps of one row."""
        if offer.sensitivity is None:
            return (offer.steps // offer.rows) * rows.rounded([query], [noise])[0]
        from fractions import Fraction

        # Exactly: a quotient of floats could round two values apart that are one sensitivity apart.
        above = Fraction(rows.statistic(query)) - Fraction(offer.low)
        return math.floor(above * (offer.steps // offer.rows) / Fraction(offer.sensitivity) + Fraction(1, 2))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        return self.noised(offer.rows)

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        if not isinstance(symbol, int) or offer.price is None:
            raise TypeError("a noisy answer is a whole number of steps at a price")
        from unworn.bounds.transfer import Price

        released, paid = symbol / offer.steps, Price(*offer.price)
        if offer.sensitivity is None:
            (low, high), reach, rounding = paid.limits(released), offer.high - offer.low, 0.0
        else:
            # All rows together can move it so far; its value was rounded to whole steps.
            low, high, reach = released - paid.width, released + paid.width, offer.rows * offer.sensitivity
            rounding = reach / (2 * offer.steps)
        value, low, high = (offer.low + reach * share for share in (released, low, high))
        low, high = max(low - rounding, offer.low), min(high + rounding, offer.high)
        if low > high:  # far outside the range, and so one of the misses: the nearest end is as good as any
            low = high = min(max(value, offer.low), offer.high)
        return Published(min(max(value, low), high), low, high, "noise")

    def numbers(self, offer: Offer) -> dict[str, float]:
        return dict(zip(("noise", "tilt", "floor"), offer.price or (), strict=False))

    def likely(self, offer: Offer) -> Symbol:
        if offer.sensitivity is None:
            return offer.steps // 2
        return round((offer.high - offer.low) / (2 * offer.sensitivity) * (offer.steps / offer.rows))


@lru_cache(maxsize=256)
def price(mechanism: Noisy, rows: int, asks: int, log_beta: float) -> Price:
    """What a plan costs, computed once: the accountant's profile of all the planned asks, turned into an interval."""
    from unworn.bounds.privacy import profile
    from unworn.bounds.transfer import Price, stability

    beta = math.exp(log_beta)
    stable = stability(profile(mechanism.noised(rows), rows, asks), beta)
    return Price(mechanism.largest(rows, asks, beta), stable.tilt, stable.floor)


def check_goal(name: str, narrowest: float, width: float | None, rows: int, asks: int) -> None:
    if width is not None and narrowest > width:
        raise ValueError(
            f"{name} cannot do better than ± {narrowest:.4g} with {rows:,} rows and {asks:,} asks, and ± {width:g} is "
            "wanted: bring more rows, plan fewer asks, or see unworn.plan for other mechanisms"
        )


def minimum(width: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that falls and then rises is least: a coarse grid, then golden sections, to a hundredth."""
    step = (high - low) / 12
    middle = min((low + step * place for place in range(13)), key=width)
    low, high = max(middle - step, low), min(middle + step, high)
    golden = (math.sqrt(5) - 1) / 2
    while high - low > 0.01:
        first, second = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, second) if width(first) <= width(second) else (first, high)
    return (low + high) / 2
