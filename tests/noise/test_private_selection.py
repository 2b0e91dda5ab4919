"""Selection has its chances exactly, whether floats decide a draw or exact comparison does."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.noise.support import KEY, Given
from unworn.noise import Stream, comparison, private_selection
from unworn.noise.reals import exponential as real_exponential
from unworn.noise.samplers import (
    exponential,
    exponential_log_pmf,
    exponentials,
    permute_and_flip,
    permute_and_flip_pmf,
    permuted_and_flipped,
)
from unworn.noise.shares import WeightShares
from unworn.noise.weights import gaps_of, margin, running_sums, weights_of

mp: Any = pytest.importorskip("mpmath")
LAST = 2**64 - 1
CASES = [
    ([0, 1, 1], 1.0),
    ([5, 5, 5, 5, 5], 3.0),
    ([-3, 10, 7, 7, 2, 0], 0.3),
    (list(range(12)), 0.05),
    ([0, 100, 99], 0.7),
    ([2**62, 2**62 + 2, 2**62 - 1], 0.4),
]
EVERY = pytest.mark.parametrize(("scores", "rate"), CASES)
BOTH = pytest.mark.parametrize("draw", [exponentials, permuted_and_flipped])


def fits(drawn: Any, chances: Any) -> bool:
    """Chi-square at a false-alarm rate of 1e-7; cells in which fewer than 20 are expected are put together."""
    counts, expected = np.bincount(drawn, minlength=len(chances)), np.asarray(chances) * len(drawn)
    rare = expected < 20
    if expected[rare].sum() < 20:
        likely = int(np.argmax(expected))
        rare[likely] = rare.any()
    counts, expected = (np.append(values[~rare], values[rare].sum()) for values in (counts, expected))
    return bool(stats.chisquare(counts[expected > 0], expected[expected > 0]).pvalue > 1e-7)


# ---------------------------------------------------------------- distributions


@EVERY
def test_the_exponential_mechanism_has_its_distribution(scores: list[int], rate: float) -> None:
    chances = np.exp(exponential_log_pmf(scores, rate))
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert fits(exponentials(Stream(KEY, "fit"), scores, rate, 100_000), chances)


@EVERY
def test_permute_and_flip_has_its_distribution(scores: list[int], rate: float) -> None:
    chances = permute_and_flip_pmf(scores, rate)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert fits(permuted_and_flipped(Stream(KEY, "fit"), scores, rate, 100_000), chances)


def test_the_test_of_fit_can_fail() -> None:
    scores, rate = CASES[2]
    drawn = exponentials(Stream(KEY, "fit"), scores, rate, 100_000)
    assert not fits(drawn, np.exp(exponential_log_pmf(scores, 1.1 * rate)))
    assert not fits(drawn, permute_and_flip_pmf(scores, rate))


@EVERY
def test_the_chances_of_permute_and_flip_are_those_of_its_definition(scores: list[int], rate: float) -> None:
    if len(scores) > 6:
        scores = scores[-6:]
    weights = [math.exp(-rate * (max(scores) - score)) for score in scores]
    found = np.zeros(len(scores))
    for order in itertools.permutations(range(len(scores))):
        open_still = 1.0
        for i in order:
            found[i] += open_still * weights[i]
            open_still *= 1 - weights[i]
    assert permute_and_flip_pmf(scores, rate) == pytest.approx(found / math.factorial(len(scores)), abs=1e-13)


# ---------------------------------------------------------------- exactness


def edges(scores: list[int], rate: float) -> list[Any]:
    """The shares of the weight from each candidate on; e^-10000 is nought beside the 257 digits of a number."""
    away = [mp.mpf(rate) * (max(scores) - score) for score in scores]
    weights = [mp.exp(-x) if x < 10_000 else mp.mpf(0) for x in away]
    return [mp.fsum(weights[m:]) / mp.fsum(weights) for m in range(len(scores) + 1)]


@given(
    scores=st.lists(st.integers(-40, 40) | st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=12),
    rate=st.floats(1e-3, 2.0) | st.floats(5e-324, 1e300),
    at=st.integers(0, 11),
    step=st.integers(-2, 2),
    later=st.integers(-2, 2),
)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_a_number_next_to_an_edge_is_decided_right(
    scores: list[int], rate: float, at: int, step: int, later: int
) -> None:
    with mp.workprec(1500):
        bounds = edges(scores, rate)
        digits = int(mp.floor(bounds[1 + at % (len(scores) - 1)] * mp.mpf(2) ** 256)) + step * 2**192 + later
        digits = min(max(digits, 0), 2**256 - 1)
        words = [(digits >> shift) & LAST for shift in (192, 128, 64, 0)]
        # The digits after these are nought, or (where that is the edge itself) a half: never a tie.
        words.append(2**63)
        number = mp.mpf(digits) / mp.mpf(2) ** 256 + mp.mpf(2) ** -257
        expected = max(m for m in range(len(scores)) if m == 0 or number < bounds[m])
        found = exponentials(Given(words[:1], [*words[1:], *[0] * 20]), scores, rate, 1)
    assert found.tolist() == [expected]


@pytest.mark.parametrize("count", [1, 2, 3, 50, 2000])
def test_floats_are_wrong_by_less_than_a_quarter_of_the_margin(count: int) -> None:
    rng = np.random.default_rng(count)
    for rate, reach in ((1e-3, 5000), (0.7, 40), (1e-15, 2**60)):
        gaps = gaps_of(rng.integers(0, reach, count))
        sums = running_sums(weights_of(gaps, rate))
        known = {gap: Fraction(real_exponential(Fraction(rate) * gap, 40)[0]) for gap in gaps.tolist()}
        exact = list(itertools.accumulate(known[gap] for gap in gaps.tolist()))
        apart = max(
            abs(Fraction(one) / Fraction(sums[-1]) - two / exact[-1]) for one, two in zip(sums, exact, strict=True)
        )
        assert apart < Fraction(margin(count)) / 4
        assert count < 50 or apart > Fraction(margin(count)) / 2**16  # it is the error of floats, and not of nothing


@pytest.mark.parametrize("rate", [1e-17, 1e-4, 0.37, 3.0])
def test_coins_have_float_chances_as_right_as_their_comparison_needs(rate: float) -> None:
    gaps = np.random.default_rng(4).integers(0, int(20 / rate) + 2, 500).astype(np.uint64)
    with mp.workprec(140):
        for gap, chance in zip(gaps.tolist(), weights_of(gaps, rate).tolist(), strict=True):
            assert abs(mp.mpf(chance) - mp.exp(-mp.mpf(rate) * gap)) < 2.0**-52 < comparison.MARGIN / 1000


@EVERY
def test_settling_every_draw_changes_none(scores: list[int], rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # No chance is involved: the same words, settled by another way.
    quick = [draw(Stream(KEY, "settle"), scores, rate, 150) for draw in (exponentials, permuted_and_flipped)]
    monkeypatch.setattr(private_selection, "margin", lambda count: 2.0)
    monkeypatch.setattr(comparison, "MARGIN", 2.0)
    slow = [draw(Stream(KEY, "settle"), scores, rate, 150) for draw in (exponentials, permuted_and_flipped)]
    assert np.array_equal(quick, slow)


def test_settling_among_many_scores_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(3).integers(0, 300, 20_000)
    quick = exponentials(Stream(KEY, "many"), scores, 0.05, 5)
    monkeypatch.setattr(private_selection, "margin", lambda count: 2.0)
    assert np.array_equal(exponentials(Stream(KEY, "many"), scores, 0.05, 5), quick)


def test_shares_close_in_and_hold_the_truth() -> None:
    scores = [0, 3, 3, 1, -400, 2]
    with mp.workprec(1500):
        truth = edges(scores, 0.37)
        shares = WeightShares(gaps_of(scores), 0.37)
        for m, digits in itertools.product(range(1, 6), (10, 60, 200)):
            low, high = (mp.mpf(str(bound)) for bound in shares(m, digits))
            assert low < truth[m] < high
            assert high - low < mp.mpf(10) ** (1 - digits)


# ---------------------------------------------------------------- edges of the parameters


@BOTH
def test_one_candidate_is_always_chosen(draw: Any) -> None:
    assert draw(Stream(KEY), [7], 1e-3, 50).tolist() == [0] * 50
    for word in (0, 2**63, LAST):
        assert draw(Given([word] * 3, [5] * 9), [7], 0.5, 1).tolist() == [0]


def test_equal_scores_are_equally_likely_to_the_last_word() -> None:
    for rate in (5e-324, 1.0, 1e308):
        words = [0, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 3 * 2**62 - 1, 3 * 2**62, LAST]
        assert exponentials(Given(words, [7] * 20), [9] * 4, rate, 8).tolist() == [3, 3, 2, 2, 1, 1, 0, 0]
    assert fits(permuted_and_flipped(Stream(KEY, "equal"), [9] * 4, 1e308, 20_000), [0.25] * 4)


@BOTH
@pytest.mark.parametrize("rate", [1.0, 1e300, 5e-308])
def test_a_candidate_without_a_chance_is_not_chosen(draw: Any, rate: float) -> None:
    far = [-(2**63), 2**63 - 1, 0]
    drawn = draw(Stream(KEY, "far"), far, rate, 2000)
    # At 5e-308 a gap of 2^64 is nothing, and all three are as likely: a false alarm below 1e-7.
    assert fits(drawn, [1 / 3] * 3) if rate < 1e-300 else bool((drawn == 1).all())


def test_large_numbers_keep_their_differences() -> None:
    # As floats 2^62 and 2^62 + 2 are the same number.
    small, large = [0, 2, -1], [2**62, 2**62 + 2, 2**62 - 1]
    for draw in (exponentials, permuted_and_flipped):
        assert np.array_equal(draw(Stream(KEY), small, 0.4, 300), draw(Stream(KEY), large, 0.4, 300))


@BOTH
def test_scores_may_be_of_any_whole_type(draw: Any) -> None:
    plain = draw(Stream(KEY), [1, 4, 2], 0.5, 50)
    for kind in (np.int8, np.uint8, np.uint64, np.int32):
        assert np.array_equal(draw(Stream(KEY), np.array([1, 4, 2], dtype=kind), 0.5, 50), plain)
    assert np.array_equal(draw(Stream(KEY), np.array([1, 0, 4, 0, 2])[::2], 0.5, 50), plain)


def test_single_draws_are_the_first_of_many_and_a_stream_goes_on() -> None:
    scores = [1, 5, 3, 4]
    assert exponential(Stream(KEY), scores, 0.4) == exponentials(Stream(KEY), scores, 0.4, 3)[0]
    assert permute_and_flip(Stream(KEY), scores, 0.4) == permuted_and_flipped(Stream(KEY), scores, 0.4, 1)[0]
    stream = Stream(KEY, "parts")
    parts = np.concatenate([exponentials(stream, scores, 0.1, size) for size in (1, 0, 40_000, 9)])
    assert np.array_equal(parts, exponentials(Stream(KEY, "parts"), scores, 0.1, 40_010))


@BOTH
@pytest.mark.parametrize(
    "scores",
    [[], [[1, 2]], 3, [1.5, 2], [1.0, math.nan], [math.inf], [True, False], ["a"], [2**63], [2**70, 1], [[1], [1, 2]]],
)
def test_what_is_no_list_of_whole_numbers_is_refused(draw: Any, scores: Any) -> None:
    with pytest.raises(ValueError, match="scores must be"):
        draw(Given([]), scores, 0.5, 1)


@BOTH
@pytest.mark.parametrize("rate", [0, -1.0, math.nan, math.inf, True, np.True_, "1", None])
def test_what_is_no_rate_is_refused(draw: Any, rate: Any) -> None:
    with pytest.raises(ValueError, match="rate must be"):
        draw(Given([]), [1, 2], rate, 1)


def test_an_error_shows_no_score() -> None:
    with pytest.raises(ValueError) as caught:
        exponential(Given([]), [123456.5, 2.0], 0.5)
    assert "123456" not in str(caught.value)
