"""D2 against every private channel there is, by linear programming, and the intervals it makes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from unworn.bounds.privacy.profiles import GDP, Profile
from unworn.bounds.transfer.price import Price, Stability, stability
from unworn.bounds.transfer.sharpened_transfer import d2, d2_gap

quiet = settings(derandomize=True, deadline=None, max_examples=100)


def worst(population: np.ndarray, rows: int, profile: list[tuple[float, float]], chance: float, odds: float) -> float:
    """The largest E[1_E (mean of u over the rows - psi(theta))] of any channel with this profile and P(E) = chance.

    The channel's output is the question itself, one of all 0/1 functions on the population's values, or "not E".
    ``odds`` is what psi multiplies odds by; at 1 the result is the gap.
    """
    values = len(population)
    questions = np.array(list(itertools.product([0, 1], repeat=values)), dtype=float)
    samples = list(itertools.product(range(values), repeat=rows))
    theta = questions @ population
    psi = odds * theta / (1 + (odds - 1) * theta)
    gain = np.array([questions[:, list(sample)].mean(axis=1) - psi for sample in samples])
    return largest(population, rows, profile, chance, gain)


def largest(
    population: np.ndarray, rows: int, profile: list[tuple[float, float]], chance: float, gain: np.ndarray
) -> float:
    """The largest mean of ``gain``, a number for every sample and output but the last, which is "not E": it gains 0."""
    values, outputs = len(population), gain.shape[1] + 1
    samples = list(itertools.product(range(values), repeat=rows))
    place = {sample: at for at, sample in enumerate(samples)}
    weight = np.array([np.prod(population[list(sample)]) for sample in samples])
    pairs = [
        (place[sample], place[(*sample[:i], x, *sample[i + 1 :])])
        for sample in samples
        for i in range(rows)
        for x in range(values)
        if x != sample[i]
    ]
    main, slack = len(samples) * outputs, len(pairs) * outputs * len(profile)
    objective = np.zeros(main + slack)
    objective[:main] = -np.pad(weight[:, None] * gain, ((0, 0), (0, 1))).ravel()
    row, column, entry, limit = [], [], [], []
    first = main
    for eps, delta in profile:
        for here, there in pairs:
            for out in range(outputs):
                row += [len(limit)] * 3
                column += [here * outputs + out, there * outputs + out, first + out]
                entry += [1.0, -math.exp(eps), -1.0]
                limit.append(0.0)
            row += [len(limit)] * outputs
            column += range(first, first + outputs)
            entry += [1.0] * outputs
            limit.append(delta)
            first += outputs
    inequalities = sparse.csr_matrix((entry, (row, column)), shape=(len(limit), main + slack))
    equal = np.zeros((len(samples) + 1, main + slack))
    for at in range(len(samples)):
        equal[at, at * outputs : (at + 1) * outputs] = 1.0
        equal[-1, at * outputs : (at + 1) * outputs - 1] = weight[at]
    right = np.append(np.ones(len(samples)), chance)
    found = linprog(objective, A_ub=inequalities, b_ub=limit, A_eq=equal, b_eq=right, bounds=(0, None), method="highs")
    assert found.status == 0
    return -float(found.fun)


@pytest.mark.parametrize(("values", "rows"), [(2, 1), (3, 1), (4, 1), (2, 2)])
def test_no_private_channel_has_a_larger_gap(values: int, rows: int) -> None:
    rng = np.random.default_rng(11)
    for _ in range(12):
        population = rng.dirichlet(np.full(values, rng.choice([0.5, 5.0])))
        eps, chance = float(rng.choice([0.0, 0.1, 0.5, 2.0])), float(rng.choice([0.02, 0.1, 0.5, 0.9]))
        delta = chance * float(rng.choice([0.0, 0.01, 0.1, 0.5]))
        private = [(eps, delta)]
        assert worst(population, rows, private, chance, 1.0) <= chance * d2_gap(eps, delta, chance) + 1e-9
        # The odds form is pointwise: nothing but delta is left beyond the odds.
        assert worst(population, rows, private, chance, math.exp(eps)) <= delta + 1e-9


@pytest.mark.parametrize("eps", [0.1, 0.5, 2.0])
def test_shares_and_statistics_hold_together_at_one_delta(eps: float) -> None:
    """Outputs name a share, which gains q(S) - psi(theta), or a statistic of sensitivity 1/n, q(S) - q(P) - t."""
    rng = np.random.default_rng(7)
    samples, t = list(itertools.product(range(2), repeat=2)), math.tanh(eps / 4)
    statistics = np.array([[max(s), min(s), sum(s) % 2, s[0], s[1]] for s in samples]) / 2
    statistics = np.concatenate([statistics, -statistics], axis=1)
    tightest = without = 0.0
    for _ in range(8):
        high = float(rng.uniform(0.1, 0.9))
        population = np.array([1 - high, high])
        weight = np.array([np.prod(population[list(s)]) for s in samples])
        shares = np.array([[sum(s) / 2, 1 - sum(s) / 2, 0.0] for s in samples])
        theta = weight @ shares
        share = shares - math.exp(eps) * theta / (1 + math.expm1(eps) * theta)
        statistic = statistics - weight @ statistics
        chance = float(rng.choice([0.05, 0.3, 0.9]))
        for delta in (0.01 * chance, 0.2 * chance):
            found, bare = (
                largest(population, 2, [(eps, delta)], chance, np.concatenate([share, part], axis=1)) / delta
                for part in (statistic - t, statistic)
            )
            assert found <= 1 + 1e-7
            tightest, without = max(tightest, found), max(without, bare)
    assert tightest > 0.1  # the delta is used
    assert without > 1.5  # and the t is needed


def test_the_worst_channel_attains_it() -> None:
    eps, chance = 1.0, 0.1
    share = 1 / (1 + math.exp(eps / 2))
    gap = worst(np.array([1 - share, share]), 1, [(eps, 0.0)], chance, 1.0)
    assert gap == pytest.approx(chance * math.tanh(eps / 4), rel=1e-9)


def test_gaussian_channels_stay_below() -> None:
    profile = GDP(0.5)
    grid = np.linspace(0.0, 2.0, 6)
    pairs = [(float(eps), float(profile.delta(eps))) for eps in grid]
    for chance in (0.05, 0.3):
        gap = worst(np.full(3, 1 / 3), 1, pairs, chance, 1.0)
        assert gap <= chance * min(d2_gap(*pair, chance) for pair in pairs) + 1e-9
        assert gap > 0.5 * chance * d2(profile, chance)


# ---------------------------------------------------------------------- the price

prices = st.builds(Price, st.floats(0, 0.2), st.floats(0, 1.5), st.floats(0, 0.1))


def psi(theta: float, price: Price) -> float:
    odds = ((2 + price.tilt) / (2 - price.tilt)) ** 2
    return odds * theta / (1 + (odds - 1) * theta)


@quiet
@given(price=prices, theta=st.floats(0, 1), place=st.floats(0, 1))
def test_limits_hold_what_the_theorem_allows(price: Price, theta: float, place: float) -> None:
    margin = price.noise + price.floor
    low, high = 1 - psi(1 - theta, price) - margin, psi(theta, price) + margin
    released = low + place * (high - low)
    below, above = price.limits(released)
    assert below - 1e-12 <= theta <= above + 1e-12
    # And just outside of them the theorem does not allow the released value.
    for end, inside in ((below - 1e-6, below > 1e-5), (above + 1e-6, above < 1 - 1e-5)):
        if inside:
            assert not 1 - psi(1 - end, price) - margin <= released <= psi(end, price) + margin


@quiet
@given(price=prices, released=st.floats(-3, 4))
def test_limits_are_never_wider_than_the_width(price: Price, released: float) -> None:
    low, high = price.limits(released)
    assert 0 <= low <= high <= 1
    assert low >= min(1.0, released - price.width) - 1e-12
    assert high <= max(0.0, released + price.width) + 1e-12


@quiet
@given(price=prices, released=st.floats(-1, 2), more=st.floats(0, 1))
def test_limits_move_with_the_release_and_mirror(price: Price, released: float, more: float) -> None:
    low, high = price.limits(released)
    further = price.limits(released + more)
    assert further[0] >= low - 1e-12
    assert further[1] >= high - 1e-12
    mirrored = price.limits(1 - released)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_rare_events_get_narrow_intervals() -> None:
    price = Price(0.002, 0.1, 0.001)
    low, high = price.limits(0.001)
    assert high - low < 0.15 * 2 * price.width


def test_stability_is_d2_but_for_a_sliver() -> None:
    for mu in (0.01, 0.05, 0.2):
        found = stability(GDP(mu), 0.05)
        assert isinstance(found, Stability)
        assert d2(GDP(mu), 0.05) <= found.width <= 1.02 * d2(GDP(mu), 0.05)


def test_a_useless_price_still_answers() -> None:
    assert Price(0.0, 2.0, 0.0).limits(0.5) == (0.0, 1.0)
    assert Price(5.0, 0.1, 0.0).limits(0.5) == (0.0, 1.0)


def test_refuses_what_is_no_number() -> None:
    with pytest.raises(ValueError, match="noise"):
        Price(math.nan, 0.1, 0.1)
    with pytest.raises(ValueError, match="tilt"):
        Price(0.1, -0.1, 0.1)
    for released in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="not a number"):
            Price(0.1, 0.1, 0.1).limits(released)

    class Nothing:
        def delta(self, epsilon: object) -> np.ndarray:
            return np.zeros(np.shape(epsilon))

    nothing: Profile = Nothing()
    assert stability(nothing, 0.05) == Stability(0.0, 0.0)
