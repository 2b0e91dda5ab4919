"""The law of Theorem C′: where surprises fall, the words that say which, and what is left for final values."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.code_length import Pattern, distance_nats, log_final_level, side_nats, spare_chance

quiet = settings(derandomize=True, deadline=None, max_examples=150)
History = list[tuple[str, bool]]
histories = st.lists(
    st.tuples(st.sampled_from(["asker", "train", "no difference", "test"]), st.booleans()), max_size=40
)


def told(history: History) -> Pattern:
    pattern = Pattern()
    for origin, surprise in history:
        pattern = pattern.after(origin, surprise)
    return pattern


def steady(asks: int, surprises: int) -> History:
    """Surprises at even places among asks of one origin."""
    places = {round((k + 0.5) * asks / surprises) for k in range(surprises)} if surprises else set()
    return [("asker", place in places) for place in range(asks)]


# ---------------------------------------------------------------- an independent calculation


def urn(asks: int, surprises: int) -> Fraction:
    """Beta(f + 1/5, i − f + 10) / Beta(1/5, 10), as a product of rising factorials."""
    calm = asks - surprises
    up = math.prod((Fraction(1, 5) + k for k in range(surprises)), start=Fraction(1))
    up *= math.prod((Fraction(10) + k for k in range(calm)), start=Fraction(1))
    return up / math.prod((Fraction(51, 5) + k for k in range(asks)), start=Fraction(1))


def even_urn(asks: int, surprises: int) -> Fraction:
    """Krichevsky and Trofimov's: Beta(f + 1/2, i − f + 1/2) / Beta(1/2, 1/2)."""
    half, calm = Fraction(1, 2), asks - surprises
    up = math.prod((half + k for k in range(surprises)), start=Fraction(1))
    up *= math.prod((half + k for k in range(calm)), start=Fraction(1))
    return up / math.factorial(asks)


def count(flags: list[bool]) -> Fraction:
    return urn(len(flags), sum(flags))


def mixture(history: History) -> Fraction:
    """½[f = 0] + ½(.5 B(all) + .2 Π B(origins) + .2 M + .1 Π B(octaves)), by counts alone and in exact arithmetic.

    The urn of tests' own is an even one: rejections are no rarity.
    """
    flags = [surprise for _, surprise in history]
    origins = {origin for origin, _ in history}
    by_origin = Fraction(1)
    for origin in origins:
        own = [s for o, s in history if o == origin]
        by_origin *= even_urn(len(own), sum(own)) if origin == "test" else count(own)
    after = [(i > 0 and flags[i - 1], flag) for i, flag in enumerate(flags)]
    bursting = [flag for before, flag in after if before]
    bursts = count([flag for before, flag in after if not before]) * even_urn(len(bursting), sum(bursting))
    octaves = [flags[2**k - 1 : 2 ** (k + 1) - 1] for k in range(len(flags).bit_length())]
    by_octave = math.prod((count(octave) for octave in octaves), start=Fraction(1))
    calm = Fraction(int(not any(flags)))
    parts = Fraction(1, 2) * count(flags) + (by_origin + bursts) / 5 + by_octave / 10
    return (calm + parts) / 2


@quiet
@given(histories)
def test_the_nats_are_those_of_the_mixture_by_counts(history: History) -> None:
    assert told(history).nats == pytest.approx(-math.log(mixture(history)), rel=1e-11, abs=1e-11)


@quiet
@given(histories, st.sampled_from(["asker", "train", "new"]))
def test_each_step_shares_out_what_is_there(history: History, origin: str) -> None:
    """So that the law is consistent in time, whatever the weights are."""
    pattern = told(history)
    calm, surprised = pattern.prices(origin)
    assert 1 - 1e-12 < math.exp(-calm) + math.exp(-surprised) <= 1 + 1e-15
    weights = (pattern.none_weight, pattern.all_weight, pattern.origin_weight, pattern.burst_weight)
    assert math.fsum((*weights, pattern.octave_weight)) == pytest.approx(1)
    for surprise, nats in ((False, calm), (True, surprised)):
        assert pattern.after(origin, surprise).nats - pattern.nats == pytest.approx(nats, abs=1e-12)
        assert nats > 0


@pytest.mark.parametrize("depth", [1, 4, 8])
def test_all_histories_of_a_length_add_up_to_one(depth: int) -> None:
    origins = [("asker", "train")[i % 3 == 1] for i in range(depth)]
    chances = [
        math.exp(-told(list(zip(origins, flags, strict=True))).nats) for flags in product((False, True), repeat=depth)
    ]
    assert 1 - 1e-12 < math.fsum(chances) <= 1 + 1e-13


def test_the_old_weights_without_their_depth_are_no_law() -> None:
    """Theorem C's weights, 1/((f+1)(f+2)) for all C(i, f) histories of i asks, if depth is not paid for.

    Whoever stops at the f-th surprise, for an f chosen by how soon it came, gathers more than 1.
    """

    def old(i: int, f: int) -> float:
        return 1 / ((f + 1) * (f + 2) * math.comb(i, f))

    def largest_antichain(chance: Callable[[int, int], float], depth: int) -> float:
        """By dynamic programming over (i, f): at each node stop, or go on to both children."""
        best = [chance(depth, f) for f in range(depth + 1)]
        for i in range(depth - 1, 0, -1):
            best = [max(chance(i, f), best[f] + best[f + 1]) for f in range(i + 1)]
        return best[0] + best[1]

    assert largest_antichain(old, 100) > 1.3
    assert largest_antichain(old, 300) > 1.5
    assert largest_antichain(lambda i, f: float(urn(i, f)), 40) == pytest.approx(1, abs=1e-9)


