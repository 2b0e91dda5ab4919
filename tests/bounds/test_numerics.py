from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.numerics import log_choose, stirling_rest

quiet = settings(derandomize=True, deadline=None, max_examples=200)


@quiet
@given(st.integers(0, 3000), st.data())
def test_log_choose_is_the_log_of_the_integer(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    assert log_choose(n, k) == pytest.approx(math.log(math.comb(n, k)), rel=2e-14, abs=1e-15)
    assert log_choose(n, k) == log_choose(n, n - k)


@pytest.mark.parametrize("k", [1, 2, 3, 15, 16, 17, 40, 200])
def test_log_choose_keeps_its_digits_where_lgamma_loses_them(k: int) -> None:
    n = 10**9
    exact = math.log(math.comb(n, k))
    assert log_choose(n, k) == pytest.approx(exact, rel=1e-14)


def test_stirling_rest_agrees_with_exact_factorials_on_both_sides_of_its_switch() -> None:
    for n in (15, 16, 17, 30, 170):
        ratio = Fraction(math.factorial(n), n**n)
        known = math.log(ratio) + n - 0.5 * math.log(math.tau * n)
        assert stirling_rest(n) == pytest.approx(known, abs=5e-13)


@pytest.mark.parametrize(("n", "k"), [(3, 4), (-1, 0), (5, -1), (2.5, 1), (math.nan, 1), (math.inf, 1)])
def test_log_choose_refuses_what_is_no_choice(n: float, k: float) -> None:
    with pytest.raises(ValueError, match="whole number"):
        log_choose(n, k)  # type: ignore[arg-type]
