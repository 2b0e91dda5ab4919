from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from unworn.bounds.numerics import Floats
from unworn.bounds.privacy import GDP, Homogeneous, Profile, discrete_gaussian, hockey_stick, profile, raised_cosine
from unworn.events import Described, Drew, Noised

GRID = np.linspace(0.0, 1.5, 40)


def laplace(m: Floats, scale: float) -> Floats:
    return np.asarray(-np.abs(m) / scale + math.log(math.tanh(0.5 / scale)))


def cosine(m: Floats, width: int) -> Floats:
    with np.errstate(divide="ignore"):
        inside = np.sin(np.pi * (width - np.minimum(np.abs(m), width)) / (2 * width)) ** 2 / width
        return np.asarray(np.log(np.where(np.abs(m) < width, inside, 0.0)))


def rounded_gaussian(m: Floats, sd: float) -> Floats:
    from scipy.special import ndtr

    low, high = (-np.abs(m) - 0.5) / sd, (-np.abs(m) + 0.5) / sd
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(ndtr(high) - ndtr(low)))


def combined(log_p: Floats, log_q: Floats, k: int, epsilon: Floats) -> Floats:
    """The exact delta of k independent answers, all combinations written out."""
    p, q = np.zeros(1), np.zeros(1)
    for _ in range(k):
        p, q = np.add.outer(p, log_p).ravel(), np.add.outer(q, log_q).ravel()
        seen = p > -100
        p, q = p[seen], q[seen]
    return hockey_stick(p, q, epsilon)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("shift", [1, -1])
@pytest.mark.parametrize(
    ("event", "law", "reach"),
    [
        (Noised("laplace", 1.5), lambda m: laplace(m, 1.5), 40),
        (Noised("gaussian", 2.0), lambda m: rounded_gaussian(m, 2.0), 16),
        (Noised("cosine", 12), lambda m: cosine(m, 12), 14),
    ],
)
def test_every_price_dominates_the_noise_itself(
    event: Noised, law: Callable[[Floats], Floats], reach: int, shift: int, k: int
) -> None:
    m = np.arange(-reach, reach + 1.0)
    truth = combined(law(m - shift), law(m), k, GRID)
    assert (profile(event, 100, k).delta(GRID) >= truth - 1e-12).all()


@pytest.mark.parametrize("drawn", [1, 3, 10])
@pytest.mark.parametrize("event", ["laplace", "gaussian", "cosine"])
def test_counts_over_drawn_rows(event: str, drawn: int) -> None:
    """Ten rows, of which none or one has a 1: exact laws for one and two answers."""
    law = {
        "laplace": lambda m: laplace(m, 1.5),
        "gaussian": lambda m: rounded_gaussian(m, 2.0),
        "cosine": lambda m: cosine(m, 12),
    }
    m = np.arange(-40, 42.0)
    share = drawn / 10
    with np.errstate(divide="ignore"):
        none = law[event](m)
        one = np.logaddexp(np.log1p(-share) + none if share < 1 else -np.inf, math.log(share) + law[event](m - 1))
    scale = {"laplace": 1.5, "gaussian": 2.0, "cosine": 12}[event]
    for k in (1, 2):
        priced = profile(Noised(event, scale, drawn), 10, k).delta(GRID)
        assert (np.diff(priced) <= 1e-15).all()
        for p, q in ((one, none), (none, one)):
            assert (priced >= combined(p, q, k, GRID) - 1e-12).all()
    if drawn == 10:
        assert np.allclose(priced, profile(Noised(event, scale), 10, 2).delta(GRID), rtol=2e-3, atol=1e-9)


def test_with_replacement_every_draw_counts() -> None:
    priced = profile(Noised("laplace", 1.0, 10, True), 10, 1)
    assert isinstance(priced, Homogeneous)
    assert round(priced.epsilon, 3) == 1.586
    for noise in ("gaussian", "cosine"):
        with pytest.raises(ValueError, match="without replacement"):
            profile(Noised(noise, 20, 5, True), 10, 1)


