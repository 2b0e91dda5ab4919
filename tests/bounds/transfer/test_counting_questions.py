from __future__ import annotations

import math

import pytest

from unworn.bounds.privacy import profile
from unworn.bounds.transfer import counting_epsilon, counting_rows, counting_width, counting_width_sharp
from unworn.events import Drew


def test_one_bit_is_as_private_as_it_says() -> None:
    n, flip = 50, 0.1
    ratios = []
    for count in range(n):
        here, there = (flip + (1 - 2 * flip) * c / n for c in (count, count + 1))
        ratios += [abs(math.log(there / here)), abs(math.log((1 - here) / (1 - there)))]
    assert max(ratios) == pytest.approx(counting_epsilon(n, flip), rel=1e-12)
    assert counting_epsilon(n, 0.5) == 0.0


def test_rows_and_width_are_inverse() -> None:
    rows = counting_rows(100, 0.1, 0.05)
    assert counting_width(rows, 100, 0.05) == pytest.approx(0.1, rel=1e-4)
    assert counting_width(rows // 2, 100, 0.05) > 0.1
    assert rows >= 1024 * math.log(100 / 0.05) / 0.1**2


def test_where_privacy_needs_more_rows_than_the_sample_does_they_are_the_fewest() -> None:
    k, alpha, beta = 10**6, 0.2, 0.05
    rows = counting_rows(k, alpha, beta)
    assert rows > 1.5 * 1024 * math.log(k / beta) / alpha**2

    def leaks(n: int) -> float:
        return float(profile(Drew(alpha / 2), n, k).delta(alpha / 64))

    assert leaks(rows) <= alpha * beta / 16 < leaks(rows - 1)


def test_widths_fall_with_rows_and_rise_with_asks() -> None:
    for width in (counting_width, counting_width_sharp):
        assert width(10**6, 100, 0.05) < width(10**5, 100, 0.05) < 1
        assert width(10**6, 100, 0.05) < width(10**6, 10**5, 0.05)
        assert width(10**6, 100, 0.05) < width(10**6, 100, 1e-6)
        assert width(20, 10**6, 0.05) == 1.0


def test_d2_needs_far_fewer_rows() -> None:
    assert counting_width_sharp(10**6, 100, 0.05) < counting_width(10**6, 100, 0.05) / 5


def test_refuses_bad_numbers() -> None:
    for flip in (0.0, 0.6, math.nan, -0.1):
        with pytest.raises(ValueError, match="flip"):
            counting_epsilon(100, flip)
    with pytest.raises(ValueError, match="alpha"):
        counting_rows(100, 1.5, 0.05)
    with pytest.raises(ValueError, match="beta"):
        counting_width(100, 10, 0.0)