# ---------------------------------------------------------------- what it costs


@pytest.mark.parametrize(
    ("asks", "surprises", "nats"),
    [(300, 0, 0.31), (300, 1, 8.9), (1_000, 3, 23.3), (1_000, 20, 101.8), (1_000_000, 0, 0.52)],
)
def test_nats_of_steady_surprises_are_at_most_what_was_promised(asks: int, surprises: int, nats: float) -> None:
    found = told(steady(min(asks, 20_000), surprises)).nats
    assert found <= nats + 0.005
    if asks < 20_000:
        assert found > 0.85 * nats


def test_a_burst_and_a_bad_origin_cost_less_than_as_many_single_surprises() -> None:
    burst = [("asker", 300 <= place < 320) for place in range(1_000)]
    assert told(burst).nats < 17.6
    assert told(steady(1_000, 20)).nats > 100
    wrong = {place for place in range(0, 1_000, 10) if place * 3 // 100 != (place + 10) * 3 // 100}
    bad = [("train" if place % 10 == 0 else "asker", place in wrong) for place in range(1_000)]
    assert len(wrong) == 30  # of the 100 guesses that are from there
    assert told(bad).nats < 70
    assert told([("asker", surprise) for _, surprise in bad]).nats > 138


def test_while_guesses_are_right_next_to_nothing_is_spent() -> None:
    pattern, spent = Pattern(), [0.0]
    for _ in range(3_000):
        pattern = pattern.after("asker", False)
        spent.append(pattern.nats)
    assert spent == sorted(spent)
    assert spent[-1] < math.log(2)  # whatever follows: one half was for this


@quiet
@given(st.integers(0, 1_500), st.integers(0, 40), st.randoms(use_true_random=False))
def test_what_is_typical_is_never_below_what_it_will_be(asks: int, surprises: int, random: Random) -> None:
    surprises = min(asks, surprises)
    places = set(random.sample(range(asks), surprises))
    found = told([("asker", place in places) for place in range(asks)]).nats
    typical = Pattern.typical(asks, surprises)
    assert found <= typical.nats + 1e-9
    assert (typical.asks, typical.surprises) == (asks, surprises)
    assert typical.nats == pytest.approx(-math.log((not surprises) / 2 + 0.35 * urn(asks, surprises)), abs=2e-5)


def test_what_is_typical_far_beyond_what_floats_hold() -> None:
    for asks, surprises in ((10**6, 5_000), (10**9, 10**4), (10**12, 0), (10**6, 10**6)):
        nats = Pattern.typical(asks, surprises).nats
        assert math.isfinite(nats)
        assert nats >= 0
    nats = [Pattern.typical(10**6, f).nats for f in range(0, 60_000, 3_000)]
    assert nats == sorted(nats)
    assert Pattern.typical(10**6, 5_000).after("asker", True).nats > Pattern.typical(10**6, 5_000).nats


# ---------------------------------------------------------------- words


@quiet
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_two_sides_are_a_code(below: int, above: int) -> None:
    total = math.exp(-side_nats((below, above), -1)) + math.exp(-side_nats((below, above), 1))
    assert 1 - 1e-12 < total <= 1.0
    assert side_nats((below + 1, above), -1) < side_nats((below, above), -1)


@pytest.mark.parametrize("farthest", [1, 2, 3, 50, 999, 1_000, 1_001, 20_000])
def test_the_distances_are_a_code_and_leave_what_is_said(farthest: int) -> None:
    words = [distance_nats(cells, farthest) for cells in range(1, farthest + 1)]
    total = math.fsum(math.exp(-nats) for nats in words)
    assert 1 - 1e-6 < total + spare_chance(farthest) <= 1 + 1e-12
    assert words == sorted(words)
    assert words[0] == pytest.approx(-math.log(0.25 + 0.5 / math.fsum(1 / k for k in range(1, farthest + 1))))


def test_a_far_surprise_costs_a_little_less_than_by_the_old_words() -> None:
    assert distance_nats(40, 50) < math.log(40 * 41) - 1
    assert distance_nats(1, 50) < math.log(2) + 0.35


def test_final_values_share_what_is_left() -> None:
    assert log_final_level(math.log(0.05), 3.0, 1) == pytest.approx(math.log(0.05) - 3)
    assert math.exp(log_final_level(math.log(0.05), 3.0, 10)) * 10 == pytest.approx(0.05 * math.exp(-3))


@pytest.mark.parametrize(
    "call",
    [
        lambda: Pattern.typical(-1, 0),
        lambda: Pattern.typical(3, 4),
        lambda: Pattern.typical(3, -1),
        lambda: Pattern.typical(3.5, 1),  # type: ignore[arg-type]
        lambda: distance_nats(0, 5),
        lambda: distance_nats(6, 5),
        lambda: distance_nats(1.5, 5),  # type: ignore[arg-type]
        lambda: distance_nats(1, 0),
        lambda: log_final_level(-3.0, 1.0, 0),
        lambda: log_final_level(-3.0, -0.1, 1),
        lambda: log_final_level(-3.0, math.nan, 1),
    ],
)
def test_bad_numbers_are_refused(call: object) -> None:
    with pytest.raises(ValueError, match="must"):
        call()  # type: ignore[operator]
