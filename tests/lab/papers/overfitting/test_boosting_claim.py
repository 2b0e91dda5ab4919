"""Boosting a board: what the verdict turns on, and that a play repeats."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.overfitting.boosting_claim import (
    CHECKED,
    LADDER,
    LAW,
    PLAIN,
    _row,
    climb,
    expected_score,
    judge,
)
from unworn.mechanisms import GuessAndCheck, Naive


def table(plain: float = 1.0, ladder: float = 0.5, missed: int = 0) -> list[TableRow]:
    rows = []
    for count in (30, 300, 1_000):
        law = expected_score(1_000, count)
        told = {PLAIN: 0.5 + plain * (law - 0.5), LADDER: ladder, CHECKED: 0.5, LAW: law}
        rows += [_row(what, 1_000, count, 4, missed if what == CHECKED else 0, told[what], None, None) for what in told]
    return rows


def test_the_verdict_follows_the_numbers() -> None:
    assert judge(table()).holds
    assert not judge(table(plain=0.6)).holds
    assert not judge(table(ladder=0.6)).holds
    assert not judge(table(missed=1)).holds


def test_the_majority_climbs_a_plain_board_as_theory_says() -> None:
    # A score has a standard error below 0.025 on 400 rows, and the law is right to 0.01: 0.16 is six of them.
    score, missed = climb(Naive(), 400, 400, np.random.default_rng(reseeded(1)))
    assert abs(score - expected_score(400, 400)) < 0.16
    assert missed
    again, _ = climb(Naive(), 400, 400, np.random.default_rng(reseeded(1)))
    assert again == score


def test_a_protected_board_stays_where_the_truth_is() -> None:
    score, missed = climb(GuessAndCheck(), 400, 100, np.random.default_rng(reseeded(2)))
    assert not missed
    assert score == pytest.approx(0.5, abs=0.05)  # a surprise needs four standard errors
