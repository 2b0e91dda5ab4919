"""Noisy means: answers that are a mean over rows plus fresh noise, priced by Theorem F or, where it says more, by D2.

Theorem F knows that each answer is a mean; D2 only what one row can change, and so it covers statistics too. Which of
the two holds for a plan is settled when rows are sealed, from public numbers, and entry 0 says so. A ledger from before
there was a choice does not: its answers are D2's.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal, Self, get_args

from unworn.basics.float_settings import with_usual_floats
from unworn.errors import Unaskable
from unworn.mechanisms.contract.capabilities import NamesItsTheorem
from unworn.mechanisms.contract.mechanism import Mechanism, Offer, State
from unworn.mechanisms.noisy.noisy_mechanism import Noisy, check_goal
from unworn.mechanisms.noisy.noisy_verdicts import Paid
from unworn.mechanisms.noisy.privacy_price import SLIP, PlannedNoisePayload, noise_payload
from unworn.queries.query import Facts

if TYPE_CHECKING:
    from unworn.bounds.noisy_means import NoisyPlan

Accounting = Literal["F", "D2"]
THEOREM_F = "noisy means (Theorem F)"

_MANY = 100
"""From so many asks on F is the narrower at the best noise of each, whatever the rest of the plan."""
_CLEARLY = 0.9
"""The limit of D2 for many asks is nearer to the truth than this, as a share."""


@dataclass(frozen=True)
class NoisyMean(Noisy, NamesItsTheorem):
    """``accounting`` names the theorem, "F" or "D2"; None leaves it to the plan: whichever is narrower.

    Statistics that are no means over rows need ``accounting="D2"``.
    """

    law: ClassVar[tuple[str, ...]] = ()
    """Parameters of the noise's law beside its scale, which the plan chooses under Theorem F where they are None."""
    signal: ClassVar[float] = 1.0
    """The privacy loss of one answer whose noise has scale 1, in standard deviations, where the noise is wide."""

    accounting: Accounting | None = field(default=None, kw_only=True)
    kappa: float | None = field(default=None, kw_only=True, repr=False)
    """What one answer costs in nats, under F: recorded with the price, which is then (noise, kept, nats)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        known = isinstance(self.accounting, str) and self.accounting in get_args(Accounting)
        if self.accounting is not None and not known:
            raise ValueError(f"accounting is 'F' or 'D2', or None to leave it to the plan, not {self.accounting!r:.40}")
        if (self.kappa is not None) != (self.accounting == "F" and self.price is not None):
            raise ValueError("kappa is settled with the price of a plan by Theorem F, and only there")

    # ------------------------------------------------------------------ what each noise says of itself

    @abstractmethod
    def answer_nats(self, rows: int, kept: float) -> float:
        """At most what one answer costs, where each row is kept with this chance."""

    @abstractmethod
    def noisy_plan(self, rows: int, asks: int, beta: float) -> NoisyPlan:
        """The plan by Theorem F, at the best chance of keeping a row."""

    def choose_law(self, rows: int, asks: int, beta: float) -> Self:
        """This configuration, under Theorem F, with what is open of the noise's law chosen for the plan."""
        return self

    @abstractmethod
    def mean_limits(self, offer: Offer, payload: PlannedNoisePayload, symbol: int) -> tuple[float, float]:
        """The population's share by Theorem F, given a released number of steps; the price is (noise, kept, nats)."""

    # ------------------------------------------------------------------ the plan

    def named_theorem(self) -> str:
        return THEOREM_F if self.accounting == "F" else self.theorem

    def named_currency(self) -> str:
        """Nats under Theorem F, which knows no privacy; privacy loss under D2."""
        return "nats" if self.accounting == "F" else self.currency

    def spent(self, state: State) -> float:
        if self.accounting != "F":
            return super().spent(state)
        return state.asked * self._cost(state.rows, self.paid(state)[1])

    def prices(self, offer: Offer) -> tuple[float, float]:
        if self.accounting != "F":
            return super().prices(offer)
        cost = self._cost(offer.rows, noise_payload(offer).price[1])
        return cost, cost

    def _cost(self, rows: int, kept: float) -> float:
        """What one answer costs in nats: as recorded, or as it would be."""
        return self.answer_nats(rows, kept) if self.kappa is None else self.kappa

    def half_width(self, rows: int, asks: int, log_beta: float) -> float:
        if self.accounting != "F":
            return super().half_width(rows, asks, log_beta)
        return self._plan(rows, asks, log_beta).width

    def settled(self, rows: int, confidence: float, asks: int | None) -> Self:
        if asks is None:
            return self
        plain = replace(self, price=None, kappa=None)
        if self._open() or self.accounting is None:
            plain = plain.chosen(rows, asks, 1 - confidence)
        if plain.accounting != "F":
            return super(NoisyMean, plain).settled(rows, confidence, asks)
        plain = plain.choose_law(rows, asks, 1 - confidence)
        state = plain.begin(rows, confidence, asks)  # refuses a plan that cannot be kept
        found = plain._plan(rows, asks, state.log_beta)
        paid = plain.largest(rows, asks, math.exp(state.log_beta)), found.kept, found.nats
        return replace(plain, price=paid, kappa=found.kappa)

    def chosen(self, rows: int, asks: int, beta: float) -> Self:
        if self.scale is None:
            scale, _, accounting = self._narrowest(rows, asks, beta)
            return replace(self, scale=scale, accounting=accounting)
        return replace(self, accounting=self._sharper(rows, asks, beta))

    def best(self, rows: int, asks: int, beta: float) -> tuple[float, float]:
        scale, width, _ = self._narrowest(rows, asks, beta)
        return scale, width

    def _narrowest(self, rows: int, asks: int, beta: float) -> tuple[float, float, Accounting]:
        """The scale with the narrowest intervals, their half-width, and the theorem that gives it."""
        found: list[tuple[float, float, Accounting]] = []
        if self.accounting != "D2":
            try:
                found.append((*self.best_by("F", rows, asks, beta), "F"))
            except ValueError:  # the noise would be wider than is priced
                if self.accounting == "F":
                    raise
        if self.accounting != "F" and (asks < _MANY or not found or found[0][1] >= 0.5):
            found.append((*self.best_by("D2", rows, asks, beta), "D2"))
        return min(found, key=lambda each: each[1])

    def best_by(self, accounting: Accounting, rows: int, asks: int, beta: float) -> tuple[float, float]:
        """The same by one theorem."""
        from unworn.bounds.transfer import best_scale

        name = next(name for name in self.certificates if name.startswith(f"{accounting} "))
        scale, width = best_scale(name, rows, asks, beta)
        return scale / rows, width

    def _sharper(self, rows: int, asks: int, beta: float) -> Accounting:
        """Which theorem gives the narrower intervals at this scale."""
        from unworn.bounds.privacy import GDP
        from unworn.bounds.transfer import stability

        if self.noised(rows).scale < 2:
            return "D2"
        means = replace(self, accounting="F").choose_law(rows, asks, beta)
        ours = means.half_width(rows, asks, math.log(beta))
        limit = stability(GDP(math.sqrt(asks) * self.signal / self.noised(rows).scale), beta).width
        if ours < self.largest(rows, asks, beta) + _CLEARLY * limit:
            return "F"
        try:
            theirs = super().half_width(rows, asks, math.log(beta))
        except ValueError:  # composing so many answers is more than the accountant can hold
            return "F"
        return "F" if ours < theirs else "D2"

    @classmethod
    @with_usual_floats
    def for_(
        cls,
        *,
        rows: int,
        asks: int,
        width: float | None = None,
        confidence: float = 0.95,
        accounting: Accounting | None = None,
    ) -> Self:
        """The noise that makes every answer's interval narrowest; refused when even that is wider than ``width``."""
        scale, narrowest, theorem = cls(accounting=accounting)._narrowest(rows, asks, 1 - confidence)
        check_goal(cls.__name__, narrowest, width, rows, asks)
        return cls(scale, accounting=theorem)

    def accepts(self, sealed: Mechanism) -> bool:
        if not isinstance(sealed, NoisyMean) or type(sealed) is not type(self):
            return False
        if self.accounting not in (None, sealed.accounting or "D2"):  # a ledger that names none is D2's
            return False
        named = ["price", "kappa", "accounting", *self._open()]
        named += [name for name in self.law if getattr(self, name) is None]
        return replace(self, **{name: getattr(sealed, name) for name in named}) == sealed

    def _holds(self, rows: int, asks: int, log_beta: float) -> bool:
        if self.accounting != "F":
            return super()._holds(rows, asks, log_beta)
        from unworn.bounds.noisy_means import claim_nats

        noise, kept, nats = self.price or (0.0, 0.0, 0.0)
        kappa, beta = self.kappa or 0.0, math.exp(log_beta)
        if not 0 < kept < 1 or noise < self.largest(rows, asks, beta) * SLIP:
            return False
        if kappa < self.answer_nats(rows, kept) * SLIP:
            return False
        return nats >= claim_nats(beta, asks * kappa, kept) * SLIP

    def _plan(self, rows: int, asks: int, log_beta: float) -> NoisyPlan:
        return _plan_of(replace(self, price=None, kappa=None, accounting="F"), rows, asks, log_beta)

    def paid(self, state: State) -> tuple[float, float, float]:
        if self.accounting != "F" or self.price is not None:
            return super().paid(state)
        asks, beta = state.planned or 1, math.exp(state.log_beta)
        found = self._plan(state.rows, asks, state.log_beta)
        return self.largest(state.rows, asks, beta), found.kept, found.nats

    # ------------------------------------------------------------------ one ask

    def check(self, facts: Facts) -> None:
        if facts.kind == "statistic" and self.accounting == "F":
            raise Unaskable(
                f"a statistic is not a mean over rows, and these answers are priced as means ({THEOREM_F}): "
                f"seal fresh rows with {type(self).__name__}(accounting='D2') to ask it"
            )
        super().check(facts)

    def offer_limits(self, offer: Offer, payload: PlannedNoisePayload, symbol: int) -> tuple[float, float]:
        if self.accounting != "F":
            return super().offer_limits(offer, payload, symbol)
        if payload.sensitivity is not None:
            raise TypeError("a statistic has no answer by Theorem F")
        return self.mean_limits(offer, payload, symbol)

    def price_at(self, paid: Paid, noise: float, nats: float) -> Paid:
        if self.accounting != "F":
            return super().price_at(paid, noise, nats)
        return noise, paid[1], paid[2] + nats / (1.0 - paid[1])

    def numbers(self, offer: Offer) -> dict[str, float]:
        if self.accounting != "F":
            return super().numbers(offer)
        noise, kept, nats = noise_payload(offer).price
        return {"noise": noise, "kept": kept, "m": kept * offer.rows, "kappa": self.kappa or 0.0, "budget": nats}


@lru_cache(maxsize=256)
def _plan_of(mechanism: NoisyMean, rows: int, asks: int, log_beta: float) -> NoisyPlan:
    """A plan by Theorem F, computed once."""
    return mechanism.noisy_plan(rows, asks, math.exp(log_beta))
