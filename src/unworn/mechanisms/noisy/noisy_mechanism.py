"""What noisy mechanisms share: an integer count plus integer noise, priced once from the plan.

One row can change the count by one, so the noise hides it; what is hidden cannot be overfitted (Theorem D2; Theorem F
for noisy means, in ``noisy_mean``). The width depends on the *planned* number of asks alone: every answer has the same,
early or late, and the ask past the plan is refused. A width taken from the running budget would be narrower at first,
and would not hold.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self, SupportsFloat

from unworn.basics.float_settings import with_usual_floats
from unworn.errors import TooFewRows
from unworn.events import Event, Noised
from unworn.mechanisms.contract.mechanism import Guess, Offer, Published, Reply, State, Symbol
from unworn.mechanisms.noisy.noisy_verdicts import Paid, ReadsVerdicts
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload, noise_payload, price
from unworn.noise import Stream
from unworn.queries.hypothesis import Hypothesis
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows

if TYPE_CHECKING:
    from unworn.bounds.privacy import Profile


@dataclass(frozen=True)
class Noisy(ReadsVerdicts):
    """A count of rows, or of rows rounded at random to 0 or 1, with fresh integer noise.

    ``scale`` says how much, as a share of the range; None leaves the choice to the plan: the noise that makes the
    intervals narrowest for its rows, asks and confidence.
    """

    currency: ClassVar[str] = "mu"
    choices: ClassVar[tuple[str, ...]] = ("scale",)
    certificates: ClassVar[tuple[str, ...]]
    """Under which names ``transfer.widths`` lists this noise, one for each theorem that may price it."""

    scale: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None:
            scale = number("scale, the noise as a share of the range,", self.scale)
            if not 0 < scale < math.inf:
                raise ValueError(f"scale is the noise as a share of the range, finite and above 0, not {self.scale!r}")
            object.__setattr__(self, "scale", scale)
        if self.price is not None:
            object.__setattr__(self, "price", tuple(map(float, self.price)))

    # ------------------------------------------------------------------ the noise, as each mechanism has it

    @abstractmethod
    def noised(self, rows: int) -> Noised:
        """How one answer is made, for the accountant."""

    @abstractmethod
    def draw(self, rows: int, noise: Stream) -> int:
        """Fresh noise, in steps."""

    def steps(self, rows: int) -> int:
        """Into how many steps the range is cut: one per row, unless a finer grid costs nothing."""
        return rows

    def rate(self, rows: int) -> float:
        """The Gaussian-equivalent privacy loss of a single answer, for the meter."""
        return 1 / self.noised(rows).scale

    # ------------------------------------------------------------------ the plan

    def profile(self, rows: int, asks: int) -> Profile:
        from unworn.bounds.privacy import profile

        return profile(self.noised(rows), rows, asks)

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        state = super().begin(rows, confidence, asks)
        if not self.half_width(rows, asks or 1, state.log_beta) < 0.5:
            raise TooFewRows(
                f"with {rows:,} rows no noise of this size keeps {asks:,} asks within half the range at "
                f"{100 * confidence:.6g} %: bring more rows, plan fewer asks, or see unworn.plan for other mechanisms"
            )
        return state

    def half_width(self, rows: int, asks: int, log_beta: float) -> float:
        """What no interval of a plan passes to either side of its answer."""
        return price(replace(self, price=None), rows, asks, log_beta).width

    def chosen(self, rows: int, asks: int, beta: float) -> Self:
        return replace(self, scale=self.best(rows, asks, beta)[0])

    @classmethod
    @with_usual_floats
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """The noise that makes every answer's interval narrowest; refused when even that is wider than ``width``."""
        scale, narrowest = cls().best(rows, asks, 1 - confidence)
        check_goal(cls.__name__, narrowest, width, rows, asks)
        return cls(scale)

    def best(self, rows: int, asks: int, beta: float) -> tuple[float, float]:
        """The scale with the narrowest intervals, and their half-width."""
        from unworn.bounds.transfer import best_scale

        scale, width = best_scale(self.certificates[-1], rows, asks, beta)
        return scale / rows, width

    # ------------------------------------------------------------------ one ask

    def after(self, state: State, event: Event) -> State:
        if event != self.noised(state.rows):
            raise TypeError(f"{type(self).__name__} of this plan does not know the event {event!r}")
        return state.further()

    def spent(self, state: State) -> float:
        return math.sqrt(state.asked) * self.rate(state.rows)

    def prices(self, offer: Offer) -> tuple[float, float]:
        cost = (math.sqrt(offer.index) - math.sqrt(offer.index - 1)) * self.rate(offer.rows)
        return cost, cost

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        return self.priced(state, state.index(position), facts, self.steps(state.rows))

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        if noise is None:
            raise TypeError(f"{type(self).__name__} draws noise from the holdout's key, and was given none")
        symbol = self.count(offer, query, rows, noise) + self.draw(offer.rows, noise)
        return Reply(symbol, self.event(offer, symbol))

    def count(self, offer: Offer, query: Query, rows: Rows, noise: Stream) -> int:
        """The rows' own value, in steps: what one row can change by no more than the steps of one row."""
        payload = noise_payload(offer)
        if payload.sensitivity is None:
            return (payload.steps // offer.rows) * rows.rounded([query], [noise])[0]
        from fractions import Fraction

        query = query.query if isinstance(query, Hypothesis) else query
        # One row moves it by less than a unit, so the rounded value by one at most: exactly, and not in floats.
        above = Fraction(rows.statistic(query)) - Fraction(offer.low)
        return math.floor(above * (payload.steps // offer.rows) / Fraction(unit(offer)) + Fraction(1, 2))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        return self.noised(offer.rows)

    def reveal_noisy(self, offer: Offer, payload: PlannedNoisePayload, symbol: Symbol) -> Published:
        if not isinstance(symbol, int) or payload.steps != self.steps(offer.rows):
            raise TypeError("a noisy answer is a whole number of steps at a price")
        released, (low, high) = symbol / payload.steps, self.offer_limits(offer, payload, symbol)
        reach, rounding = offer.high - offer.low, 0.0
        if payload.sensitivity is not None:
            # All rows together can move it so far; its value was rounded to whole steps.
            reach, rounding = offer.rows * unit(offer), offer.rows * unit(offer) / (2 * payload.steps)
        value, low, high = (offer.low + reach * share for share in (released, low, high))
        low, high = max(low - rounding, offer.low), min(high + rounding, offer.high)
        if low > high:
            low, high = offer.low, offer.high
        return Published(min(max(value, low), high), low, high, "noise")

    def offer_limits(self, offer: Offer, payload: PlannedNoisePayload, symbol: int) -> tuple[float, float]:
        """The population's share, or statistic in units of what all rows can move, given a released number of steps."""
        from unworn.bounds.transfer import Price

        released, paid = symbol / payload.steps, Price(*payload.price)
        if payload.sensitivity is not None:
            return released - paid.width, released + paid.width
        if not -paid.noise - paid.floor <= released <= 1 + paid.noise + paid.floor:
            return 0.0, 1.0  # no share is near it, so this is one of the misses: nothing is known
        return paid.limits(released)

    def price_at(self, paid: Paid, noise: float, nats: float) -> Paid:
        """The tilt stays the plan's, and so the limits of smaller levels enclose those of larger ones."""
        return noise, paid[1], min(1.0, paid[2] * math.exp(min(nats, 700.0)))

    def likely(self, offer: Offer) -> Symbol:
        payload = noise_payload(offer)
        if payload.sensitivity is None:
            return payload.steps // 2
        return round((offer.high - offer.low) / (2 * unit(offer)) * (payload.steps / offer.rows))

    def extreme(self, offer: Offer, side: int) -> Symbol:
        payload = noise_payload(offer)
        if side < 0:
            return 0
        if payload.sensitivity is None:
            return payload.steps
        return round((offer.high - offer.low) / unit(offer) * (payload.steps / offer.rows))


def unit(offer: Offer) -> float:
    """What a statistic is counted in: its sensitivity, and a little more than floats may have rounded it by."""
    size = max(abs(offer.low), abs(offer.high), offer.high - offer.low)
    return (offer.payload.sensitivity or 0.0) + 2.0**-44 * size


def number(what: str, value: object) -> float:
    """A parameter as a plain float, of whatever kind of number it came as."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat) or isinstance(value, str):
        raise ValueError(f"{what} must be a number, not {value!r}")
    return float(value)


def check_goal(name: str, narrowest: float, width: float | None, rows: int, asks: int) -> None:
    goal = 0.5 if width is None else number("width", width)
    if not 0 < goal <= 0.5:
        raise ValueError(f"width is a half-width in (0, 0.5], not {width!r}")
    if not narrowest <= goal or narrowest >= 0.5:
        raise ValueError(
            f"{name} cannot do better than ± {narrowest:.4g} with {rows:,} rows and {asks:,} asks"
            + ("" if width is None else f", and ± {width:g} is wanted")
            + ": bring more rows, plan fewer asks, or see unworn.plan for other mechanisms"
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
