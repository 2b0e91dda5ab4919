"""Real numbers by decimal arithmetic: the bounds hold the truth, and are as narrow as promised."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.noise.reals import Bounds, exponential, geometric_tail, normal_tail, pi, squared_sine
from unworn.noise.tails import cosine_chance, gaussian_tail, kept_chance, laplace_tail

mp: Any = pytest.importorskip("mpmath")
DIGITS = st.integers(5, 80)
POSITIVE = st.fractions(Fraction(1, 10**6), 60)


@pytest.fixture(autouse=True)
def precise() -> Any:
    with mp.workdps(400):
        yield


def number(value: Fraction) -> Any:
    return mp.mpf(value.numerator) / value.denominator


def holds(bounds: Bounds, truth: Any, width: Any) -> None:
    low, high = (mp.mpf(str(bound)) for bound in bounds)
    assert low < truth < high
    assert high - low <= 2.01 * width


@given(x=POSITIVE, step=POSITIVE, digits=DIGITS)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_exponentials(x: Fraction, step: Fraction, digits: int) -> None:
    truth = mp.exp(-number(x))
    holds(exponential(x, digits), truth, truth * mp.mpf(10) ** -digits)
    truth /= 1 + mp.exp(-number(step))
    holds(geometric_tail(x, step, digits), truth, truth * mp.mpf(10) ** -digits)


@given(x=POSITIVE, digits=DIGITS)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_normal_tail(x: Fraction, digits: int) -> None:
    truth = mp.erfc(number(x) / mp.sqrt(2)) / 2
    holds(normal_tail(x, digits), truth, truth * mp.mpf(10) ** -digits)


@pytest.mark.parametrize("x", [Fraction(4), Fraction(4) + Fraction(1, 10**9), Fraction(1, 10**300), Fraction(1000)])
def test_normal_tail_where_the_method_changes_and_far_out(x: Fraction) -> None:
    with mp.workdps(2000):
        truth = mp.erfc(number(x) / mp.sqrt(2)) / 2
        holds(normal_tail(x, 40), truth, truth * mp.mpf(10) ** -40)


@given(turn=st.fractions(0, Fraction(1, 2)), digits=DIGITS)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_squared_sine(turn: Fraction, digits: int) -> None:
    holds(squared_sine(turn, digits), mp.sin(mp.pi * number(turn)) ** 2, mp.mpf(10) ** -digits)


@pytest.mark.parametrize("digits", [1, 10, 100, 350])
def test_pi(digits: int) -> None:
    assert abs(mp.mpf(str(pi(digits))) - mp.pi) < mp.mpf(10) ** -digits


def test_what_no_number_can_hold_is_bounded_all_the_same() -> None:
    far = Fraction(10) ** 300
    for low, high in (exponential(far, 20), normal_tail(far, 20), laplace_tail(1e-300, 1, 20)):
        assert low == 0 < high < Decimal("1e-300000")


def test_the_probabilities_are_those_of_the_noise() -> None:
    q, width = mp.exp(-1 / mp.mpf(0.7)), mp.mpf(10) ** -30
    mass = (1 - q) / (1 + q)
    truth = mp.nsum(lambda j: mass * q**j, [3, mp.inf])
    holds(laplace_tail(0.7, 3, 30), truth, truth * width)
    truth = mp.erfc(mp.mpf(2.5) / mp.mpf(1.3) / mp.sqrt(2)) / 2
    holds(gaussian_tail(1.3, 3, 30), truth, truth * width)
    holds(cosine_chance(7, -3, 30), (1 + mp.cos(mp.pi * 3 / 7)) / 2, width)
    holds(cosine_chance(7, 5, 30), (1 + mp.cos(mp.pi * 5 / 7)) / 2, width)
    truth = mp.exp(-((3 - mp.mpf(1.3) ** 2 / 2) ** 2) / (2 * mp.mpf(1.3) ** 2))
    holds(kept_chance(1.3, 2, -3, 30), truth, truth * width)
