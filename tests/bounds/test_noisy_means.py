"""Theorem F: the cost of a noisy count, for every count there is, and what follows for the population."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from unworn.bounds.covers import (
    WIDEST_RADIUS,
    _reach,
    allows_low_counts,
    cosine_nats,
    gaussian_nats,
    low_count_nats,
    low_count_parts,
    low_count_squares,
    stretched_variance,
)
from unworn.bounds.noisy_means import (
    best_cosine,
    best_gaussian,
    best_zero,
    claim_nats,
    cosine_plan,
    count_limits,
    gaussian_plan,
)


def _spline_weights(place: float) -> dict[int, float]:
    """How a place is rounded: a spline of order 7, by Cox and de Boor's recursion instead of powers."""
    knots = [k - 3.5 for k in range(8)]

    def basis(k: int, order: int, x: float) -> float:
        if order == 1:
            return float(knots[k] <= x < knots[k] + 1)
        left = (x - knots[k]) / (order - 1) * basis(k, order - 1, x)
        right = (knots[k] + order - x) / (order - 1) * basis(k + 1, order - 1, x) if k + 1 < 8 else 0.0
        return left + right

    knots += [knots[-1] + 1]
    return {j: basis(0, 7, place - j) for j in range(math.floor(place) - 4, math.floor(place) + 6)}


def _direct_cost(n: int, kept: float, radius: int, zero: int | None = None) -> float:
    """The same cost by plain sums over every count, every number kept and every outcome: slow, and not our code."""
    return max(_direct_costs(n, kept, radius, 0.5, stretched_variance(n, kept), range(n + 1), zero))


def _direct_costs(
    n: int,
    kept: float,
    radius: int,
    centre: float,
    variance: float,
    counts: Iterable[int],
    zero: int | None = None,
) -> list[float]:
    """The cost at each of these counts, where rows that count pull by 1 - ``centre`` and others by -``centre``."""

    def law(count: int) -> dict[int, float]:
        found: dict[int, float] = {}
        for ones in range(count + 1):
            for rest in range(n - count + 1):
                chance = float(binom.pmf(ones, count, kept) * binom.pmf(rest, n - count, kept))
                pulls = (ones * (1 - centre) - rest * centre) / kept
                for j, weight in _spline_weights(pulls + n * centre - count).items():
                    found[j] = found.get(j, 0.0) + chance * weight
        return found

    zero = zero or radius
    heights_at = {z: 1 + math.cos(math.pi * z / zero) for z in range(1 - radius, radius)}
    noise = {z: height / math.fsum(heights_at.values()) for z, height in heights_at.items()}
    # The continuous raised cosine, spread by a normal, by Gauss's rule.
    spread = math.sqrt(variance)
    nodes, weights = np.polynomial.legendre.leggauss(600)
    steps = radius * nodes
    heights = weights * (1 + np.cos(np.pi * steps / zero))
    places = np.arange(-60 * n - radius, 60 * n + radius + 1)
    shifted = -0.5 * ((places[:, np.newaxis] - steps) / spread) ** 2
    tops = shifted.max(axis=1)
    logs = np.log((heights * np.exp(shifted - tops[:, np.newaxis])).sum(axis=1)) + tops
    logs -= logs.max() + math.log(np.exp(logs - logs.max()).sum())
    cover = dict(zip(places.tolist(), logs.tolist(), strict=True))
    costs = []
    for count in counts:
        shifts = law(count)
        means = ((f, sum(chance * cover[z - y] for y, chance in shifts.items())) for z, f in noise.items())
        costs.append(max(math.log(f) - mean for f, mean in means))
    return costs


@pytest.mark.parametrize(("n", "kept", "radius"), [(12, 0.5, 20), (13, 0.7, 9), (20, 0.35, 40), (9, 0.3, 4)])
def test_the_cost_is_that_of_plain_sums_over_all_counts(n: int, kept: float, radius: int) -> None:
    direct = _direct_cost(n, kept, radius)
    assert direct * (1 - 1e-6) <= cosine_nats(n, kept, radius) <= direct * 1.001 + 1e-9


CUT = [(12, 0.5, 20, 22), (13, 0.7, 9, 11), (9, 0.3, 4, 7), (7, 0.8, 3, 20)]


