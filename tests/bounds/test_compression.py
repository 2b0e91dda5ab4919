from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.binomial import clopper_pearson
from unworn.bounds.compression import code_length, level, offset_nats, position_nats
from unworn.bounds.concentration import chernoff_kl

quiet = settings(derandomize=True, deadline=None, max_examples=100)
ROWS, BETA = 10_000, 0.05


def larger_side(kind: str, p: float, log_level: float) -> float:
    limits = clopper_pearson(round(p * ROWS), ROWS, log_level) if kind == "CP" else chernoff_kl(p, ROWS, log_level)
    return max(p - limits[0], limits[1] - p)


# Half-widths at n = 10,000, confidence 95 %, each surprise two cells from its guess; at shares .5 and .9.
TABLE = [
    # i, f, anytime CP, anytime KL, planned CP, anytime CP where a surprise says only its sign
    (1000, 0, (0.0253, 0.0159), (0.0277, 0.0174), (0.0211, 0.0132), (0.0253, 0.0159)),
    (1000, 3, (0.0452, 0.0294), (0.0468, 0.0305), (0.0429, 0.0278), (0.0421, 0.0273)),
    (1000, 20, (0.0894, 0.0626), (0.0904, 0.0633), (0.0883, 0.0617), (0.0791, 0.0544)),
    (10_000, 0, (0.0284, 0.0179), (0.0306, 0.0194), (0.0236, 0.0148), (0.0284, 0.0179)),
    (10_000, 3, (0.0505, 0.0331), (0.0520, 0.0341), (0.0479, 0.0313), (0.0478, 0.0312)),
    (10_000, 20, (0.1019, 0.0728), (0.1027, 0.0735), (0.1007, 0.0718), (0.0930, 0.0655)),
]


@pytest.mark.parametrize(("i", "f", "anytime", "kl", "planned", "sign"), TABLE)
def test_known_half_widths(
    i: int,
    f: int,
    anytime: tuple[float, float],
    kl: tuple[float, float],
    planned: tuple[float, float],
    sign: tuple[float, float],
) -> None:
    nats = f * offset_nats(2)
    for at, p in enumerate((0.5, 0.9)):
        assert larger_side("CP", p, level(BETA, i, f, nats)) == pytest.approx(anytime[at], rel=0.01)
        assert larger_side("KL", p, level(BETA, i, f, nats)) == pytest.approx(kl[at], rel=0.01)
        assert larger_side("CP", p, level(BETA, i, f, nats, planned=i)) == pytest.approx(planned[at], rel=0.01)
        only_sign = level(BETA, i, f, f * math.log(2))
        assert larger_side("CP", p, only_sign) == pytest.approx(sign[at], rel=0.01)


def test_position_weights_sum_to_one() -> None:
    octaves = 20
    total = math.fsum(math.exp(-position_nats(i)) for i in range(1, 2**octaves))
    assert total == pytest.approx(1 - 1 / (octaves + 1), rel=1e-12)
    assert math.exp(-position_nats(7, planned=50)) == pytest.approx(1 / 50)


def test_offset_weights_sum_to_one() -> None:
    total = math.fsum(math.exp(-offset_nats(o)) for o in range(-5000, 5001) if o)
    assert total == pytest.approx(1 - 1 / 5001, rel=1e-12)


def test_powers_of_two_are_exact_at_any_size() -> None:
    for octave in (1, 52, 53, 60, 200):
        below, at = position_nats(2**octave - 1), position_nats(2**octave)
        assert at - below == pytest.approx(math.log(2) + math.log((octave + 2) / octave), rel=1e-9)


@quiet
@given(st.integers(1, 10**9), st.integers(0, 10**4), st.floats(0, 1e4))
def test_code_length_is_the_sum_of_its_parts(i: int, f: int, nats: float) -> None:
    f = min(f, i - 1)
    parts = position_nats(i) + math.log((f + 1) * (f + 2)) + nats
    if i < 10**4 or f < 50:
        parts += math.log(math.comb(i - 1, f))
        assert code_length(i, f, nats) == pytest.approx(parts, rel=1e-13)
    assert code_length(i, f, nats) >= parts  # rounded up, so that weights stay below 1


@quiet
@given(st.integers(2, 10**9), st.integers(0, 1000), st.floats(0, 1e3), st.floats(0.001, 0.5))
def test_the_level_falls_with_asks_surprises_and_nats(i: int, f: int, nats: float, beta: float) -> None:
    f = min(f, (i - 1) // 2)
    here = level(beta, i, f, nats)
    assert here < math.log(beta)
    assert level(beta, 2 * i, f, nats) < here
    assert level(beta, i, f, nats + 1) < here
    if f + 1 <= (i - 1) // 2:
        assert level(beta, i, f + 1, nats) < here
    assert level(beta, i, f, nats) == pytest.approx(math.log(beta) - code_length(i, f, nats))


@quiet
@given(st.integers(1, 10**6), st.integers(0, 100))
def test_a_plan_saves_nats_at_its_end(k: int, f: int) -> None:
    f = min(f, k - 1)
    assert code_length(k, f, 0.0, planned=k) < code_length(k, f, 0.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: position_nats(0),
        lambda: position_nats(1.5),  # type: ignore[arg-type]
        lambda: position_nats(math.nan),  # type: ignore[arg-type]
        lambda: position_nats(math.inf),  # type: ignore[arg-type]
        lambda: position_nats(11, planned=10),
        lambda: position_nats(1, planned=0),
        lambda: offset_nats(0),
        lambda: offset_nats(1.5),  # type: ignore[arg-type]
        lambda: offset_nats(math.nan),  # type: ignore[arg-type]
        lambda: code_length(5, 5, 0.0),
        lambda: code_length(5, -1, 0.0),
        lambda: code_length(5, 1, -0.1),
        lambda: code_length(5, 1, math.nan),
        lambda: code_length(5, 1, math.inf),
        lambda: level(0.0, 5, 1, 0.0),
        lambda: level(1.0, 5, 1, 0.0),
        lambda: level(math.nan, 5, 1, 0.0),
    ],
)
def test_bad_numbers_are_refused(call: object) -> None:
    with pytest.raises(ValueError, match=r"must|offsets are"):
        call()  # type: ignore[operator]
