"""Tests of hypotheses by a noisy answer: the verdict is read off the noise's interval, and costs what an answer costs.

A test spends one ask of the plan. The rows are answered for as ever, with fresh noise; the released number is the
symbol, and the verdict a function of it, that a replay works out again. A hypothesis is rejected where the one-sided
limit at the level b = min(level, 1 - confidence) leaves it out. For every a, the chance that **any** test of a level up
to a ever rejects a true hypothesis is then at most a, although the tests share one plan: the event that one does is an
event of the transcript like any other, and Theorem F (or D2) bounds it at whatever probability it has. No level is
divided among the tests, and none is corrected for what was said before. Proof: ``docs/theory/tests.md``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from unworn.basics.frozen_init import assign_fields
from unworn.errors import Unaskable
from unworn.mechanisms.coded.coded_payloads import null_numbers
from unworn.mechanisms.contract.capabilities import ChecksHypotheses
from unworn.mechanisms.contract.mechanism import Offer, State, Symbol
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload, PricedMechanism, noise_payload
from unworn.mechanisms.symbols.hypothesis_symbols import tested_null
from unworn.queries.query import Facts

Paid = tuple[float, float, float]
_SAME = 1e-9
"""What machines may differ in where they work out a price."""


@assign_fields
@dataclass(frozen=True, slots=True)
class NoisyTestPayload(PlannedNoisePayload):
    """A noisy answer that a hypothesis (side, value, level) is read off, at the price of the plan at the test's level.

    ``log_level`` of the offer stays that of the plan.
    """

    null: tuple[int, float, float] | None = None

    def numbers(self) -> dict[str, Any]:
        return {} if self.null is None else null_numbers(self.null)


@dataclass(frozen=True)
class ReadsVerdicts(PricedMechanism, ChecksHypotheses):
    """Rejects what the interval of a noisy answer leaves out."""

    @abstractmethod
    def price_at(self, paid: Paid, noise: float, nats: float) -> Paid:
        """The price of a plan at e^``nats`` times less than its own chance of a miss, where the noise comes to this.

        It must not fall as ``nats`` rises, in any of its numbers: a smaller level has the wider interval.
        """

    @abstractmethod
    def extreme(self, offer: Offer, side: int) -> Symbol:
        """What is released, without noise, if every row speaks for the upper end of the range (``side`` 1)."""

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        null, offer = tested_null(facts), self.offer(state, facts, None, position)
        told = noise_payload(offer)
        noise, nats = told.price[0], _further(offer, null)
        if nats:
            at_level = math.exp(state.log_beta - nats)
            noise = max(noise, self.largest(state.rows, state.planned or 1, at_level))
        paid = self.price_at(told.price, noise, nats)
        test = offer.with_payload(NoisyTestPayload(told.steps, paid, told.sensitivity, null))
        if not self.is_rejected(test, self.extreme(test, null[0])):
            raise Unaskable(
                f"no rows could reject this at level {null[2]:g}: the intervals of this plan are so wide that none "
                f"would leave out {null[1]:g}, even if every row spoke against it. Test a value farther from the end "
                "of the range, at a larger level, or seal fresh rows with a plan of fewer asks",
                null=null[1],
            )
        return test

    def test_level(self, offer: Offer) -> float:
        return offer.log_level - further_nats(offer)

    def is_rejected(self, offer: Offer, symbol: Symbol) -> bool:
        payload = noise_payload(offer)
        if payload.null is None:
            raise ValueError("this answer tests no hypothesis")
        if self.price is not None:
            expected = self.price_at(self.price, payload.price[0], further_nats(offer))
            same = all(math.isclose(*pair, rel_tol=_SAME) for pair in zip(payload.price, expected, strict=True))
            if not same or payload.price[0] < self.price[0]:
                raise ValueError("this test was not made at the price of its plan")
        published = self.reveal_noisy(offer, payload, symbol)
        side, null, _ = payload.null
        return published.low > null if side > 0 else published.high < null


def further_nats(offer: Offer) -> float:
    """By how many nats a test is made below the plan's own level: none for a level up to it, or for a plain answer."""
    return 0.0 if offer.null is None else _further(offer, offer.null)


def _further(offer: Offer, null: tuple[int, float, float]) -> float:
    return max(0.0, offer.log_level - math.log(null[2]))