@pytest.mark.parametrize(("n", "kept", "radius", "zero"), CUT)
def test_the_cost_of_noise_that_is_cut_off_is_that_of_plain_sums(n: int, kept: float, radius: int, zero: int) -> None:
    direct = _direct_cost(n, kept, radius, zero)
    assert direct * (1 - 1e-6) <= cosine_nats(n, kept, radius, zero) <= direct * 1.001 + 1e-9


def test_a_cosine_that_reaches_nought_at_its_radius_is_not_cut_off() -> None:
    for n, kept, radius in ((100, 0.6, 20), (10_000, 0.7, 400)):
        assert cosine_nats(n, kept, radius, radius) == cosine_nats(n, kept, radius)


def test_mistakes_with_noise_that_is_cut_off_are_found_out() -> None:
    """Each would be too cheap, and the plain sums above say so."""
    n, kept, radius, zero = 9, 0.3, 4, 7
    costs = _direct_costs(n, kept, radius, 0.5, stretched_variance(n, kept), range(n + 1), zero)
    assert cosine_nats(n, kept, radius, zero) >= max(costs) * (1 - 1e-6)
    # Weights that do not add up to 1: those of the whole cosine.
    before = sum(0.5 * (1 + math.cos(math.pi * z / zero)) for z in range(1 - radius, radius)) / zero
    assert max(costs) + math.log(before) < 0.9 * cosine_nats(n, kept, radius, zero)
    # A table off by one: the price of noise that stays one row further in or out.
    for other in (radius - 1, radius + 1):
        assert abs(math.log(cosine_nats(n, kept, other, zero) / max(costs))) > 0.05
    # One count only: n/2 is not always the dearest.
    costs = _direct_costs(8, 0.6, 6, 0.5, stretched_variance(8, 0.6), range(9), 8)
    assert costs[4] < 0.995 * max(costs)
    assert cosine_nats(8, 0.6, 6, 8) >= max(costs) * (1 - 1e-6)


def test_a_cut_further_in_shows() -> None:
    """At 5/4 standard deviations of Y from where it would be 0 the noise costs as if it were whole; at 3/2 it does not.

    So a cost by the formula of the whole cosine would be too low there, and is not what is told.
    """
    n, kept, radius = 100_000, 0.857, 2254
    spread = math.sqrt(stretched_variance(n, kept))
    for cut, least, most in ((1.0, 0.99, 1.001), (1.25, 0.99, 1.001), (1.5, 5.0, 50.0)):
        zero = math.floor(radius + cut * spread)
        assert least < cosine_nats(n, kept, radius, zero) / (math.pi**2 * spread**2 / (2 * zero**2)) < most


@pytest.mark.parametrize(
    ("n", "k", "gain"), [(200, 2, 0.2), (1_000, 60, 0.2), (10_000, 27, 0.3), (10_000, 700, 0.1), (100_000, 5_000, 0.05)]
)
def test_noise_that_is_cut_off_costs_less(n: int, k: int, gain: float) -> None:
    radius = round(best_cosine(n, k, 0.05).noise)
    zero = best_zero(n, k, 0.05, radius)
    kept = cosine_plan(n, k, 0.05, radius, zero).kept
    assert radius + math.sqrt(stretched_variance(n, kept)) - 1 <= zero
    assert zero <= radius + 1.25 * math.sqrt(stretched_variance(n, kept))
    assert cosine_nats(n, kept, radius, zero) < (1 - gain) * cosine_nats(n, kept, radius)
    assert cosine_plan(n, k, 0.05, radius, zero).width < cosine_plan(n, k, 0.05, radius).width


PLANS = [(10, 1, 0.5), (100, 30, 0.05), (3_000, 3, 0.001), (3_000, 2_000, 0.05)]
RADII = [(*plan, radius) for plan in PLANS for radius in (2, 3, 10, 40, 300) if radius <= plan[0]]


@pytest.mark.parametrize(("n", "k", "beta", "radius"), RADII)
def test_whatever_the_plan_and_the_radius_the_cut_is_no_loss(n: int, k: int, beta: float, radius: int) -> None:
    plan = cosine_plan(n, k, beta, radius, best_zero(n, k, beta, radius))
    assert plan.kappa <= cosine_nats(n, plan.kept, radius) * (1 + 1e-4)


