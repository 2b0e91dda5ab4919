"""What mechanisms that pay in privacy share: one price, worked out from the plan when rows are sealed, and kept.

The price is recorded in entry 0, so a later version with a sharper theorem changes nothing for rows sealed today; and a
recorded price that the theorem does not give is refused, whoever wrote it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from unworn.errors import Unaskable
from unworn.mechanisms.contract.mechanism import Mechanism, Offer, Published, State, Symbol, refuse_subsets
from unworn.queries.query import Facts

if TYPE_CHECKING:
    from unworn.bounds.privacy import Profile
    from unworn.bounds.transfer import Price

SLIP = 1 - 1e-6
"""What recovering eps from the tilt of a recorded price may lose, or working it out on another machine."""


@dataclass(frozen=True)
class PricedMechanism(Mechanism):
    """A mechanism whose answers hide every single row, and are certified by Theorem D2 for all planned asks at once."""

    reads: ClassVar[Literal["values", "rounded", "draws"]] = "rounded"
    theorem: ClassVar[str] = "privacy transfer (Theorem D2)"
    choices: ClassVar[tuple[str, ...]]
    """Parameters that the plan chooses where they are None."""

    price: tuple[float, float, float] | None = field(default=None, kw_only=True, repr=False)
    """(noise, tilt, floor) of the whole plan, worked out when the rows are sealed and recorded with the terms.

    Where noisy means are priced by Theorem F: (noise, kept, nats)."""

    @abstractmethod
    def profile(self, rows: int, asks: int) -> Profile:
        """What all planned asks together reveal of one row."""

    @abstractmethod
    def largest(self, rows: int, asks: int, beta: float) -> float:
        """How far, as a share, the worst of all that is released lies from the rows' own: its CVaR at ``beta``."""

    @abstractmethod
    def chosen(self, rows: int, asks: int, beta: float) -> Self:
        """This configuration with what it leaves open chosen for the narrowest intervals."""

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        name = type(self).__name__
        if asks is None:
            raise ValueError(f"{name} is priced once, from its plan: give Holdout(asks=...)")
        if open_ := self._open():
            raise ValueError(f"{name} needs {'=, '.join(open_)}=, or {name}.for_(rows={rows}, asks={asks}) to choose")
        state = super().begin(rows, confidence, asks)
        if self.price is not None and not self._holds(rows, asks, state.log_beta):
            raise ValueError(f"the price {self.price} of this plan is too low: it would not hold")
        return state

    def _holds(self, rows: int, asks: int, log_beta: float) -> bool:
        """Whether a recorded price is one that the theorem gives, though this version might choose another."""
        noise, tilt, floor = self.price or (0.0, 0.0, 0.0)
        beta = math.exp(log_beta)
        if not 0 <= tilt <= 2 or noise < self.largest(rows, asks, beta) * SLIP:
            return False
        if floor >= 1:  # the whole range, whatever the tilt
            return True
        return tilt < 2 and floor >= float(self.profile(rows, asks).delta(4 * math.atanh(tilt / 2))) / beta * SLIP

    def settled(self, rows: int, confidence: float, asks: int | None) -> Self:
        if asks is None:
            return self
        plain = replace(self, price=None)
        chosen = plain.chosen(rows, asks, 1 - confidence) if self._open() else plain
        state = chosen.begin(rows, confidence, asks)  # refuses a plan that cannot be kept
        found = price(chosen, rows, asks, state.log_beta)
        return replace(chosen, price=(found.noise, found.tilt, found.floor))

    def complete(self) -> bool:
        return self.price is not None

    def accepts(self, sealed: Mechanism) -> bool:
        if type(sealed) is not type(self):
            return False
        return replace(self, **{name: getattr(sealed, name) for name in ("price", *self._open())}) == sealed

    def _open(self) -> list[str]:
        return [name for name in self.choices if getattr(self, name) is None]

    def check(self, facts: Facts) -> None:
        refuse_subsets(facts, self)
        if facts.runs_code and facts.kind != "statistic":
            # One row could make it fail on all of them, or predict otherwise: no noise hides that.
            raise Unaskable(
                f"{type(self).__name__} hides what one row can change, and code that sees all the rows may change "
                "everything because of one: ask with an array of predictions or an expression, or use GuessAndCheck"
            )

    def priced(self, state: State, index: int, facts: Facts, steps: int) -> Offer:
        """An offer at the plan's price."""
        paid = self.paid(state)
        kind = (facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code)
        return Offer(index, state.rows, *kind, state.log_beta, steps=steps, price=paid, sensitivity=facts.sensitivity)

    def paid(self, state: State) -> tuple[float, float, float]:
        """The price that is recorded, or would be."""
        if self.price is not None:
            return self.price
        found = price(self, state.rows, state.planned or 1, state.log_beta)
        return found.noise, found.tilt, found.floor

    def publish(self, offer: Offer, symbol: Symbol) -> Published:
        if self.price is not None and offer.price != self.price:
            raise ValueError("this answer was not made at the price of its plan")
        return super().publish(offer, symbol)

    def numbers(self, offer: Offer) -> dict[str, float]:
        return dict(zip(("noise", "tilt", "floor"), offer.price or (), strict=False))


@lru_cache(maxsize=256)
def price(mechanism: PricedMechanism, rows: int, asks: int, log_beta: float) -> Price:
    """What a plan costs, computed once: the profile of all the planned asks, turned into an interval."""
    from unworn.bounds.transfer import Price, stability

    beta = math.exp(log_beta)
    stable = stability(mechanism.profile(rows, asks), beta)
    return Price(mechanism.largest(rows, asks, beta), stable.tilt, stable.floor)
