"""Four rates: each part of the verdict can fail, and the widths are those of the package."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.rates.four_rates_claim import (
    CERTIFIED,
    FIXED,
    GAUSSIAN,
    MEASURED,
    SPLIT,
    WEIGHTS,
    WIDTHS,
    _row,
    judge,
    largest_error,
)


def table(slopes: dict[str, float] | None = None, error: float = 0.1) -> list[TableRow]:
    powers = {FIXED: 0.02, SPLIT: 0.53, GAUSSIAN: 0.25, WEIGHTS: 0.02} | (slopes or {})
    rows = [
        _row(CERTIFIED, what, k, 1e-4 * k**power, None) for what, power in powers.items() for k in (10, 10**3, 10**5)
    ]
    return [*rows, _row(MEASURED, SPLIT, 10, error, 0.2)]


def test_the_verdict_is_about_slopes_and_errors() -> None:
    assert judge(table()).holds
    assert not judge(table(error=0.3)).holds


@pytest.mark.parametrize("slope", [{FIXED: 0.1}, {SPLIT: 0.3}, {GAUSSIAN: 0.5}, {WEIGHTS: 0.25}], ids=str)
def test_each_slope_can_fail(slope: dict[str, float]) -> None:
    assert not judge(table(slope)).holds


def test_widths_are_ordered_as_the_rates_say() -> None:
    assert WIDTHS[FIXED](10_000) < WIDTHS[GAUSSIAN](10_000) < WIDTHS[SPLIT](10_000)


@pytest.mark.parametrize("what", [FIXED, SPLIT, GAUSSIAN])
def test_errors_are_within_what_is_certified(what: str) -> None:
    # All answers hold together with 0.95; for fixed questions Hoeffding's bound is loose by far.
    kept = [
        error <= width
        for error, width in (
            largest_error(what, 1_000, 12, np.random.default_rng([reseeded(1), play])) for play in range(12)
        )
    ]
    assert sum(kept) >= 5  # of twelve plays that miss with 0.05 each, eight or more do with 2e-8