LOW_COUNTS = [(12, 0.5, 9, 3), (16, 0.6, 6, 3), (20, 0.3, 14, 5), (14, 0.8, 5, 2), (15, 0.25, 9, 1)]


@pytest.mark.parametrize(("n", "kept", "radius", "most"), LOW_COUNTS)
def test_of_low_counts_the_largest_costs_most(n: int, kept: float, radius: int, most: int) -> None:
    """By plain sums, at every count: they rise, so that one count is enough, and past the check they rise further."""
    assert allows_low_counts(n, kept, most)
    parts, variance = low_count_parts(n, most), low_count_squares(n, most) * (1 - kept) / kept + 7 / 12
    costs = _direct_costs(n, kept, radius, 1 / parts, variance, range(n + 1))
    assert all(low <= high + 1e-12 for low, high in pairwise(costs[: most + 1]))
    assert costs[most] * (1 - 1e-6) <= low_count_nats(n, kept, radius, most) <= costs[most] * 1.001 + 1e-9
    assert costs[-1] > 1.5 * low_count_nats(n, kept, radius, most)  # it holds for rows that were checked, and no others


def test_low_counts_that_nothing_is_known_of_are_not_priced() -> None:
    assert low_count_nats(100, 0.7, 10, 40) == math.inf  # 1/2 is more than 1 - kept
    assert low_count_nats(100, 0.2, 10, 30) == math.inf  # and 1/3 more than kept
    for n, kept, radius, most in [(10**15, 0.5, 2, 3), (10**12, 0.5, 2**40, 10), (10**13, 0.5, 100, 10**9)]:
        assert low_count_nats(n, kept, radius, most) == math.inf  # what would fill the memory
    for bad in (0, 101, 2.5, True):
        with pytest.raises((ValueError, TypeError)):
            low_count_nats(100, 0.6, 10, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "kept", "radius", "most"), [(1_000, 0.6, 24, 40), (100_000, 0.83, 689, 3_500)])
def test_low_counts_cost_what_their_variance_says(n: int, kept: float, radius: int, most: int) -> None:
    first_order = math.pi**2 * (low_count_squares(n, most) * (1 - kept) / kept + 7 / 12) / (2 * radius**2)
    assert 0.9 < low_count_nats(n, kept, radius, most) / first_order < 1.001
    assert low_count_squares(n, most) == pytest.approx(most * (1 - most / n), rel=0.01)


@pytest.mark.parametrize(("n", "kept", "radius"), [(1_000, 0.55, 70), (10_000, 0.762, 436), (100_000, 0.925, 4790)])
def test_the_cost_is_that_of_the_eigenfunction(n: int, kept: float, radius: int) -> None:
    first_order = math.pi**2 * stretched_variance(n, kept) / (2 * radius**2)
    assert 0.85 < cosine_nats(n, kept, radius) / first_order < 1.0005


@pytest.mark.parametrize("zero", [60, 70])
def test_no_count_between_those_looked_at_costs_more(zero: int) -> None:
    from unworn.bounds import covers

    told = cosine_nats(400, 0.6, 60, zero)
    everything = covers._FINE
    try:
        covers._FINE = 0.0  # every count, and nothing added
        each = cosine_nats.__wrapped__(400, 0.6, 60, zero)
    finally:
        covers._FINE = everything
    assert each <= told <= each * 1.001


@pytest.mark.parametrize(
    ("n", "kept", "radius"),
    [(10_000, 1e-9, 100), (10**15, 0.5, 1_000), (10**12, 1e-300, 2), (10_000, 0.5, 2**40), (10**15, 1e-6, 2**22)],
)
def test_what_a_forger_may_write_costs_no_time_and_is_not_priced(n: int, kept: float, radius: int) -> None:
    """A ledger that somebody else wrote names any numbers: what would fill the memory is refused at once."""
    assert cosine_nats(n, kept, radius) == math.inf


