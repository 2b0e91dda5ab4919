"""Boost by majority: weights are what the potential says, and the potential ends at the error."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from unworn.learn.majority_potential import majority_error, majority_rounds, majority_weights

edges = st.floats(0.01, 0.49)
odd = st.integers(0, 40).map(lambda half: 2 * half + 1)


@given(odd, edges)
def test_the_error_is_a_binomial_tail(rounds: int, edge: float) -> None:
    assert majority_error(rounds, edge) == pytest.approx(binom.cdf(rounds // 2, rounds, 0.5 + edge), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-6, 0.9), st.floats(0.03, 0.49))
def test_the_fewest_rounds_are_enough_and_two_fewer_are_not(error: float, edge: float) -> None:
    rounds = majority_rounds(error, edge)
    assert majority_error(rounds, edge) <= error
    assert rounds == 1 or majority_error(rounds - 2, edge) > error


@given(odd, edges, st.data())
def test_weights_are_chances_that_the_next_rule_decides(rounds: int, edge: float, data: st.DataObject) -> None:
    past = data.draw(st.integers(0, rounds - 1))
    weights = np.array(majority_weights(rounds, edge, past))
    left = rounds - past - 1
    wanted = binom.cdf(rounds // 2 - np.arange(past + 1), left, 0.5 + edge)
    wanted -= binom.cdf(rounds // 2 - np.arange(past + 1) - 1, left, 0.5 + edge)
    assert weights == pytest.approx(wanted, abs=1e-12)


@given(st.sampled_from([1, 3, 5]), edges, st.lists(st.floats(0.01, 1.0), min_size=32, max_size=32))
def test_the_potential_adds_up_to_the_error_of_the_majority(rounds: int, edge: float, masses: list[float]) -> None:
    """Exactly, over every pattern of right and wrong, however likely each is: nothing is assumed of the rules."""
    patterns = list(itertools.product((0, 1), repeat=rounds))
    shares = np.array(masses[: len(patterns)]) / sum(masses[: len(patterns)])
    potential = majority_error(rounds, edge)
    for past in range(rounds):
        weights = majority_weights(rounds, edge, past)
        mean = [weights[sum(pattern[:past])] * (edge - 0.5 + (1 - pattern[past])) for pattern in patterns]
        potential += float(shares @ mean)
    wrong = [sum(pattern) <= rounds // 2 for pattern in patterns]
    assert potential == pytest.approx(float(shares @ wrong), abs=1e-12)


@pytest.mark.parametrize("rounds", [0, 2, -1, 1.5, True, math.nan, 200_001])
def test_rounds_that_are_no_odd_number_are_refused(rounds: float) -> None:
    with pytest.raises((ValueError, TypeError)):
        majority_error(rounds, 0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize("edge", [0.0, 0.5, -0.1, math.nan, math.inf, True])
def test_edges_that_make_no_sense_are_refused(edge: float) -> None:
    for told in (
        lambda: majority_error(3, edge),
        lambda: majority_weights(3, edge, 0),
        lambda: majority_rounds(0.1, edge),
    ):
        with pytest.raises(ValueError, match="edge"):
            told()


def test_there_is_no_round_after_the_last_and_not_for_ever() -> None:
    with pytest.raises(ValueError, match="no next one"):
        majority_weights(3, 0.1, 3)
    with pytest.raises(ValueError, match="more than"):
        majority_rounds(1e-9, 1e-4)
    with pytest.raises(ValueError, match="error"):
        majority_rounds(0.0, 0.1)