@pytest.mark.parametrize("flip", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("rows", [1, 7, 100])
def test_one_row_turned_over_at_random(flip: float, rows: int) -> None:
    """All means of the rows, both directions; three answers at the worst mean."""
    means = np.arange(rows + 1) / rows
    ones = flip + (1 - 2 * flip) * means
    once, thrice = profile(Drew(flip), rows, 1).delta(GRID), profile(Drew(flip), rows, 3).delta(GRID)
    worst = np.zeros(len(GRID))
    for a, b in [*pairwise(ones), *pairwise(ones[::-1])]:
        worst = np.maximum(worst, hockey_stick(np.log([a, 1 - a]), np.log([b, 1 - b]), GRID))
    assert (once >= worst - 1e-14).all()
    assert np.allclose(once, worst, atol=1e-12)  # nothing is given away
    a, b = np.log([ones[1], 1 - ones[1]]), np.log([ones[0], 1 - ones[0]])
    assert (thrice >= combined(a, b, 3, GRID) - 1e-13).all()
    pure = math.log1p((1 / flip - 2) / rows)
    assert (thrice <= Homogeneous(pure, 0.0, 3).delta(GRID) + 1e-12).all()


def test_the_ends_of_flipping() -> None:
    assert profile(Drew(0.5), 10, 100).delta(0.0) == 0.0
    assert float(profile(Drew(0.0), 10, 1).delta(3.0)) == pytest.approx(0.1)


@pytest.mark.parametrize(
    "event",
    [Noised("laplace", 30.0), Noised("gaussian", 30.0), Noised("cosine", 90), Noised("laplace", 9.0, 20), Drew(0.1)],
)
def test_prices_move_the_right_way(event: Noised | Drew) -> None:
    grid = np.linspace(0.0, 0.2, 20)
    base = profile(event, 100, 50).delta(grid)
    assert (np.diff(base) <= 1e-15).all()
    assert (profile(event, 100, 80).delta(grid) >= base - 1e-12).all()
    if isinstance(event, Noised):
        larger: Profile = profile(Noised(event.noise, event.scale * 2, event.drawn), 100, 50)
        assert (larger.delta(grid) <= base + 1e-12).all()
    assert profile(event, 100, 0).delta(grid).max() == 0.0
    assert profile(event, 100, 50) is profile(event, 100, 50)


def test_wide_noise_costs_no_more_time_than_narrow() -> None:
    wide = raised_cosine(2**24, 1000)
    mu = math.pi * math.sqrt(1000) / 2**24
    assert np.allclose(wide.delta(mu), GDP(mu).delta(mu), rtol=0.02)
    assert (discrete_gaussian(200.0, 50).delta(GRID / 10) >= GDP(math.sqrt(50) / 200).delta(GRID / 10) * 0.9999).all()


def test_mistakes_are_refused() -> None:
    for bad in (0.0, -1.0, math.nan, math.inf):
        for noise in ("laplace", "gaussian", "cosine"):
            with pytest.raises(ValueError):
                profile(Noised(noise, bad), 10, 5)
            with pytest.raises(ValueError):
                profile(Noised(noise, bad, 3), 10, 5)
    for flip in (-0.1, 0.51, math.nan):
        with pytest.raises(ValueError, match="flip"):
            profile(Drew(flip), 10, 5)
    with pytest.raises(ValueError, match="unknown noise"):
        profile(Noised("cauchy", 1.0), 10, 5)
    with pytest.raises(ValueError, match="unknown noise"):
        profile(Noised("cauchy", 1.0, 3), 10, 5)
    with pytest.raises(ValueError, match="rows drawn"):
        profile(Noised("laplace", 1.0, 11), 10, 5)
    with pytest.raises(ValueError, match="no privacy profile"):
        profile(Described(True, 1.0), 10, 5)
    with pytest.raises(ValueError, match="number of rows"):
        profile(Drew(0.1), 0, 5)
    with pytest.raises(ValueError, match=r"at least 0\.1"):
        profile(Noised("gaussian", 0.01, 3), 10, 5)


def test_whole_numbers_of_every_type_are_the_same_plan() -> None:
    base = profile(Noised("laplace", 5.0, 3), 10, 5)
    for scale, number in ((5.25, np.int64), (5.5, float), (5.75, np.float64)):  # none of which is kept from before
        event = Noised("laplace", scale, number(3))
        assert profile(event, number(10), number(5)) is profile(Noised("laplace", scale, 3), 10, 5)
    for number in (np.int64, float, np.float64):
        assert profile(Noised("laplace", 5.0, number(3)), number(10), number(5)) is base
    assert profile(Noised("laplace", 5.0), np.int64(10), 5.0) == Homogeneous(0.2, 0.0, 5)  # type: ignore[arg-type]
    assert type(profile(Noised("laplace", 4.0), 10, 6.0).k) is int  # type: ignore[arg-type, attr-defined]


@pytest.mark.parametrize("bad", [True, np.True_, 2.5, "3", math.nan, 10**400])
def test_what_is_no_number_of_rows_is_refused_by_name(bad: object) -> None:
    with pytest.raises(ValueError, match=r"rows drawn \(drawn\) must be a whole number"):
        profile(Noised("laplace", 5.0, bad), 10, 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"number of rows \(rows\) must be a whole number"):
        profile(Noised("laplace", 5.0), bad, 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"number of asks \(asks\) must be a whole number"):
        profile(Noised("laplace", 5.0), 10, bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"1/scale.*more noise"):
        profile(Noised("laplace", 1e-3, 1), 2, 10)
