"""The sparse vector's numbers: scales, splits, what a run hides, and how far it can be on the wrong side."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.extremes import largest_laplace
from unworn.bounds.privacy import Atoms, Homogeneous, Pure, compose
from unworn.bounds.privacy.pairs import response_atoms
from unworn.bounds.sparse.crossing import best_factor, false_alarm, largest_error, run_price
from unworn.bounds.sparse.sparse_vector_bounds import (
    Run,
    empirical_error,
    instance_epsilon,
    refreshed_run,
    run_profile,
    sparse_scale,
    split,
    standard,
)
from unworn.lab.theorems.sparse_restarts import CERTIFIED, MEASURED, THEOREM, measured_error, restart_epsilon, restarts
from unworn.noise import Stream
from unworn.noise.discrete_laplace import laplace

EPSILONS = st.floats(1e-4, 2.0)
TOPS = st.integers(1, 200)


@given(EPSILONS, TOPS, st.sampled_from(["even", "best"]))
@settings(derandomize=True, deadline=None)
def test_scales_spend_exactly_the_budget(epsilon: float, tops: int, how: str) -> None:
    assert refreshed_run(epsilon, tops, how).epsilon == pytest.approx(epsilon)
    assert standard(epsilon, tops, how).epsilon == pytest.approx(epsilon)
    assert standard(epsilon, 1, how).question == pytest.approx(refreshed_run(epsilon, 1, how).question)


def test_an_even_split_has_the_scales_of_the_literature() -> None:
    run = refreshed_run(0.5, 3)
    assert (run.threshold, run.question) == (4.0, 8.0)
    once = standard(1.0, 5, "even")
    assert (once.threshold, once.question) == (2.0, 20.0)  # 1/eps1 and 2c/eps2


@given(EPSILONS, TOPS, st.floats(0.05, 0.95))
@settings(derandomize=True, deadline=None)
def test_the_best_split_makes_the_difference_least_noisy(epsilon: float, tops: int, share: float) -> None:
    def variance(first: float, second: float) -> float:
        return 1 / first**2 + (2 * tops / second) ** 2

    best = split(epsilon, tops, "best")
    assert best[1] / best[0] == pytest.approx((2 * tops) ** (2 / 3))
    assert variance(*best) <= variance(epsilon * share, epsilon * (1 - share)) * (1 + 1e-12)


@pytest.mark.parametrize("tops", [1, 2, 10, 100, 5_000])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2, 0.3])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
def test_the_refreshed_run_is_within_its_epsilon_and_delta(epsilon: float, delta: float, tops: int) -> None:
    """The square root belongs there: sqrt(32 c ln(1/delta))/epsilon, and not 32 c ln(1/delta)/epsilon."""
    if epsilon > 8 * math.log(1 / delta):
        pytest.skip("outside the range in which the theorem holds")
    run = refreshed_run(instance_epsilon(epsilon, delta, tops), tops)
    assert run.threshold == pytest.approx(math.sqrt(32 * tops * math.log(1 / delta)) / epsilon)
    assert run.question == pytest.approx(2 * run.threshold)
    assert float(run_profile(run).delta(epsilon)) <= delta


def test_without_delta_the_budget_is_cut_into_equal_parts() -> None:
    assert instance_epsilon(1.0, 0.0, 8) == 1 / 8
    assert float(run_profile(refreshed_run(1 / 8, 8)).delta(1.0 + 1e-9)) == 0.0
    with pytest.raises(ValueError, match="at most"):
        sparse_scale(30.0, 0.1, 5)


def test_a_guess_and_its_answer_cost_less_together_than_their_sum() -> None:
    run = Run(20.0, 40.0, value=40.0, tops=50)  # 0.1 and 0.025
    eps = np.linspace(0.0, 3.0, 40)
    both = run_profile(run).delta(eps)
    assert (both <= Homogeneous(0.125, 0.0, 50).delta(eps) + 1e-12).all()
    assert (both >= Homogeneous(0.1, 0.0, 50).delta(eps) - 1e-12).all()
    # The same by two compositions that know nothing of each other's lattice.
    one, two = response_atoms(0.1), response_atoms(0.025)
    losses = np.add.outer(one.losses, two.losses).ravel()
    product = compose(Atoms(losses, np.multiply.outer(one.masses, two.masses).ravel()), 50)
    np.testing.assert_allclose(both, product.delta(eps), rtol=5e-3, atol=1e-6)


def test_thresholdout_is_two_equal_answers_a_round() -> None:
    assert run_profile(Run(200.0, 400.0, value=100.0, tops=7)) == Homogeneous(0.01, 0.0, 14)
    assert float(Homogeneous(0.01, 0.0, 14).delta(2 * 7 * 0.01 + 1e-9)) == 0.0  # (2B/(sigma n), 0)
    whole = run_profile(standard(0.3, 7))
    assert isinstance(whole, Pure)
    assert whole.epsilon == pytest.approx(0.3)


# ---------------------------------------------------------------------- errors on the rows


def drawn(run: Run, asks: int, times: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """For each of so many runs, the largest threshold noise plus the largest count noise, both ways."""
    noise = Stream(bytes(32), name)
    rho = laplace(noise, run.threshold, times * run.tops).reshape(times, run.tops)
    nu = laplace(noise, run.question, times * asks).reshape(times, asks)
    passing, short = rho.max(axis=1) - nu.min(axis=1), nu.max(axis=1) - rho.min(axis=1)
    return passing, short


@pytest.mark.parametrize(("epsilon", "tops", "asks"), [(0.1, 1, 200), (0.1, 8, 200), (1.5, 5, 50)])
def test_the_worst_error_is_what_it_is_said_to_be(epsilon: float, tops: int, asks: int) -> None:
    """The mean of the worst twentieth of 20,000 runs: at most the CVaR, and not far from it.

    Fixed draws; the mean of 1,000 exponential-tailed values has a standard error of 3 % of a scale, and seven of them
    are allowed: below 1e-6.
    """
    run = refreshed_run(epsilon, tops)
    passing, short = drawn(run, asks, 20_000, f"error {epsilon} {tops}")
    worst = np.sort(np.maximum(passing, short))[-1000:].mean()
    bound = largest_error(run, asks, 0.05)
    assert worst <= bound + 7 * run.question / math.sqrt(1000)
    assert worst >= 0.93 * bound - 1.0  # a whole row, where noise is small
    assert bound <= largest_laplace(run.threshold, tops, 0.05) + largest_laplace(run.question, asks, 0.05) + 2.0


def test_with_values_the_worst_is_that_of_both() -> None:
    """As above, for one side and the noise of the values."""
    run, asks = Run(20.0, 40.0, value=80.0, tops=8), 200
    passing, _ = drawn(run, asks, 20_000, "values")
    values = np.abs(laplace(Stream(bytes(32), "released"), 80.0, 20_000 * 8)).reshape(-1, 8).max(axis=1)
    worst = np.sort(np.maximum(passing, values))[-1000:].mean()
    assert 0.95 * largest_error(run, asks, 0.05) <= worst <= largest_error(run, asks, 0.05) + 7 * 80 / math.sqrt(1000)


def test_false_alarms_are_as_rare_as_promised() -> None:
    """20,000 runs, 5 % of them expected to pass; 6 standard deviations of a binomial are 0.9 %: below 1e-6."""
    run = refreshed_run(0.1, 8)
    passing, _ = drawn(run, 200, 20_000, "alarms")
    rate = float(np.mean(passing > false_alarm(run, 200, 0.05)))
    assert 0.035 < rate < 0.05 + 0.009


@pytest.mark.parametrize(("tops", "asks"), [(1, 100), (5, 100)])
def test_the_empirical_error_theorem(tops: int, asks: int) -> None:
    """An error beyond 6 ln((k + m)/beta)/eps + 1 rows in at most beta of the runs, whoever asks.

    20,000 runs at beta = 5 %: an excess of 6 standard deviations is 0.9 %: below 1e-6.
    """
    run = refreshed_run(0.2, tops)
    bound = empirical_error(run, asks, 0.05)
    assert bound == pytest.approx(6 * math.log((asks + tops) / 0.05) / 0.2 + 1)
    passing, short = drawn(run, asks, 20_000, f"theorem {tops}")
    assert np.mean(np.maximum(passing, short) > bound) <= 0.05 + 0.009
    # It is no looser than the sum of two extremes must be: half of it is passed far too often.
    assert np.mean(np.maximum(passing, short) > bound / 2) > 0.06


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.0])
def test_whole_numbers_need_half_a_row_more(scale: float) -> None:
    """P(|m| > x) = 2 q^j/(1 + q), j the next whole number, is at most exp(-(x - 1/2)/s), and passes exp(-x/s)."""
    x = np.linspace(0.5, 20.0, 4_000)
    q = math.exp(-1 / scale)
    exact = 2 * q ** (np.floor(x) + 1) / (1 + q)
    assert (exact <= np.exp(-(x - 0.5) / scale)).all()
    assert (exact > np.exp(-x / scale)).any()


@given(st.integers(1, 60), st.integers(1, 10**6), st.floats(0.001, 0.5), st.floats(0.001, 1.0))
@settings(derandomize=True, deadline=None, max_examples=8)
def test_errors_grow_with_asks_tops_and_confidence(tops: int, asks: int, beta: float, epsilon: float) -> None:
    run = refreshed_run(epsilon, tops)
    worst = largest_error(run, asks, beta)
    assert worst <= largest_error(run, 2 * asks, beta) * (1 + 1e-9)
    assert worst <= largest_error(replace(run, tops=tops + 1), asks, beta) * (1 + 1e-9)
    assert worst <= largest_error(run, asks, beta / 2) * (1 + 1e-9)
    assert false_alarm(run, asks, beta) <= worst * (1 + 1e-9)


def test_no_run_has_more_thresholds_than_asks() -> None:
    assert largest_error(refreshed_run(0.1, 1000), 10, 0.05) == largest_error(refreshed_run(0.1, 10), 10, 0.05)


# ---------------------------------------------------------------------- the best noise, and what it buys


@pytest.mark.parametrize("run", [refreshed_run(1.0, 4), standard(1.0, 4), Run(2.0, 4.0, 4.0, 4), Run(2.0, 4.0, 1.0, 4)])
def test_the_best_noise_is_best(run: Run) -> None:
    rows, asks = 200_000, 1_000
    factor = best_factor(run, rows, asks, 0.05)
    best = run_price(run.scaled(factor), rows, asks, 0.05).width
    for other in (0.8, 0.9, 1.1, 1.25):
        assert best <= run_price(run.scaled(factor * other), rows, asks, 0.05).width * 1.002
    assert best < run_price(run.scaled(factor / 3), rows, asks, 0.05).width


def wrong_guesses_width(rows: int, tops: int, value: float, tolerance: float, cleared: bool = True) -> float:
    run, asks = Run(2.0, 4.0, value, tops), 10**6
    run = run.scaled(best_factor(run, rows, asks, 0.05, cleared=cleared))
    alarm = false_alarm(run, asks, 0.05) / rows if cleared else 0.0
    return tolerance + alarm + run_price(run, rows, asks, 0.05).width


@pytest.mark.parametrize(("rows", "before", "now"), [(10**5, 0, 5), (10**6, 60, 350), (10**7, 5_120, 29_000)])
def test_how_many_wrong_guesses_a_width_allows(rows: int, before: int, now: int) -> None:
    """A million asks within 0.1, guesses right to 0.01: Theorem D1 allows ``before``; D2 must allow no fewer."""
    assert now > before
    assert wrong_guesses_width(rows, now, 4.0, 0.01) <= 0.1
    assert wrong_guesses_width(rows, 2 * now, 4.0, 0.01) > 0.1


@pytest.mark.parametrize(("rows", "before"), [(10**6, 29), (10**7, 2_432)])
def test_thresholdout_as_a_filter(rows: int, before: int) -> None:
    """T = 0.04, a million asks, within 0.1: D1 allows so many overfit answers."""
    assert wrong_guesses_width(rows, 3 * before, 1.0, 0.04, cleared=False) <= 0.1


# ---------------------------------------------------------------------- restarts


def slope(table: list[dict[str, float | str]], what: str) -> float:
    points = [(math.log(float(row["tops"])), math.log(float(row["error"]))) for row in table if row["what"] == what]
    return float(np.polyfit(*zip(*points, strict=True), 1)[0])


def test_the_error_of_restarts_grows_like_the_fourth_root() -> None:
    """Fixed draws. The mean of 400 runs is known to 2 %, and the slope over a factor of 256 to 0.006: eight of them."""
    table = restarts(10**6, 2_000, [1, 4, 16, 64, 256], noise=Stream(bytes(32), "restarts"), runs=400)
    assert slope(table, MEASURED) == pytest.approx(0.25, abs=0.05)
    assert slope(table, THEOREM) == pytest.approx(0.25, abs=0.01)
    assert slope(table, CERTIFIED) == pytest.approx(0.25, abs=0.05)
    errors = {(row["tops"], row["what"]): float(row["error"]) for row in table}
    assert all(errors[tops, MEASURED] < errors[tops, CERTIFIED] for tops in (1, 4, 16, 64, 256))
    assert restart_epsilon(10**6, 2_000, 16) == pytest.approx(restart_epsilon(10**6, 2_000, 1) / 2)


def test_another_power_would_be_seen() -> None:
    """With epsilon that does not fall with m the measured error does not grow: the slope is the epsilon's."""
    noise = Stream(bytes(32), "flat")
    errors = [np.mean([measured_error(2_000, tops, 0.01, noise) for _ in range(400)]) for tops in (1, 256)]
    assert abs(math.log(errors[1] / errors[0]) / math.log(256)) < 0.05


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Run(0.0, 1.0), "above 0"),
        (lambda: Run(1.0, math.nan), "above 0"),
        (lambda: Run(1.0, 1.0, math.inf), "finite"),
        (lambda: Run(1.0, 1.0, tops=0), "whole number from 1"),
        (lambda: Run(1.0, 1.0, 1.0, fresh=False), "fresh"),
        (lambda: refreshed_run(0.0), "epsilon"),
        (lambda: refreshed_run(math.nan), "epsilon"),
        (lambda: standard(1.0, 2, "odd"), "even"),
        (lambda: sparse_scale(1.0, 1.5, 2), "delta"),
        (lambda: largest_error(refreshed_run(1.0), 0, 0.05), "asks"),
        (lambda: largest_error(refreshed_run(1.0), 10, 1.0), "beta"),
        (lambda: run_price(refreshed_run(1.0), 0, 10, 0.05), "rows"),
        (lambda: restart_epsilon(100, 1, 1), "asks"),
    ],
)
def test_bad_numbers_are_told_the_valid_range(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]
