"""Limits of an exact mean: against the normal approximation, and the same from either end of the range."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unworn.mechanisms.contract.offer import Offer
from unworn.mechanisms.symbols.exact_limits import exact_limits
from unworn.mechanisms.symbols.final_values import FinalPayload

LOW, HIGH, ROWS = -5.0, 5.0, 4_000
SCALED = np.random.default_rng(7).beta(2.0, 6.0, ROWS)  # of a range of [0, 1]; any numbers would do
NORMAL = 2.807  # standard errors to either side, at 0.005 for both


def offer(gauge: float) -> Offer:
    payload = FinalPayload((0, 1, True), gauge=gauge)
    return Offer(3, ROWS, "unit", LOW, HIGH, False, False, math.log(0.005), payload)


def symbol(values: np.ndarray, numbers: int) -> list[float]:
    off = values - values.mean()
    return [LOW + (HIGH - LOW) * float(values.mean()), *(float((off**power).mean()) for power in range(2, numbers + 1))]


@pytest.mark.parametrize("numbers", [2, 4])
@pytest.mark.parametrize("expected", [None, (-3.5, -1.5)])
def test_they_are_near_the_normal_ones_and_mirror_each_other(
    numbers: int, expected: tuple[float, float] | None
) -> None:
    told, variance = symbol(SCALED, numbers), float(SCALED.var())
    low, high = exact_limits(offer(variance), told, expected)
    error = (HIGH - LOW) * NORMAL * math.sqrt(variance / ROWS)
    assert error < told[0] - low < 1.45 * error
    assert error < high - told[0] < 1.45 * error
    turned = None if expected is None else (-expected[1], -expected[0])
    mirrored = exact_limits(offer(variance), symbol(1.0 - SCALED, numbers), turned)
    assert mirrored == pytest.approx((-high, -low), abs=1e-6)


def test_a_poor_expectation_costs_width() -> None:
    told, variance = symbol(SCALED, 2), float(SCALED.var())
    low, high = exact_limits(offer(variance), told, (-3.5, -1.5))
    wide = exact_limits(offer(0.25), told, (3.0, 5.0))
    assert wide[0] < low
    assert high < wide[1]
    assert wide[0] >= LOW
    assert wide[1] <= HIGH