def test_noise_that_is_too_wide_in_one_way_is_not_priced() -> None:
    widest = WIDEST_RADIUS
    assert cosine_nats(10_000, 0.9, widest + 1) == math.inf
    assert cosine_nats(10_000, 0.9, 100, 2 * widest + 1) == math.inf
    assert cosine_nats(10_000, 0.9, 100, 2 * widest) < math.inf
    plan = cosine_plan(10_000, 10, 0.05, widest + 1)
    assert (plan.noise, plan.reach, plan.width) == (widest + 1, widest, 1.0)  # and says nothing of the answer
    assert plan.kappa == plan.nats == math.inf


@pytest.mark.parametrize("kept", [0.02, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("n", [10_000, 10**6])
def test_noise_is_followed_as_far_as_bernstein_allows_e_to_the_minus_70_beyond(n: int, kept: float) -> None:
    """And no farther than that: but for the seven places that rounding to a spline needs."""
    reach, largest, variance = _reach(n, kept, n / 4, 2), max(1 / kept - 1, 1.0) / 2, n / 4 * (1 - kept) / kept

    def exponent(far: float) -> float:
        return far**2 / (2 * variance + 2 * largest * far / 3)

    assert exponent(reach) >= 70.0
    assert exponent(reach - 10) < 70.0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_plan_for_a_row_or_two_is_made_and_says_nothing(n: int) -> None:
    assert cosine_plan(n, 1, 0.05, 2).width == gaussian_plan(n, 1, 0.05, 1.0).width == 1.0


@pytest.mark.parametrize(
    ("n", "kept", "radius"), [(10**9, 1 - 1e-9, 2), (10**15, 1 - 1e-12, 3), (2, 0.02, 2), (1, 0.9, 2)]
)
def test_odd_plans_have_a_finite_cost(n: int, kept: float, radius: int) -> None:
    assert 0 < cosine_nats(n, kept, radius) < math.inf


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(50, 20_000), st.floats(0.2, 0.95), st.integers(10, 400))
def test_costs_fall_with_the_noise_and_with_the_rows_kept(n: int, kept: float, radius: int) -> None:
    assert cosine_nats(n, kept, 2 * radius) < cosine_nats(n, kept, radius)
    assert cosine_nats(n, (1 + kept) / 2, radius) < cosine_nats(n, kept, radius)
    assert gaussian_nats(n, (1 + kept) / 2, radius) < gaussian_nats(n, kept, radius)
    assert gaussian_nats(n, kept, 2.0 * radius) < gaussian_nats(n, kept, radius)


def test_gaussian_cost_is_exact() -> None:
    """E (z - Y)^2 - z^2 = Var Y, for every z: with the variance of a two-point pull and of seven uniform numbers."""
    kept, n = Fraction(3, 4), 1000
    pull = (1 / kept - 1) / 2
    variance = n * (kept * pull**2 + (1 - kept) / 4) + Fraction(7, 12)
    assert gaussian_nats(n, 0.75, 10.0) == pytest.approx(float(variance) / 200, rel=1e-11)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(200, 50_000), st.integers(1, 10**5), st.floats(1e-6, 0.5))
def test_widths_rise_with_asks_and_fall_with_rows_and_miss_probability(n: int, k: int, beta: float) -> None:
    for best in (best_cosine, best_gaussian):
        width = best(n, k, beta).width
        assert best(n, 4 * k, beta).width >= width - 1e-3
        assert best(4 * n, k, beta).width <= width + 1e-3
        assert best(n, k, beta / 4).width >= width - 1e-3


@pytest.mark.parametrize(("n", "k", "alpha"), [(10_000, 740, 0.1), (100_000, 89_000, 0.1), (10**6, 9_660_000, 0.1)])
def test_so_many_answers_within_a_tenth(n: int, k: int, alpha: float) -> None:
    assert best_cosine(n, k, 0.05).width <= alpha


@pytest.mark.parametrize(("n", "k"), [(10_000, 40), (100_000, 5_000), (10**6, 570_000)])
def test_so_many_answers_within_a_twentieth(n: int, k: int) -> None:
    assert best_cosine(n, k, 0.05).width <= 0.05


@pytest.mark.parametrize(("n", "k"), [(10_000, 360), (100_000, 34_000), (10**6, 2_829_000)])
def test_gaussian_noise_within_a_tenth(n: int, k: int) -> None:
    assert best_gaussian(n, k, 0.05).width <= 0.1


