"""Rows, samples and iterations of the talk's theorems, and of ours: shapes, and that what is certified suffices."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.optimisation import convex_regret, strongly_convex_regret
from unworn.bounds.transfer import best_scale
from unworn.lab.theorems.convex_counts import certified_counts, former_counts, lecture_counts, lecture_time

some = settings(derandomize=True, deadline=None, max_examples=30)


@some
@given(st.integers(1, 10**9), st.floats(0.001, 0.5), st.floats(1e-6, 0.5), st.integers(1, 1_000))
def test_powers_are_those_of_the_talk(k: int, alpha: float, beta: float, d: int) -> None:
    for kind, rows, samples, iterations in (("convex", 5, 5, 2), ("strongly convex", 2.5, 3, 1)):
        found, finer = (lecture_counts(kind, k, a, beta, d) for a in (alpha, alpha / 2))  # type: ignore[arg-type]
        assert finer.rows == pytest.approx(2**rows * found.rows)
        assert finer.samples == pytest.approx(2**samples * found.samples)
        assert finer.iterations == pytest.approx(2**iterations * found.iterations)
        wider = lecture_counts(kind, k, alpha, beta, 4 * d)  # type: ignore[arg-type]
        assert wider.rows == pytest.approx(8 * found.rows)
        assert wider.samples == pytest.approx(16 * found.samples)
        assert wider.iterations == found.iterations
    assert lecture_counts("statistical", 4 * k, alpha, beta).rows == pytest.approx(
        2 * lecture_counts("statistical", k, alpha, beta).rows
    )
    assert lecture_counts("counting", k, alpha, beta).samples == 1
    # Fewer samples than before, once there are enough questions; never more rows than a constant and a logarithm.
    if k > 100:
        assert lecture_counts("statistical", k, alpha, beta).samples < former_counts("statistical", k, alpha).samples


@some
@given(
    st.integers(1, 50), st.floats(0.1, 0.9), st.integers(1, 20), st.floats(0.2, 2.0), st.sampled_from([0.0, 0.5, 2.0])
)
def test_what_is_certified_adds_up_to_alpha(k: int, alpha: float, d: int, reach: float, curvature: float) -> None:
    found = certified_counts(k, alpha, 0.05, d, reach=reach, curvature=curvature)
    assert found.asks == k * d * found.iterations
    error = 2 * found.width * math.sqrt(d)  # |e|, where each coordinate's range is from -1 to 1
    if curvature:
        regret = strongly_convex_regret(1.0, curvature / 2, found.iterations)
        assert regret + error**2 / curvature <= alpha * (1 + 1e-9)
    else:
        assert convex_regret(1.0, reach, found.iterations) + 2 * reach * error <= alpha * (1 + 1e-9)
    assert best_scale("F Gaussian", found.rows, found.asks, 0.05)[1] <= found.width
    assert found.rows <= 64 or best_scale("F Gaussian", int(found.rows * 0.99), found.asks, 0.05)[1] > found.width


def test_certified_rows_grow_with_smaller_powers_than_the_talks() -> None:
    for curvature, power, theirs in ((0.0, 3.0, 5.0), (1.0, 1.5, 2.5)):
        coarse, fine = (certified_counts(20, alpha, 0.05, 3, curvature=curvature).rows for alpha in (0.4, 0.1))
        assert math.log(fine / coarse, 4) == pytest.approx(power, abs=0.25)
        assert math.log(fine / coarse, 4) < theirs
    few, many = (certified_counts(k, 0.3, 0.05, 3).rows for k in (4, 400))
    assert math.log(many / few, 100) == pytest.approx(0.5, abs=0.06)


def test_nothing_to_learn_needs_next_to_nothing() -> None:
    assert certified_counts(3, 0.5, 0.05, 2, lipschitz=0.0).width == 0.499
    assert certified_counts(3, 0.5, 0.05, 2, reach=0.0).iterations == 1


def test_nonsense_is_refused() -> None:
    for wrong in ((0, 0.1, 0.05, 1), (1, 0.0, 0.05, 1), (1, math.nan, 0.05, 1), (1, 0.1, 1.0, 1), (1, 0.1, 0.05, 0)):
        with pytest.raises(ValueError, match="must"):
            lecture_counts("convex", *wrong)
        with pytest.raises(ValueError, match="must"):
            certified_counts(*wrong)
    with pytest.raises(ValueError, match="curvature"):
        certified_counts(1, 0.1, 0.05, 1, curvature=-1.0)
    with pytest.raises(ValueError, match="kind"):
        lecture_counts("concave", 1, 0.1, 0.05)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="kind"):
        lecture_time("convex", 1, 0.1, 0.05)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no mechanism"):
        former_counts("counting", 1, 0.1)
    with pytest.raises(ValueError, match="kind"):
        former_counts("concave", 1, 0.1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="larger alpha"):
        certified_counts(10**12, 1e-4, 0.05, 10**3)
