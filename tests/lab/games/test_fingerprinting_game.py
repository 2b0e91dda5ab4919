"""The fingerprinting game: rows are found whatever is answered, and nobody else is accused.

Everything is seeded; false-alarm rates over all seeds are stated at each test. No point that is no row is ever accused,
but for the ``alarm`` of the code, 1e-8 here: that is a theorem, and tested as one.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.two_sizes import in_two_sizes, reseeded
from unworn.lab.games import Accuser, FingerprintingCode, play_game
from unworn.lab.games.fingerprinting_game import (
    Answering,
    exact,
    majority,
    noisy,
    one_row,
    round_mean,
    scapegoat,
)

ALARM = 1e-8

# name: (how to answer, its spread without that of the rows)
WAYS: dict[str, tuple[Answering, float]] = {
    "exactly": (exact, 0.0),
    "rounded to .2": (round_mean(0.2), 0.2 / math.sqrt(12)),
    "rounded to .5": (round_mean(0.5), 0.5 / math.sqrt(12)),
    "rounded to .2 around 0": (round_mean(0.2, centre=0.0), 0.2 / math.sqrt(12)),
    "with noise of .05": (noisy(0.05), 0.05),
    "with noise of .1": (noisy(0.1), 0.1),
    "by the majority": (majority, 0.238),
}


@pytest.mark.parametrize("way", WAYS)
@in_two_sizes(short=12, full=60)
def test_half_the_rows_are_found_and_nobody_else(way: str, size: int) -> None:
    """In twice the rounds that the formula gives.

    Of 60 games on 12 rows each, half the rows were found after .56 to 1.31 of the formula's rounds, on average 1.14 at
    most, with standard deviations of at most .09; of 5 on 50 rows after .62 to 1.26. Twice the rounds lie 9 standard
    deviations out.
    """
    answering, spread = WAYS[way]
    code = FingerprintingCode(size, 4 * size, ALARM)
    rounds = 2 * code.rounds(math.hypot(spread, math.sqrt(1 / (8 * size))))
    result = play_game(answering, code, rounds, np.random.default_rng(reseeded(7)))
    assert result.half is not None
    assert result.found >= 0.5
    assert result.innocents == 0


@in_two_sizes(short=8, full=25)
def test_answers_that_are_only_right_on_average(size: int) -> None:
    """The spread that is assumed unless told: 40 games took .62 to 1.23 of the rounds, .97 ± .13, so 2 is far out."""
    code = FingerprintingCode(size, 4 * size, ALARM)
    result = play_game(one_row, code, 2 * code.rounds(), np.random.default_rng(reseeded(8)))
    assert result.half is not None
    assert result.innocents == 0


def test_a_scapegoat_is_accused_and_leaves_the_game() -> None:
    """The first row's bit is 0 from then on, and the answer that goes by it is wrong whenever the bias is high."""
    code = FingerprintingCode(20, 80, ALARM)
    accuser, rng = Accuser(code), np.random.default_rng(reseeded(9))
    while not accuser.accused[0]:
        bias, bits = accuser.draw(rng)
        accuser.hear(bits, bias, scapegoat(bits[:20], rng))
        assert accuser.heard < 2_000  # a row that says it all is worth 1/π a round: 170 rounds or so
    assert accuser.accused.sum() == 1
    assert not any(accuser.draw(rng)[1][0] for _ in range(50))


@pytest.mark.parametrize("answering", [lambda bits, rng: rng.random(), lambda bits, rng: 1.0], ids=["coins", "one"])
def test_answers_that_know_nothing_accuse_nobody(answering: Answering) -> None:
    """Not even rows, which are then like any other point (the answer does not know its bias either)."""
    result = play_game(answering, FingerprintingCode(10, 200, ALARM), 1_000, np.random.default_rng(reseeded(10)))
    assert (result.found, result.innocents, result.rounds, result.half) == (0.0, 0, 1_000, None)


@settings(deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.001, 0.999), st.floats(0.0, 1.0))
def test_evidence_against_a_point_that_is_no_row_is_fair(answer: float, bias: float, before: float) -> None:
    """A round multiplies it by 1 on average, whatever was answered: with Ville's inequality, all that is promised."""
    accuser = Accuser(FingerprintingCode(30, 2))
    accuser.hear(np.array([True, False]), 0.3, before)
    start = accuser.scores[0]
    was = float(accuser.evidence(np.array([start]))[0])
    accuser.scores[1] = start
    accuser.hear(np.array([True, False]), bias, answer)
    told = np.exp(accuser.evidence(accuser.scores))
    assert float(np.array([bias, 1 - bias]) @ told) == pytest.approx(math.exp(was), rel=1e-9)


def test_biases_follow_the_arcsine_law_between_the_cuts() -> None:
    """Shares of 4,000 draws, within 6 standard errors: false alarm below 1e-8."""
    code, rng = FingerprintingCode(50, 200), np.random.default_rng(reseeded(11))
    drawn = np.array([code.draw_bias(rng) for _ in range(4_000)])
    assert drawn.min() >= code.cut * (1 - 1e-9)
    assert drawn.max() <= 1 - code.cut * (1 - 1e-9)
    for share in (0.1, 0.5, 0.8):
        least = math.asin(math.sqrt(code.cut))
        wanted = (math.asin(math.sqrt(share)) - least) / (math.pi / 2 - 2 * least)
        assert abs((drawn < share).mean() - wanted) < 6 * math.sqrt(wanted * (1 - wanted) / 4_000)


def test_rounds_grow_as_the_square_of_rows_and_of_the_spread() -> None:
    codes = [FingerprintingCode(rows, 4 * rows) for rows in (100, 200)]
    few, many = (code.rounds(0.1) for code in codes)
    assert 4 <= many / few <= 4.6  # the logarithm of the points too
    assert codes[0].rounds(0.2) == pytest.approx(4 * few, rel=1e-3)


@pytest.mark.parametrize(
    "wrong", [{"rows": 0}, {"points": 1}, {"alarm": 0.0}, {"alarm": math.nan}, {"rows": True}, {"points": 2.5}]
)
def test_codes_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"rows|points|alarm"):
        FingerprintingCode(**({"rows": 10, "points": 40} | wrong))  # type: ignore[arg-type]


@pytest.mark.parametrize("spread", [0.0, -1.0, 1.5, math.nan])
def test_spreads_that_no_answer_has_are_refused(spread: float) -> None:
    with pytest.raises(ValueError, match="spread"):
        FingerprintingCode(10, 40).rounds(spread)
