from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.numerics import check_rows, check_whole, log_choose, stirling_rest, whole

quiet = settings(derandomize=True, deadline=None, max_examples=100)


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


@pytest.mark.parametrize("truth", [True, False, np.True_, np.False_])
def test_truth_values_are_no_numbers_of_anything(truth: bool) -> None:
    with pytest.raises(ValueError, match="the number of asks must be a whole number from 0, not"):
        check_whole("the number of asks", truth, 0)
    with pytest.raises(ValueError, match="number of rows"):
        check_rows(truth)


def test_whole_numbers_of_every_type_are_made_ints() -> None:
    for value in (7, 7.0, np.int64(7), np.float32(7.0), np.uint8(7), Fraction(7)):
        found = whole("rows", value, 1, 7)  # type: ignore[arg-type]
        assert found == 7
        assert type(found) is int
    for bad in (7.5, "7", None, True, 8, 0, math.nan, math.inf, 10**400):
        with pytest.raises(ValueError, match="rows must be a whole number from 1"):
            whole("rows", bad, 1, 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rows must be a whole number"):
        check_whole("rows", 10**400, 1)  # an int that no float holds
