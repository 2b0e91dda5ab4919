from __future__ import annotations

import math

import pytest

from unworn.bounds.privacy import GDP, Concentrated, ConcentratedFilter, GaussianFilter


def test_equal_shares_fill_the_budget_exactly() -> None:
    for k in (3, 7, 1000, 12_345):
        rho, mu = ConcentratedFilter(0.3), GaussianFilter(0.7)
        for _ in range(k):
            rho, mu = rho.after(0.3 / k), mu.after(0.7 / math.sqrt(k))
        assert not rho.admits(0.3 / k / 1000)
        assert not mu.admits(0.7 / math.sqrt(k) / 20)
        assert rho.left < 1e-15
        assert rho.spent == pytest.approx(0.3, rel=1e-15)


def test_small_costs_do_not_go_missing() -> None:
    held = ConcentratedFilter(2.0, spent=1.0)
    for _ in range(10_000):
        held = held.after(1e-17)  # each alone is lost when added to 1
    assert held.spent + held.carry - 1.0 == pytest.approx(1e-13, rel=1e-2)


def test_values_do_not_change_and_the_profile_is_the_budgets() -> None:
    start = GaussianFilter(0.5)
    assert start.after(0.3) != start
    assert start == GaussianFilter(0.5)
    assert hash(start) == hash(GaussianFilter(0.5))
    assert start.after(0.3).profile == start.profile
    assert start.profile.mu == pytest.approx(0.5)
    assert float(start.profile.delta(0.5)) >= float(GDP(0.5).delta(0.5))
    assert float(ConcentratedFilter(0.1).profile.delta(0.5)) >= float(Concentrated(0.1).delta(0.5))


@pytest.mark.parametrize("bad", [math.nan, -1e-9, math.inf])
def test_costs_that_are_none_are_refused(bad: float) -> None:
    for kind in (ConcentratedFilter, GaussianFilter):
        with pytest.raises(ValueError, match="finite and at least 0"):
            kind(1.0).admits(bad)
        with pytest.raises(ValueError, match="finite and at least 0"):
            kind(1.0).after(bad)
        with pytest.raises(ValueError, match="finite and at least 0"):
            kind(bad)
    with pytest.raises(ValueError, match="finite and at least 0"):
        ConcentratedFilter(1.0, spent=bad)


def test_what_does_not_fit_says_what_is_left() -> None:
    with pytest.raises(ValueError, match=r"0\.4 of 0\.5 is left"):
        GaussianFilter(0.5).after(0.3).after(0.45)
    with pytest.raises(ValueError, match=r"0\.2 of 0\.5 is left"):
        ConcentratedFilter(0.5).after(0.3).after(0.45)


def test_squares_neither_overflow_nor_vanish() -> None:
    for budget in (1e200, 1e-200, 5e-324):
        with pytest.raises(ValueError, match=r"0 or lie in \[1e-150, 1e150\]"):
            GaussianFilter(budget)
    with pytest.raises(ValueError, match="does not fit"):
        GaussianFilter(1e100).after(1e200)
    with pytest.raises(ValueError, match="does not fit"):
        GaussianFilter(0.0).after(1e-200)  # its square is 0, and yet it costs something
    assert not GaussianFilter(1e-150).after(1e-200).admits(1e-150)
    assert GaussianFilter(0.0).admits(0.0)
