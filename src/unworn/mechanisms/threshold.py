"""What mechanisms with a secret threshold share: only whether a noisy count is above it is told.

Being below is nearly free, however often it is asked; only the answers "above" are counted, and after so many of them
the run ends. The threshold's noise is secret and outlives an ask: it is drawn again from the holdout's key each time,
and never stored. Prices come from the plan, once, as for all noisy answers.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from unworn.errors import Exhausted, Unaskable
from unworn.events import Crossed, Event
from unworn.mechanisms.base import Guess, Mechanism, Offer, Published, Reply, State, Symbol
from unworn.mechanisms.noisy import number
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.rows import Rows

if TYPE_CHECKING:
    from unworn.bounds.sparse import Run
    from unworn.bounds.transfer import Price

_MOST_NOISE = 2.0**52
BELOW = "below"
"""The symbol for a count that was not above: the only one that can be told without end."""


@dataclass(frozen=True)
class Threshold(Mechanism):
    """A noisy count is held against a noisy threshold; what was above ends the threshold."""

    currency: ClassVar[str] = "tops"
    reads: ClassVar[Literal["values", "rounded", "draws"]] = "rounded"
    theorem: ClassVar[str] = "privacy transfer (Theorem D2)"
    choices: ClassVar[tuple[str, ...]]
    """Parameters that the plan chooses where they are None."""

    price: tuple[float, float, float] | None = field(default=None, kw_only=True)
    """(noise, tilt, floor) of the whole plan, worked out when the rows are sealed and recorded with the terms."""

    # ------------------------------------------------------------------ what each mechanism says of itself

    @property
    @abstractmethod
    def limit(self) -> int:
        """How often "above" may be told."""

    @abstractmethod
    def run(self, rows: int) -> Run:
        """The noise, in rows."""

    @abstractmethod
    def compared(self, offer: Offer, count: int) -> tuple[int, int]:
        """What is held against what: a whole number that one row changes by one at most, and the public threshold."""

    @abstractmethod
    def told(self, offer: Offer, count: int, noise: Stream) -> Symbol:
        """What is released of a count that was above."""

    @abstractmethod
    def chosen(self, rows: int, asks: int, beta: float) -> Self:
        """This configuration with what it leaves open chosen for the narrowest intervals."""

    # ------------------------------------------------------------------ the plan

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        name = type(self).__name__
        if asks is None:
            raise ValueError(f"{name} is priced once, from its plan: give Holdout(asks=...)")
        if open_ := self._open():
            raise ValueError(f"{name} needs {'=, '.join(open_)}=, or {name}.for_(rows={rows}, asks={asks}) to choose")
        state = super().begin(rows, confidence, asks)
        if max(self.run(rows).threshold, self.run(rows).question) > _MOST_NOISE:
            raise ValueError(
                f"{name} would draw noise of more than 2**52 rows: take a larger epsilon, or a smaller scale"
            )
        found = price(replace(self, price=None), rows, asks, state.log_beta)
        if self.price is not None and not self._holds(found, asks, rows, state.log_beta):
            raise ValueError(f"the price {self.price} of this plan is too low: it would not hold")
        return state

    def _holds(self, found: Price, asks: int, rows: int, log_beta: float) -> bool:
        """Whether a recorded price is one that the theorem gives, though this version might choose another."""
        from unworn.bounds.crossing import run_floor

        noise, tilt, floor = self.price or (0.0, 0.0, 0.0)
        slip = 1 - 1e-6  # what recovering eps from the tilt may lose
        if not 0 <= tilt <= 2 or noise < found.noise * slip:
            return False
        # A floor of 1 is the whole range, whatever the tilt.
        return floor >= 1 or (tilt < 2 and floor >= run_floor(self.run(rows), asks, math.exp(log_beta), tilt) * slip)

    def settled(self, rows: int, confidence: float, asks: int | None) -> Self:
        if asks is None:
            return self
        plain = replace(self, price=None)
        chosen = plain.chosen(rows, asks, 1 - confidence) if self._open() else plain
        found = price(chosen, rows, asks, chosen.begin(rows, confidence, asks).log_beta)
        return replace(chosen, price=(found.noise, found.tilt, found.floor))

    def complete(self) -> bool:
        return self.price is not None

    def accepts(self, sealed: Mechanism) -> bool:
        if type(sealed) is not type(self):
            return False
        taken = {name: getattr(sealed, name) for name in ("price", *self._open())}
        return replace(self, **taken) == sealed

    def _open(self) -> list[str]:
        return [name for name in self.choices if getattr(self, name) is None]

    # ------------------------------------------------------------------ one ask

    def check(self, facts: Facts) -> None:
        super().check(facts)
        if facts.runs_code:
            raise Unaskable(
                f"{type(self).__name__} hides what one row can change, and code that sees all the rows may change "
                "everything because of one: ask with an array of predictions or an expression, or use GuessAndCheck"
            )

    def after(self, state: State, event: Event) -> State:
        if not isinstance(event, Crossed):
            raise TypeError(f"{type(self).__name__} does not know the event {event!r}")
        return self.passed(state, event.above)

    def passed(self, state: State, above: bool) -> State:
        """One more ask; what was above is counted, and a threshold that ends is named by the next one's first ask."""
        asked = state.asked + 1
        if not above:
            return replace(state, asked=asked)
        fresh = asked if self.run(state.rows).fresh else state.round
        return replace(state, asked=asked, surprises=state.surprises + 1, round=fresh)

    def spent(self, state: State) -> float:
        return float(state.surprises)

    def prices(self, offer: Offer) -> tuple[float, float]:
        return 0.0, 1.0

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        index = state.index(position)
        left = self.limit - state.surprises
        if left <= position:
            # Decided before any answer of the batch: which of them come out above is for the rows to say.
            fix = (
                "Seal fresh rows, or allow for more next time."
                if left <= 0
                else f"All of a batch may come out above: ask at most {left:,} together."
            )
            raise Exhausted(
                f"{state.surprises:,} of {self.limit:,} answers above the threshold have been given.\n  {fix}",
                tops=state.surprises,
                planned=self.limit,
                asked=state.asked,
            )
        paid = self.price
        if paid is None:
            found = price(self, state.rows, state.planned or 1, state.log_beta)
            paid = (found.noise, found.tilt, found.floor)
        return Offer(
            index,
            state.rows,
            facts.kind,
            facts.low,
            facts.high,
            facts.zero_one,
            facts.runs_code,
            state.log_beta,
            slack=_empirical(self, state.rows, state.planned or 1, state.log_beta),
            steps=state.rows,
            price=paid,
        )

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        if noise is None:
            raise TypeError(f"{type(self).__name__} draws noise from the holdout's key, and was given none")
        from unworn.noise.laplace import laplace

        run = self.run(offer.rows)
        count = rows.rounded([query], [noise])[0]
        held, level = self.compared(offer, count)
        secret = int(laplace(noise.beside("threshold", state.round), run.threshold, 1)[0])
        above = held + int(laplace(noise, run.question, 1)[0]) >= level + secret
        symbol = self.told(offer, count, noise) if above else BELOW
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        return Crossed(symbol != BELOW)

    def publish(self, offer: Offer, symbol: Symbol) -> Published:
        if self.price is not None and offer.price != self.price:
            raise ValueError("this answer was not made at the price of its plan")
        return super().publish(offer, symbol)

    def numbers(self, offer: Offer) -> dict[str, float]:
        paid = dict(zip(("noise", "tilt", "floor"), offer.price or (), strict=False))
        return {**paid, "epsilon": self.run(offer.rows).epsilon, "tops": self.limit, "empirical_error": offer.slack}

    def likely(self, offer: Offer) -> Symbol:
        return BELOW


