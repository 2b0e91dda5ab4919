"""Agreement told with noise: its cost against plain sums over all rows that may be kept, and what is chosen for it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from unworn.bounds.noisy_agreement import (
    agreement_reach,
    choose_agreement,
    doubled_plan,
    needless_chance,
    surprise_nats,
    threshold_below,
)


def largest_costs(
    n: int, kept: float, rate: float, guess: int, reach: int, threshold: int
) -> tuple[float, float, float]:
    """(1) of Theorem U, over all counts: of agreement, of a surprise where both may be told, and beyond the reach."""
    kappa = surprise_nats(n, kept, rate)

    def log_weight(x: np.ndarray) -> np.ndarray:
        return np.logaddexp(rate * (x - guess - threshold), rate * (guess - threshold - x))

    agree, surprise, beyond = [-math.inf], [-math.inf], [-math.inf]
    for count in range(n + 1):
        law = np.outer(binom.pmf(range(count + 1), count, kept), binom.pmf(range(n - count + 1), n - count, kept))
        x = n / 2 + np.subtract.outer(np.arange(count + 1), np.arange(n - count + 1)) / (2 * kept)
        second, first = log_weight(x) - kappa, log_weight(np.array(float(count)))
        told_agree, told_surprise = (
            float((law * -np.logaddexp(0, second)).sum()),
            float((law * -np.logaddexp(0, -second)).sum()),
        )
        if abs(count - guess) > reach:
            beyond.append(0.0 - told_surprise)
        else:
            agree.append(float(-np.logaddexp(0, first)) - told_agree)
            surprise.append(float(-np.logaddexp(0, -first)) - told_surprise)
    return max(agree), max(surprise), max(beyond)


def cases() -> list[tuple[int, float, float, int, int]]:
    rng = np.random.default_rng(5)
    drawn = [
        (int(n), float(kept), float(10**power))
        for n, kept, power in zip(
            rng.integers(1, 12, 400), rng.uniform(0.02, 0.98, 400), rng.uniform(-2, 0.6, 400), strict=True
        )
    ]
    return [(n, kept, rate, int(rng.integers(-1, n + 2)), int(rng.integers(0, n + 1))) for n, kept, rate in drawn]


def test_agreement_is_free_and_a_surprise_costs_kappa_cut_or_not() -> None:
    """Plain sums, for all counts of up to eleven rows and 400 sets of terms."""
    for n, kept, rate, guess, reach in cases():
        kappa = surprise_nats(n, kept, rate)
        agree, surprise, beyond = largest_costs(n, kept, rate, guess, reach, threshold_below(reach, kappa, rate))
        assert agree <= 1e-12
        assert surprise <= kappa
        assert beyond <= kappa


def test_mistake_a_cut_that_is_nearer_than_what_is_paid_for() -> None:
    """The threshold at the reach itself: then what lies beyond it costs more than kappa for some terms."""
    costs = [
        (surprise_nats(n, kept, rate), largest_costs(n, kept, rate, guess, reach, reach + 1))
        for n, kept, rate, guess, reach in cases()
    ]
    assert any(beyond > kappa + 0.1 for kappa, (_, _, beyond) in costs)


def test_mistake_kappa_halved() -> None:
    """Nor is kappa larger than it need be: with few rows kept it is all but reached."""
    shares = [
        surprise / surprise_nats(n, kept, rate)
        for n, kept, rate, guess, reach in cases()
        if math.isfinite(
            surprise := largest_costs(
                n, kept, rate, guess, n + 2, threshold_below(n + 2, surprise_nats(n, kept, rate), rate)
            )[1]
        )
    ]
    assert 0.9 < max(shares) <= 1.0


@pytest.mark.parametrize("n", [100, 10_000, 10**6])
@pytest.mark.parametrize("surprises", [1, 25, 100])
def test_a_right_guess_is_seldom_a_surprise(n: int, surprises: int) -> None:
    """Of a guess that is right but for both errors: the exact mean over the counts, not the bound it was chosen by."""
    kept, rate, _ = choose_agreement(n, 3.0, surprises, 1_000)
    kappa, chance, spread = surprise_nats(n, kept, rate), needless_chance(surprises, 1_000), math.sqrt(n / 2)
    reach = agreement_reach(kappa, rate, spread, chance)
    threshold = threshold_below(reach, kappa, rate)
    away = np.linspace(-8, 8, 4001) * spread
    law = np.exp(-(away**2) / (2 * spread**2))
    weight = np.exp(np.minimum(np.logaddexp(rate * (away - threshold), rate * (-away - threshold)), 700.0))
    surprised = np.where(np.abs(away) > reach, 1.0, weight / (1 + weight))
    assert float((law * surprised).sum() / law.sum()) <= 1.15 * chance


@pytest.mark.parametrize("rows", [1, 2, 50, 10_000, 10**7])
def test_what_is_kept_never_falls(rows: int) -> None:
    kept = 0.0
    for surprises in (1, 3, 50, 1_000):
        for nats in (50.0, 3.0):
            terms = choose_agreement(rows, nats, surprises, 1_000, kept)
            assert kept <= terms.kept < 1.0
            assert terms.rate > 0.0
            assert 2 <= terms.radius <= max(rows, 2)
            kept = terms.kept


def test_more_surprises_cost_less_each_and_agreement_reaches_farther() -> None:
    terms = [choose_agreement(10_000, 3.0, surprises, 1_000) for surprises in (5, 25, 125)]
    nats = [surprise_nats(10_000, kept, rate) for kept, rate, _ in terms]
    assert nats == sorted(nats, reverse=True)
    assert [each.radius for each in terms] == sorted(each.radius for each in terms)
    assert [doubled_plan(5, reached) for reached in (0, 4, 5, 9, 10, 11, 39, 40)] == [5, 5, 10, 10, 20, 20, 40, 80]


def test_what_is_no_price_is_refused() -> None:
    for terms in ((0, 0.5, 0.1), (10, 0.0, 0.1), (10, 1.0, 0.1), (10, 0.5, 0.0), (10, 0.5, math.nan)):
        with pytest.raises(ValueError):
            surprise_nats(*terms)  # type: ignore[arg-type]
    for plan in ((10, -1.0, 1, 1), (10, 3.0, 0, 10), (10, 3.0, 1, 0)):
        with pytest.raises(ValueError):
            choose_agreement(*plan)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kept", "rate"), [(1e-6, 1.0), (1e-9, 1e-5), (0.5, 1e3), (0.999, 1e3)])
def test_terms_that_no_float_holds_are_priced_by_their_largest_exponent(kept: float, rate: float) -> None:
    """What a forger may write: e to this power is more than a float holds, and the cost is no less."""
    farthest = rate / 2 * max(1 / kept - 1, 1.0)
    assert 100 * (farthest + math.log(min(kept, 1 - kept) / 2)) < surprise_nats(100, kept, rate) < 101 * farthest
