"""The Ladder's error: each part of the verdict can fail, and an attack that climbs a plain board does not climb it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.overfitting.ladder_claim import (
    BOUND,
    LADDER,
    PLAIN,
    _row,
    judge,
    leaderboard_error,
    published_rate,
)


def table(plain: float = 0.11, ladder: float = 0.05, missed: int = 0) -> list[TableRow]:
    return [
        _row(PLAIN, 250, 3, 3, 0.1, None, None),
        _row(PLAIN, 2_000, 3, 3, plain, None, None),
        _row(LADDER, 250, 3, 0, 0.073, None, None),
        _row(LADDER, 2_000, 3, missed, ladder, None, None),
        *(_row(BOUND, rows, 3, None, published_rate(rows, rows), None, None) for rows in (250, 2_000)),
    ]


def test_the_verdict_follows_the_numbers() -> None:
    assert judge(table()).holds


@pytest.mark.parametrize("wrong", [{"plain": 0.08}, {"ladder": 0.07}, {"ladder": 0.25}, {"missed": 1}])
def test_each_part_can_fail(wrong: dict[str, float]) -> None:
    assert not judge(table(**wrong)).holds  # type: ignore[arg-type]


def test_a_plain_board_is_climbed_and_a_ladder_is_not() -> None:
    # On 800 rows the vote of what looked good is right on 0.69 and honest work on 0.6: an error of 0.09, with a
    # standard error of 0.018. No interval of the Ladder misses but with 0.05, and then its error is still small.
    plain, missed = leaderboard_error(PLAIN, 800, 800, np.random.default_rng(reseeded(1)))
    assert missed
    assert plain > 0.04
    ladder, _ = leaderboard_error(LADDER, 800, 800, np.random.default_rng(reseeded(1)))
    assert ladder < published_rate(800, 800)