def test_never_narrower_than_one_untouched_interval() -> None:
    from unworn.bounds import clopper_pearson

    for n in (100, 1_000, 10_000):
        low, high = clopper_pearson(n // 2, n, math.log(0.05))
        assert cosine_plan(n, 1, 0.05, 2).width > (high - low) / 2


def test_limits_hold_exactly_at_their_level() -> None:
    low, high = count_limits(400, 600, 1_000, 12.0)
    assert binom.logsf(399, 1_000, low) == pytest.approx(-12.0, abs=1e-6)
    assert binom.logcdf(600, 1_000, high) == pytest.approx(-12.0, abs=1e-6)
    assert count_limits(-50, 2_000, 1_000, 12.0) == (0.0, 1.0)


def test_limits_widen_with_nats_and_with_what_is_not_sure() -> None:
    told = [count_limits(450 - reach, 550 + reach, 1_000, nats) for nats in (1.0, 5.0, 50.0) for reach in (0, 40)]
    assert all(a[0] >= b[0] and a[1] <= b[1] for a, b in pairwise(told[::2]))
    assert all(told[i][0] > told[i + 1][0] and told[i][1] < told[i + 1][1] for i in (0, 2, 4))


@pytest.mark.parametrize("bad", [0.0, 1.0, -1.0, math.nan, math.inf])
def test_what_is_no_probability_is_refused(bad: float) -> None:
    for call in (
        lambda: claim_nats(bad, 1.0, 0.5),
        lambda: claim_nats(0.05, 1.0, bad),
        lambda: cosine_nats(100, bad, 10),
        lambda: best_cosine(100, 10, bad),
        lambda: gaussian_plan(100, 10, bad, 5.0),
    ):
        with pytest.raises(ValueError, match="between 0 and 1"):
            call()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
def test_what_is_no_cost_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="sigma"):
        gaussian_nats(100, 0.5, bad)
    with pytest.raises(ValueError, match="nats"):
        claim_nats(0.05, bad, 0.5)
    with pytest.raises(ValueError, match="nats"):
        count_limits(1, 2, 10, bad)


def _play(n: int, k: int, radius: int, zero: int, rng: np.random.Generator) -> float:
    """The bias of the strongest attack known to us: random questions, each weighed by what its answer gave away."""
    questions = rng.integers(0, 2, size=(k, n), dtype=np.int8)  # of a population where every question is a fair coin
    counts = questions.sum(axis=1, dtype=np.int64)
    z = np.arange(1 - radius, radius)
    law = 1 + np.cos(np.pi * z / zero)
    told = counts + rng.choice(z, size=k, p=law / law.sum())
    # Bayes: what the count is on average, given what was told; a row's vote is the sum of what its ones gained.
    c = np.arange(n + 1)
    prior = binom.pmf(c, n, 0.5)
    distance = np.abs(told[:, None] - c[None, :])
    likely = np.where(distance < radius, 1 + np.cos(np.pi * distance / zero), 0.0) * prior
    gains = likely @ (c - n / 2) / likely.sum(axis=1)
    return float(np.mean(gains @ (2.0 * questions - 1.0) > 0)) - 0.5


def test_the_attack_has_bite_and_stays_below_the_bound() -> None:
    """The last question ("is the vote for this row positive?") has a true share of one half: its bias is the attack's.

    In 30 plays of another seed the bias was .516 of what is allowed, with a standard deviation of .085 of it (mostly
    the sampling error of 2,000 rows). So the mean of ten falls below .35 with a chance of 1e-9, one of them passes the
    bound with a chance of 6e-8; and with a third of the noise the mean stays below it with a chance far below 1e-9.
    """
    n, k = 2_000, 400
    plan = best_cosine(n, k, 0.05)
    allowed = math.sqrt(plan.nats / (2 * n))
    rng = np.random.default_rng(5)
    radius = round(plan.noise)
    biases = [_play(n, k, radius, best_zero(n, k, 0.05, radius), rng) for _ in range(10)]
    assert max(biases) < allowed
    assert np.mean(biases) > 0.35 * allowed
    assert np.mean([_play(n, k, radius // 3, radius // 3, rng) for _ in range(10)]) > allowed
