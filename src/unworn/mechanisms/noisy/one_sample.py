"""OneSample: one fresh row per ask, and one bit of it: the cheapest answer there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from unworn.errors import TooFewRows, Unaskable
from unworn.events import Drew, Event
from unworn.mechanisms.contract.mechanism import (
    Guess,
    Mechanism,
    Offer,
    Published,
    Reply,
    State,
    Symbol,
    refuse_subsets,
)
from unworn.mechanisms.noisy.noisy_mechanism import check_goal, number
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows


@dataclass(frozen=True)
class OneSample(Mechanism):
    """Draw one fresh row, see whether the question holds for it, and flip the bit with probability ``flip``.

    A sampling counting query asks for a coin, not for a number. The promise is that for every question, however it was
    chosen, the answer is 1 with a probability within 2·``flip`` of the population's share. The certificate has that
    number as ``chance``; the interval of a single bit is the whole range. Suited to algorithms that learn from single
    examples, such as stochastic gradient descent.

    Examples
    --------
    >>> one = OneSample.for_(rows=1_000_000, asks=100)
    >>> round(2 * one.flip, 3)
    0.012
    >>> one.begin(rows=10_000, confidence=0.95, asks=100)
    Traceback (most recent call last):
    ...
    unworn.errors.TooFewRows: ...

    References
    ----------
    Fish, Reyzin and Rubinstein, "Sampling without compromising accuracy in adaptive data analysis", ALT 2020.
    """

    currency: ClassVar[str] = "asks"
    reads: ClassVar[Literal["values", "rounded", "draws"]] = "draws"
    theorem: ClassVar[str] = "sampling counting queries (by Theorem D2)"

    flip: float | None = None

    def __post_init__(self) -> None:
        if self.flip is not None and not 0 < number("flip", self.flip) < 0.5:
            raise ValueError(f"flip is the probability of flipping an answer, in (0, 0.5), not {self.flip!r}")

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        if asks is None or self.flip is None:
            raise ValueError("OneSample is priced once, from its plan: give Holdout(asks=...), and flip= or for_(...)")
        from unworn.bounds.transfer import counting_width_sharp

        least = counting_width_sharp(rows, asks, 1 - confidence)
        if 2 * self.flip < least * (1 - 1e-9):
            raise TooFewRows(
                f"with {rows:,} rows and {asks:,} asks the chance of a yes can be promised to ± {min(least, 1):.3g} "
                f"at best, and flip = {self.flip:g} promises ± {2 * self.flip:g}: "
                + (f"take flip of at least {least / 2:.3g}, or more rows" if least < 1 else "bring more rows")
            )
        return super().begin(rows, confidence, asks)

    def settled(self, rows: int, confidence: float, asks: int | None) -> Self:
        return self if self.flip is not None or asks is None else self.for_(rows=rows, asks=asks, confidence=confidence)

    def complete(self) -> bool:
        return self.flip is not None

    def accepts(self, sealed: Mechanism) -> bool:
        return self == sealed or (self.flip is None and isinstance(sealed, OneSample))

    def check(self, facts: Facts) -> None:
        refuse_subsets(facts, self)
        if facts.runs_code:
            raise Unaskable("OneSample reads one row, and runs no code on the others: ask with predictions in an array")

    def no_tests(self) -> str:
        return "OneSample answers with coins, and an exact test would show what they hide: count how many say yes"

    def after(self, state: State, event: Event) -> State:
        if event != Drew(self.flip or 0.0):
            raise TypeError(f"OneSample of this plan does not know the event {event!r}")
        return state.further()

    def spent(self, state: State) -> float:
        return float(state.asked)

    def prices(self, offer: Offer) -> tuple[float, float]:
        return 1.0, 1.0

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        kind = (facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code)
        paid = (2 * (self.flip or 0.0), 0.0, 0.0)
        return Offer(state.index(position), state.rows, *kind, state.log_beta, steps=1, price=paid)

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        if noise is None or self.flip is None:
            raise TypeError("OneSample draws its row from the holdout's key, and was given none")
        import numpy as np

        from unworn.noise.draws import coins

        bit = rows.drawn(query, 1, noise)
        symbol = bit ^ int(coins(noise, np.array([self.flip]))[0])
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        return Drew(self.flip or 0.0)

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        if symbol not in (0, 1):
            raise TypeError("the answer is one bit")
        return Published(offer.high if symbol else offer.low, offer.low, offer.high, "draw")

    def numbers(self, offer: Offer) -> dict[str, float]:
        return {"chance": offer.price[0] if offer.price else 1.0}

    def likely(self, offer: Offer) -> Symbol:
        return 1

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """The smallest flip that the plan allows."""
        from unworn.bounds.transfer import counting_width_sharp

        least = counting_width_sharp(rows, asks, 1 - confidence)
        check_goal(cls.__name__, least, width, rows, asks)
        return cls(least / 2)
