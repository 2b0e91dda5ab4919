"""A final value after which more is to follow: its cell is not charged, and its limits know it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from unworn.bounds.questions import variance_cell_limits
from unworn.mechanisms.contract.offer import Offer
from unworn.mechanisms.symbols.final_values import FinalPayload, reveal_final, widest_final
from unworn.mechanisms.symbols.symbol_cells import edges

PAYLOAD = FinalPayload((0, 1, False), cells=40, inside=(0.0, 0.2), gauge=1e-4)
OFFER = Offer(3, 2_000, "unit", 0.0, 1.0, False, False, math.log(0.01), PAYLOAD)


@pytest.mark.parametrize("cell", [0, 13, 39])
def test_limits_hold_against_all_that_the_value_could_have_been(cell: int) -> None:
    told = reveal_final(OFFER, cell)
    low, high = edges(OFFER, cell)
    level = OFFER.log_level - math.log(2)
    below, _ = variance_cell_limits(max(low - 1e-9, 0.0), 0.2, 1e-4, 2_000, level)
    _, above = variance_cell_limits(0.0, high, 1e-4, 2_000, level)
    assert told.low <= below + 1e-9
    assert told.high >= above - 1e-9


def test_without_a_variance_the_cell_is_enough() -> None:
    plain = OFFER.with_payload(replace(PAYLOAD, gauge=None))
    assert reveal_final(plain, 13).high > reveal_final(OFFER, 13).high


@pytest.mark.parametrize("inside", [None, (0.1, 0.3)])
@pytest.mark.parametrize("least", [1, 25, 160])
def test_no_final_share_of_a_subset_is_wider_than_was_said(least: int, inside: tuple[float, float] | None) -> None:
    payload = FinalPayload((0, 1, True), gauge=float(least), inside=inside)
    offer = Offer(3, 400, "conditional", 0.0, 1.0, True, False, math.log(0.01), payload)
    low, high = inside or (0.0, 1.0)
    told = [
        reveal_final(offer, [yes, rows])
        for rows in {least, least + 1, 2 * least, 400}
        for yes in range(rows + 1)
        if low <= yes / rows <= high
    ]
    widest = max((one.high - one.low) / 2 for one in told)
    assert widest <= widest_final(offer) + 1e-12