@lru_cache(maxsize=256)
def price(mechanism: Threshold, rows: int, asks: int, log_beta: float) -> Price:
    """What a plan costs, computed once: no run has more thresholds than asks."""
    from unworn.bounds.crossing import run_price

    return run_price(mechanism.run(rows), rows, asks, math.exp(log_beta))


@lru_cache(maxsize=256)
def _empirical(mechanism: Threshold, rows: int, asks: int, log_beta: float) -> float:
    """By which share the rows themselves can be on the wrong side, with the plan's confidence."""
    from unworn.bounds.sparse import empirical_error

    return empirical_error(mechanism.run(rows), asks, math.exp(log_beta)) / rows


def paid_for(offer: Offer) -> Price:
    """The price an offer was made at."""
    from unworn.bounds.transfer import Price

    if offer.price is None:
        raise TypeError("an answer about a threshold has a price")
    return Price(*offer.price)


def released(symbol: Symbol) -> int:
    """The count that was released, if it is one: a symbol of a ledger may be anything."""
    if isinstance(symbol, bool) or not isinstance(symbol, int):
        raise TypeError(f"what is above the threshold is told as a whole number of rows, not as {symbol!r:.40}")
    return symbol


def check_share(name: str, value: float | None, low: float = 0.0, high: float = 1.0) -> None:
    if value is not None and not low <= number(name, value) <= high:
        raise ValueError(f"{name} is a share of the range, in [{low:g}, {high:g}], not {value!r}")


def check_positive(name: str, value: float | None, most: float = math.inf) -> None:
    if value is not None and not (0 < number(name, value) <= most and value < math.inf):
        upper = "finite" if most == math.inf else f"at most {most:g}"
        raise ValueError(f"{name} must be above 0 and {upper}, not {value!r}")


def check_yes_no(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is True or False, not {value!r}")


def check_limit(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a whole number from 1, not {value!r}")
