"""Each noise has its distribution, whether floats decide a draw or exact comparison does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.noise.support import KEY, Given, fits
from unworn.noise import Stream, comparison, exact_comparison, inversion
from unworn.noise.noise_checks import check_whole
from unworn.noise.samplers import (
    cut_cosine,
    cut_cosine_log_pmf,
    discrete_gaussian,
    discrete_gaussian_log_pmf,
    gaussian,
    gaussian_log_pmf,
    laplace_log_pmf,
    raised_cosine,
    raised_cosine_log_pmf,
)
from unworn.noise.samplers import laplace as laplace_noise

Draw = Callable[[Stream, Any, int], NDArray[np.int64]]
KINDS: dict[str, tuple[Draw, Callable[..., NDArray[np.float64]]]] = {
    "laplace": (laplace_noise, laplace_log_pmf),
    "gaussian": (gaussian, gaussian_log_pmf),
    "discrete gaussian": (discrete_gaussian, discrete_gaussian_log_pmf),
    "cosine": (raised_cosine, raised_cosine_log_pmf),
}
SCALES = [(kind, scale) for kind in KINDS if kind != "cosine" for scale in (0.1, 0.37, 1.0, 50.0, 4096.0)]
CASES = SCALES + [("cosine", N) for N in (1, 2, 3, 50, 1000, 10**6)]
EVERY = pytest.mark.parametrize(("kind", "scale"), CASES)


@EVERY
def test_distribution(kind: str, scale: float) -> None:
    # A false alarm of 1e-7 for each case.
    draw, log_pmf = KINDS[kind]
    drawn = draw(Stream(KEY, "fit", kind), scale, 200_000)
    assert drawn.dtype == np.int64
    assert fits(drawn, lambda m: log_pmf(m, scale))


@pytest.mark.parametrize(("kind", "wrong"), [("laplace", 51.5), ("gaussian", 51.0), ("cosine", 51)])
def test_the_test_of_fit_can_fail(kind: str, wrong: float) -> None:
    draw, log_pmf = KINDS[kind]
    drawn = draw(Stream(KEY, "fit", kind), wrong, 200_000)
    assert fits(drawn, lambda m: log_pmf(m, wrong))
    assert not fits(drawn, lambda m: log_pmf(m, 50))
    assert not fits(drawn + 1, lambda m: log_pmf(m, wrong))


VARIANCES: dict[str, Callable[[Any], float]] = {
    "laplace": lambda s: 2 * math.exp(-1 / s) / (1 - math.exp(-1 / s)) ** 2,
    "gaussian": lambda s: s**2 + 1 / 12,  # rounded: to 1e-8 from sd = 1 on
    "discrete gaussian": lambda s: s**2,
    "cosine": lambda N: sum(m * m * (1 + math.cos(math.pi * m / N)) / N for m in range(N)),
}


@pytest.mark.parametrize(("kind", "scale"), [(kind, 30) for kind in KINDS])
def test_moments(kind: str, scale: float) -> None:
    # The mean and the variance of 10^6 draws within 6 standard errors: a false alarm of 4e-9 each.
    drawn = KINDS[kind][0](Stream(KEY, "moments", kind), scale, 10**6).astype(float)
    variance = VARIANCES[kind](scale)
    assert abs(drawn.mean()) < 6 * math.sqrt(variance / 1e6)
    assert abs((drawn**2).mean() - variance) < 6 * (drawn**2).std() / 1e3


@EVERY
def test_settling_every_draw_changes_none(kind: str, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # No chance is involved: the same words, settled by another way.
    draw = KINDS[kind][0]
    quick = draw(Stream(KEY, "settle", kind), scale, 400)
    monkeypatch.setattr(inversion, "MARGIN", 1e9)
    monkeypatch.setattr(comparison, "MARGIN", 2.0)
    assert np.array_equal(draw(Stream(KEY, "settle", kind), scale, 400), quick)


@pytest.mark.parametrize(("kind", "scale"), [*((kind, 2.0**52) for kind in KINDS), *((k, 2.0**30) for k in KINDS)])
def test_wide_noise_is_drawn_as_well(kind: str, scale: float) -> None:
    # Where every draw is settled. Quartiles of 60 draws: a false alarm below 1e-9 (binomial, p = 1/4 or 3/4, n = 60).
    drawn = KINDS[kind][0](Stream(KEY, "wide", kind), scale, 60)
    inner = np.count_nonzero(np.abs(drawn) < {"laplace": math.log(2), "cosine": 0.2648}.get(kind, 0.6745) * scale)
    assert 8 <= inner <= 52
    assert len(np.unique(drawn)) == 60
    assert 5 <= np.count_nonzero(drawn > 0) <= 55
    assert 5 <= np.count_nonzero(drawn % 2) <= 55


@pytest.mark.parametrize(("kind", "scale"), [(kind, 1e-300) for kind in KINDS if kind != "cosine"])
def test_noise_too_narrow_to_move_anything_is_nought(kind: str, scale: float) -> None:
    assert not KINDS[kind][0](Stream(KEY, "narrow"), scale, 1000).any()
    assert not KINDS[kind][0](Stream(KEY, "narrow"), 5e-324, 1000).any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_repeated_and_another_is_not(kind: str) -> None:
    draw = KINDS[kind][0]
    one, again, other = (draw(Stream(KEY, "same", place), 1000, 500) for place in (1, 1, 2))
    assert np.array_equal(one, again)
    assert np.count_nonzero(one == other) < 50
    assert draw(Stream(KEY), 1000, 0).shape == (0,)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_one_word_is_one_draw(kind: str) -> None:
    draw, stream = KINDS[kind][0], Stream(KEY, "parts")
    parts = np.concatenate([draw(stream, 7.5, size) for size in (1, 0, 40_000, 9)])
    assert np.array_equal(parts, draw(Stream(KEY, "parts"), 7.5, 40_010))


@pytest.mark.parametrize("N", [1, 7, 1000, 2**35])
def test_settling_one_draw_of_cosine_does_not_change_it(N: int, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = [int(raised_cosine(Stream(KEY, "one", N, at), N, 1)[0]) for at in range(200)]
    monkeypatch.setattr(comparison, "MARGIN", 2.0)
    assert quick == [int(raised_cosine(Stream(KEY, "one", N, at), N, 1)[0]) for at in range(200)]


def test_one_draw_of_cosine_is_drawn_as_many_are() -> None:
    # Of many, the integers come first and then the coins. At a power of two no word is passed over.
    words = Stream(KEY, "as many").words(400).tolist()
    one = [raised_cosine(Given([words[at], words[200 + at]]), 2**35, 1).tolist()[0] for at in range(200)]
    assert raised_cosine(Given(words), 2**35, 200).tolist() == one


def test_few_draws_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    # 2^-19 for the tail and 2 * 2^17 * 2^-37 for the edges: 3.9 of 10^6 expected, 22 or more with probability 3e-10.
    calls = []
    search = exact_comparison.search_exactly
    monkeypatch.setattr(exact_comparison, "search_exactly", lambda *given: calls.append(1) or search(*given))
    for draw in (laplace_noise, gaussian):
        calls.clear()
        draw(Stream(KEY, "few"), 2.0**17, 10**6)
        assert 0 < len(calls) < 22


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_word_in_the_far_tail(kind: str) -> None:
    # v = 2^-128 and a little: its first word is 0, with a plus sign, or all ones, with a minus sign.
    mp = pytest.importorskip("mpmath")
    for scale in (0.3, 1.0, 1000.0, 2.0**45):
        found = KINDS[kind][0](Given([0, 2**64 - 1], further=[1, 0, 0, 0]), scale, 2)
        with mp.workdps(60):
            s, v = mp.mpf(scale), mp.mpf(2) ** -128
            if kind == "laplace":
                real = -s * mp.log(v * (1 + mp.exp(-1 / s)))
            else:
                real = s * mp.findroot(lambda x: mp.log(mp.erfc(x / mp.sqrt(2)) / 2) + 128 * mp.log(2), 13.0) + 0.5
            expected = int(mp.floor(real * (1 - mp.mpf(10) ** -30)))
        assert found.tolist() == [expected, -expected]


@pytest.mark.parametrize("scale", [0.8, 5.0, 3000.0])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_word_that_holds_an_edge_is_decided_by_the_next(kind: str, scale: float) -> None:
    mp = pytest.importorskip("mpmath")
    m = math.ceil(scale)
    with mp.workdps(80):
        s = mp.mpf(scale)
        if kind == "laplace":
            edge = mp.exp(-m / s) / (1 + mp.exp(-1 / s))
        else:
            edge = mp.erfc((m - mp.mpf(0.5)) / s / mp.sqrt(2)) / 2
        first = int(mp.floor(edge * 2**64))
        second = int(mp.floor((edge * 2**64 - first) * 2**64))
    draw = KINDS[kind][0]
    for word, after, expected in (
        (first - 1, [], m),
        (first + 1, [], m - 1),
        (first, [second - 1], m),
        (first, [second + 1], m - 1),
        (first, [second, 0], m),
        (first, [second, 2**64 - 1], m - 1),
    ):
        assert draw(Given([word], after), scale, 1).tolist() == [expected]


def test_cosine_is_bounded_and_a_chance_of_one_is_kept() -> None:
    # N = 1: the uniform integer is 0, with chance 1. The coin's word cannot change the outcome.
    for coin in (0, 1, 2**64 - 1):
        for first in (0, 2**32 - 1):
            assert raised_cosine(Given([first, coin], further=[5]), 1, 1).tolist() == [0]
    for N in (1, 2, 3):
        assert np.abs(raised_cosine(Stream(KEY, "bounded"), N, 50_000)).max() == N - 1


CUT = [(1, 1), (2, 3), (50, 50), (50, 57), (445, 477), (10**6, 1_100_000)]


@pytest.mark.parametrize(("N", "zero"), CUT)
def test_a_cosine_that_is_cut_off_has_its_law(N: int, zero: int) -> None:
    # A false alarm of 1e-7 for each case.
    drawn = cut_cosine(Stream(KEY, "cut", N), N, zero, 200_000)
    assert drawn.dtype == np.int64
    assert np.abs(drawn).max() == N - 1 or N > 400
    assert fits(drawn, lambda m: cut_cosine_log_pmf(m, N, zero))


def test_the_test_of_a_cut_can_fail() -> None:
    """A cut off by one, another cosine, no cut, and weights that do not add up: none of them passes."""
    drawn = cut_cosine(Stream(KEY, "cut", 50), 50, 80, 200_000)
    for N, zero in ((49, 80), (51, 80), (50, 76), (50, 84), (80, 80)):
        assert not fits(drawn, lambda m, N=N, zero=zero: cut_cosine_log_pmf(m, N, zero))
    assert not fits(drawn, lambda m: raised_cosine_log_pmf(m, 80))


@pytest.mark.parametrize(("N", "zero"), [(3, 5), (50, 80), (445, 477)])
def test_a_draw_beyond_the_cut_is_drawn_again_and_no_other_is(N: int, zero: int) -> None:
    # No chance is involved: the first draw of the whole cosine that is before the cut.
    for at in range(500):
        stream = Stream(KEY, "again", at)
        while abs(expected := int(raised_cosine(stream, zero, 1)[0])) >= N:
            pass
        assert cut_cosine(Stream(KEY, "again", at), N, zero, 1).tolist() == [expected]


@pytest.mark.parametrize(("N", "zero"), [(0, 3), (4, 3), (2.5, 3), (True, 3), (2, math.inf), (2, 2**53), (2, 0)])
def test_a_cut_that_is_none_is_refused(N: float, zero: float) -> None:
    with pytest.raises(ValueError, match="must be a whole number"):
        cut_cosine(Stream(KEY), N, zero, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a whole number"):
        cut_cosine_log_pmf(0, N, zero)  # type: ignore[arg-type]


@pytest.mark.parametrize("draw", [laplace_noise, gaussian, discrete_gaussian])
@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf, 2.0**52 + 1, 1e300])
def test_a_scale_out_of_range_is_refused(draw: Draw, scale: float) -> None:
    with pytest.raises(ValueError, match=r"must lie in \(0, 2\*\*52\]"):
        draw(Stream(KEY), scale, 1)


@pytest.mark.parametrize("N", [0, -3, 1.5, math.nan, math.inf, 2**52 + 1])
def test_a_bound_out_of_range_is_refused(N: Any) -> None:
    with pytest.raises(ValueError, match="N must be a whole number from 1"):
        raised_cosine(Stream(KEY), N, 1)


@pytest.mark.parametrize("draw", [laplace_noise, gaussian, discrete_gaussian, raised_cosine])
@pytest.mark.parametrize("size", [-1, 1.5, math.nan, math.inf])
def test_a_size_out_of_range_is_refused(draw: Draw, size: Any) -> None:
    with pytest.raises(ValueError, match="size must be a whole number from 0"):
        draw(Stream(KEY), 3, size)


@pytest.mark.parametrize("truth", [True, np.True_])
def test_truth_values_are_no_sizes(truth: bool) -> None:
    for name in ("size", "N"):
        with pytest.raises(ValueError, match=f"{name} must be a whole number from 0, not"):
            check_whole(name, truth, 0)
