"""Selection: the bounds hold for all scores, the worst scores attain them, and the mechanisms keep to their prices."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.privacy import Homogeneous, pure_rho
from unworn.bounds.selection import (
    Selections,
    best_selection,
    range_rho,
    ranged_epsilon,
    selection_epsilon,
    selection_gap,
    selection_mean,
)
from unworn.noise.samplers import exponential_log_pmf, permute_and_flip_pmf

SCORES = st.lists(st.integers(-60, 60), min_size=1, max_size=12)
RATES = st.floats(0.01, 3.0)
MECHANISMS = [lambda scores, rate: np.exp(exponential_log_pmf(scores, rate)), permute_and_flip_pmf]


@given(SCORES, RATES, st.floats(1e-6, 0.9))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_no_scores_do_worse_than_the_bounds(scores: list[int], rate: float, beta: float) -> None:
    away = max(scores) - np.array(scores)
    for chances in (mechanism(scores, rate) for mechanism in MECHANISMS):
        gap = selection_gap(len(scores), 2 * rate, beta)
        assert chances[away > gap].sum() <= beta * (1 + 1e-9)
        assert chances @ away <= selection_mean(len(scores), 2 * rate) * (1 + 1e-9)
    assert gap <= selection_gap(len(scores), 2 * rate, beta, book=True) * (1 + 1e-9)


@pytest.mark.parametrize("candidates", [2, 3, 10, 1000])
def test_the_worst_scores_attain_the_bounds(candidates: int) -> None:
    # A fine grid of scores (sensitivity 1000): all but one so far below.
    fine, epsilon = 1000, 0.5
    gap = selection_gap(candidates, epsilon, 0.05)
    scores = np.append(0, np.full(candidates - 1, -math.floor(gap * fine)))
    chances = np.exp(exponential_log_pmf(scores, epsilon / (2 * fine)))
    assert chances[1:].sum() == pytest.approx(0.05, rel=1e-3)
    mean = selection_mean(candidates, epsilon)
    scores[1:] = -round((mean + 2 / epsilon) * fine)  # (1 + W)/r below
    chances = np.exp(exponential_log_pmf(scores, epsilon / (2 * fine)))
    assert chances @ -scores / fine == pytest.approx(mean, rel=1e-4)


@given(SCORES, RATES)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_permute_and_flip_is_never_worse(scores: list[int], rate: float) -> None:
    order = np.argsort(scores, kind="stable")
    exponential, flipped = (np.cumsum(mechanism(scores, rate)[order]) for mechanism in MECHANISMS)
    steps = np.append(np.diff(np.array(scores)[order]) > 0, True)  # ends of runs of equal scores
    assert (flipped[steps] <= exponential[steps] + 1e-12).all()


@given(SCORES, st.data(), st.floats(0.05, 4.0))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_prices_hold_for_neighbouring_scores(scores: list[int], data: st.DataObject, epsilon: float) -> None:
    moves = data.draw(st.lists(st.integers(-1, 1), min_size=len(scores), max_size=len(scores)))
    other = [score + move for score, move in zip(scores, moves, strict=True)]
    for mechanism, rho in zip(MECHANISMS, (range_rho(epsilon), pure_rho(epsilon)), strict=True):
        p, q = mechanism(scores, epsilon / 2), mechanism(other, epsilon / 2)
        seen = (p > 1e-250) & (q > 1e-250)
        losses = np.log(p[seen] / q[seen])
        assert np.abs(losses).max() <= epsilon + 1e-9
        for order in (1.5, 2.0, 5.0, 30.0):
            renyi = math.log(float((p[seen] * np.exp((order - 1) * losses)).sum())) / (order - 1)
            assert renyi <= order * rho + 1e-9
        if mechanism is MECHANISMS[0]:
            assert np.ptp(losses) <= epsilon + 1e-9


def test_permute_and_flip_does_not_have_the_price_of_the_exponential_mechanism() -> None:
    epsilon, order, worst = 0.5, 2.0, 0.0
    for one, other in itertools.product(itertools.product((0, 1), repeat=3), repeat=2):
        p, q = (permute_and_flip_pmf([5 + moved[0], *moved[1:]], epsilon / 2) for moved in (one, other))
        worst = max(worst, math.log(float((p**order / q ** (order - 1)).sum())) / (order - 1))
    assert order * range_rho(epsilon) < worst <= order * pure_rho(epsilon)


@pytest.mark.parametrize("rounds", [1, 2, 7, 12, 50, 10_000])
@pytest.mark.parametrize("delta", [0.0, 1e-200, 1e-9, 1e-3])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_choices_stay_within_their_budget(epsilon: float, delta: float, rounds: int) -> None:
    each = selection_epsilon(epsilon, delta, rounds)
    assert float(Selections(each, rounds).delta(epsilon)) <= delta
    assert each >= epsilon / rounds * (1 - 1e-15)
    if delta > 0:
        assert float(Selections(each * 1.05, rounds).delta(epsilon)) > delta
    else:  # beyond equal parts there is a delta, if one too small for floats
        assert each * 1.05 * rounds > epsilon


def test_many_choices_cost_what_bounded_range_says() -> None:
    profile = Selections(0.05, 400)
    assert profile.rho == pytest.approx(400 * 0.05**2 / 8)
    assert float(profile.delta(1.0)) < float(Homogeneous(0.05, 0.0, 400).delta(1.0)) / 7
    assert ranged_epsilon(profile.rho, 400) == pytest.approx(0.05)
    assert range_rho(0.01) == pytest.approx(pure_rho(0.01) / 4, rel=1e-4)


def test_which_mechanism() -> None:
    assert best_selection(1.0, 0.0, 1000) == ("permute-and-flip", selection_epsilon(1.0, 0.0, 1000))
    assert best_selection(0.3, 1e-9, 1)[0] == "permute-and-flip"
    name, each = best_selection(0.3, 1e-9, 1000)
    assert (name, each) == ("exponential", selection_epsilon(0.3, 1e-9, 1000))


@given(st.integers(1, 10**6), st.floats(0.01, 5.0), st.floats(1e-9, 0.5), st.floats(0.1, 10.0))
@settings(derandomize=True, deadline=None)
def test_bounds_rise_with_candidates_and_fall_with_epsilon_and_beta(
    m: int, epsilon: float, beta: float, d: float
) -> None:
    gap, mean = selection_gap(m, epsilon, beta, d), selection_mean(m, epsilon, d)
    assert selection_gap(m + 1, epsilon, beta, d) >= gap
    assert selection_gap(m, epsilon, beta / 2, d) >= gap
    assert selection_gap(m, 2 * epsilon, beta, d) == pytest.approx(gap / 2)
    assert selection_gap(m, epsilon, beta, 3 * d) == pytest.approx(3 * gap)
    assert selection_mean(m + 1, epsilon, d) >= mean
    assert mean <= 2 * d / epsilon * math.log(m) + 1e-12


@pytest.mark.parametrize(
    "wrong",
    [
        (0, 1.0, 0.05),
        (2.5, 1.0, 0.05),
        (True, 1.0, 0.05),
        (3, 0.0, 0.05),
        (3, math.nan, 0.05),
        (3, 1.0, 0.0),
        (3, 1.0, 1.0),
        (3, 1.0, 0.05, -1.0),
    ],
)
def test_wrong_numbers_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        selection_gap(*wrong)
