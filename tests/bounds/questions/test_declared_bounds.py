from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.two_sizes import reseeded
from unworn.bounds.questions.declared_bounds import (
    declared_rows,
    declared_smaller_class,
    declared_variance,
    mean_error,
    part_rows,
    share_error,
)

quiet = settings(derandomize=True, deadline=None, max_examples=80)
unit = st.floats(0, 1)
rows = st.integers(1, 10**7)


@pytest.mark.parametrize("share", [0.003, 0.05, 0.5, 0.98])
def test_rows_that_were_declared_are_there(share: float) -> None:
    """Honest declarations fail about 3e-5 of the time; that more than 8 of 2,000 fail has a probability below 1e-12."""
    rng, n = np.random.default_rng(reseeded(1)), 4_000
    train, rest = rng.binomial(n, share, 2_000), rng.binomial(n, share, 2_000)
    failed = sum(b < declared_rows(a / n, n, n) for a, b in zip(train.tolist(), rest.tolist(), strict=True))
    assert failed <= 8


def test_a_declared_variance_is_seldom_exceeded() -> None:
    """Skewed values in [0, 1]. Declarations fail about 1e-4 of the time; more than 8 of 300: below 1e-15."""
    rng, n, failed = np.random.default_rng(reseeded(2)), 3_000, 0
    for _ in range(300):
        train, rest = rng.beta(1.0, 8.0, (2, n))
        centred = train - train.mean()
        declared = declared_variance(float(train.var()), float((centred**4).mean()), n, n)
        assert declared < 1.5 * train.var()
        failed += rest.var() > declared
    assert failed <= 8


@quiet
@given(unit, unit, rows, rows, rows)
def test_rows_are_monotone_in_share_and_train(one: float, two: float, m1: int, m2: int, n: int) -> None:
    most = declared_rows(max(one, two), max(m1, m2), n)
    assert declared_rows(min(one, two), min(m1, m2), n) <= most <= n * max(one, two) + 1e-6
    assert declared_smaller_class(one, m1, n) <= n / 2


@quiet
@given(st.floats(0, 0.25), st.floats(0, 0.25), rows, rows, rows)
def test_variances_are_monotone_in_train(v1: float, v2: float, m1: int, m2: int, n: int) -> None:
    least = declared_variance(min(v1, v2), min(v1, v2), max(m1, m2), n)
    assert min(v1, v2) <= least <= 0.25
    assert least <= declared_variance(min(v1, v2), None, min(m1, m2), n)


@pytest.mark.parametrize(("sealed", "n"), [(7_500, 10_000), (90, 100), (1, 50), (2_000, 2_000)])
@pytest.mark.parametrize("share", [0.0, 0.002, 0.1, 0.5, 0.98, 1.0])
def test_a_random_part_has_the_rows_that_are_declared(share: float, sealed: int, n: int) -> None:
    """By the law of draws without replacement, exactly: four standard errors are kept back, and no more."""
    members = round(share * n)
    declared = part_rows(share, sealed, n)
    error = math.sqrt(sealed * share * (1 - share) * (1 - sealed / n))
    assert 0 <= declared <= members * sealed / n
    assert declared >= math.floor(members * sealed / n - 4 * error)
    if 0 < members < n:
        assert stats.hypergeom(n, members, sealed).cdf(declared - 1) < 2e-4
    if sealed == n:
        assert declared == members
    for wrong in ((0, n), (n + 1, n), (0, 0)):
        with pytest.raises(ValueError, match=r"sealed|rows"):
            part_rows(share, *wrong)


def test_errors() -> None:
    assert share_error(0.5, 100) == mean_error(0.25, 100) == 0.05
    assert share_error(0.0, 50) == mean_error(0.0, 50) == 0.02


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1, math.inf])
def test_numbers_out_of_range_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="variance"):
        declared_variance(bad, None, 10, 10)
    with pytest.raises(ValueError, match="fourth"):
        declared_variance(0.1, bad, 10, 10)
    with pytest.raises(ValueError, match="share"):
        declared_rows(bad, 10, 10)
    with pytest.raises(ValueError, match="share"):
        share_error(bad, 10)
    with pytest.raises(ValueError, match="variance"):
        mean_error(bad, 10)
    with pytest.raises(ValueError, match="rows"):
        declared_rows(0.5, 10, 0)
