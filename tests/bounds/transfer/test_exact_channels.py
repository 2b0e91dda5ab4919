"""The transfer theorems against the worst channels there are, and planted mistakes that those channels expose.

``largest_gap`` and ``largest_miss`` are maxima over all private interactions on a small world, so no search for a
clever analyst is needed: a theorem is true there or it is not. HiGHS meets its constraints to 1e-7, which the slacks
below allow for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from tests.bounds.transfer.channels import Floats, World, largest_gap, largest_miss
from tests.two_sizes import in_two_sizes
from unworn.bounds.privacy import GDP, Approximate, Profile
from unworn.bounds.transfer.price import Price, stability
from unworn.bounds.transfer.sharpened_transfer import d1, d1_gap, d1_plus, d1_plus_gap, d2, d2_gap

Bound = Callable[[Profile, float], float]

SMALL = [World(1, (0.5, 0.5)), World(1, (0.2, 0.3, 0.5)), World(1, (0.2,) * 5), World(2, (0.5, 0.5))]
LARGE = [World(1, (1 / 6,) * 6), World(1, (0.02, 0.08, 0.1, 0.2, 0.25, 0.35)), World(2, (0.2, 0.3, 0.5))]
LARGE += [World(2, (1 / 3,) * 3), World(3, (0.5, 0.5)), World(3, (0.1, 0.9))]
PRICES = [(0.0, 0.01), (0.1, 0.0), (0.1, 0.01), (0.5, 0.001), (0.5, 0.1), (2.0, 0.01)]
LEVELS = [0.01, 0.05, 0.3, 0.9]


def odds(profile: Profile, beta: float) -> float:
    """What the published intervals use: D2 in its first form."""
    return stability(profile, beta).width


def at(tilt: Callable[[float], float], rest: Callable[[float], float]) -> Bound:
    """A bound tilt(eps) + rest(eps) delta/beta at the one eps of an (eps, delta) profile."""

    def bound(profile: Profile, beta: float) -> float:
        assert isinstance(profile, Approximate)
        return tilt(profile.epsilon) + rest(profile.epsilon) * profile.floor / beta

    return bound


@cache
def attained(world: World, price: tuple[float, float], p: float) -> float:
    """The largest gap of a channel, whatever bound it is held against."""
    return largest_gap(world, [price], p)


def worst_gap(worlds: list[World], bound: Bound) -> float:
    """The largest ratio of what a channel attains to what the bound allows: above 1 the bound is false."""
    return max(
        attained(world, price, p) / (p * max(bound(Approximate(*price), p), 1e-6))
        for world in worlds
        for price in PRICES
        for p in LEVELS
    )


def worst_miss(worlds: list[World], reach: Callable[[World, Approximate, float, float], Floats]) -> float:
    """The largest ratio of a channel's miss probability to beta, a miss being an answer beyond its reach."""
    ratios = []
    for world in worlds:
        for price in PRICES[1:5]:
            for beta in (0.05, 0.3):
                for noise, corner in ((0.0, 0.0), (0.2, 0.0), (0.2, 0.1), (0.2, 0.2), (0.8, 0.0)):
                    ends = reach(world, Approximate(*price), noise, beta)
                    ratios.append(largest_miss(world, [price], ends, noise, beta, corner) / beta)
    return max(ratios)


def one_width(bound: Bound, share: float = 1.0) -> Callable[[World, Approximate, float, float], Floats]:
    """Answers miss beyond the truth + the noise (or a share of it) + the bound."""
    return lambda world, profile, noise, beta: world.truth + share * noise + bound(profile, beta)


def in_odds(world: World, profile: Approximate, noise: float, beta: float) -> Floats:
    """Answers miss where the published interval leaves the truth below: found on its own lower ends, by bisection."""
    stable = stability(profile, beta)
    price = Price(noise, stable.tilt, stable.floor)
    low, high = world.truth, world.truth + price.width + 1e-9
    for _ in range(50):
        middle = (low + high) / 2
        misses = np.array([price.limits(r)[0] > t for r, t in zip(middle, world.truth, strict=True)])
        low, high = np.where(misses, low, middle), np.where(misses, middle, high)
    return high + 1e-4  # at 0 the interval may have no margin, and the solver cannot see a miss by less


NARROW = SMALL[:2] + SMALL[3:]
"""Those on which a miss is found soon enough."""


@pytest.mark.parametrize(("bound", "reached"), [(d1, 0.79), (d1_plus, 0.9), (odds, 0.999), (d2, 0.999)])
@in_two_sizes(short=SMALL, full=LARGE)
def test_no_channel_has_a_larger_gap_and_one_comes_near(bound: Bound, reached: float, size: list[World]) -> None:
    """Nothing here is random. How near one comes is asserted of the small worlds alone."""
    assert (reached if size is SMALL else 0.0) <= worst_gap(size, bound) <= 1 + 1e-4


@pytest.mark.parametrize(("bound", "reached"), [(d1, 0.8), (d1_plus, 0.9), (odds, 0.98), (d2, 0.98)])
@in_two_sizes(short=NARROW, full=LARGE)
def test_no_channel_misses_more_often_and_one_comes_near(bound: Bound, reached: float, size: list[World]) -> None:
    assert (reached if size is NARROW else 0.0) <= worst_miss(size, one_width(bound)) <= 1 + 1e-4


@in_two_sizes(short=NARROW, full=LARGE)
def test_no_channel_misses_the_published_interval_more_often_and_one_comes_near(size: list[World]) -> None:
    assert (0.98 if size is NARROW else 0.0) <= worst_miss(size, in_odds) <= 1 + 1e-4


@pytest.mark.parametrize(
    "wrong",
    [
        at(lambda e: math.tanh(e / 8), lambda e: 1.0),
        at(lambda e: math.tanh(e / 4), lambda e: 0.0),
        at(lambda e: math.tanh(e / 2), lambda e: 0.0),
        at(lambda e: math.tanh(e / 4), lambda e: 1 / (1 + math.exp(e))),
        at(lambda e: math.tanh(e / 2) / 2, lambda e: 2 / (1 + math.exp(e))),
    ],
    ids=["tilt halved again", "no delta", "no delta in D1", "delta halved again", "D1+ without its second step"],
)
def test_a_planted_mistake_is_exposed(wrong: Bound) -> None:
    """The last: the floor tau s' of D1+ is not an artefact of its proof, tau/2 + c/beta alone is false."""
    assert worst_gap([World(1, (0.25,) * 4), World(1, (0.1,) * 2 + (0.8,))], wrong) > 1.01


def test_the_noise_counts_in_full() -> None:
    """A tenth less than CVaR is too little: the noise may be largest exactly where the sample misleads most."""
    assert worst_miss([World(1, (0.5, 0.5))], one_width(d2, share=0.9)) > 1.01


def test_a_whole_profile_and_not_only_one_epsilon() -> None:
    """Channels held to a Gaussian's delta at many eps at once; the theorems may choose the best of them."""
    profile, world = GDP(0.5), World(1, (0.25,) * 4)
    held = [(eps, float(profile.delta(eps))) for eps in np.linspace(0.0, 2.4, 13)]
    for p in LEVELS[:3]:
        gap = largest_gap(world, held, p) / p
        sharpest = min(d2_gap(*price, p) for price in held)  # the linear programme knows no other eps
        assert gap <= sharpest + 1e-5
        assert sharpest <= min(d1_gap(*price, p) for price in held)
        assert sharpest <= min(d1_plus_gap(*price, p) for price in held)
        assert gap >= 0.85 * d2(profile, p)


@pytest.mark.parametrize("atoms", [2, 10, 1000])
def test_name_and_shame(atoms: int) -> None:
    """One row of N, named with probability delta: (0, delta)-DP, W = 0, P(miss) = delta at any width < 1 - 1/N.

    The theorem at eps = 0 and that width gives delta/width, so the term delta/beta cannot be improved.
    """
    delta, width = 0.01, (1 - 1 / atoms) * (1 - 1e-9)
    beta = delta / width
    assert d1(Approximate(0.0, delta), beta) == pytest.approx(width, rel=1e-6)
    assert delta <= beta
    if atoms == 1000:
        assert delta / beta > 0.998
    if atoms == 2:
        world = World(1, (0.5, 0.5))
        assert largest_miss(world, [(0.0, delta)], world.truth + width, 0.0, beta, 0.0) == pytest.approx(delta)


def test_every_event_of_a_small_space_obeys_the_lemma_on_conditional_value_at_risk() -> None:
    """E[1_E W] <= P(E) CVaR_P(E)(W), W of either sign, with equality where E is where W is largest."""
    chances = np.array([0.05, 0.1, 0.15, 0.2, 0.22, 0.28])
    values = np.array([3.0, 1.5, 1.5, 0.2, -0.4, -2.0])
    below = np.concatenate([[0.0], np.cumsum(chances)])

    def worst_share(p: float) -> float:
        return float(np.sum(values * np.clip(p - below[:-1], 0.0, chances)))  # the values fall, so this is the integral

    for size in range(1, 7):
        for event in combinations(range(6), size):
            held = list(event)
            inside, p = float(values[held] @ chances[held]), float(chances[held].sum())
            assert inside <= worst_share(p) + 1e-12
            if held == list(range(size)):
                assert inside == pytest.approx(worst_share(p))
