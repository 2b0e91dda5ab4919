"""One bit an answer: what the verdict turns on, and that bits do not carry a vote where exact answers do."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.sampling.one_bit_claim import BITS, EXACT, PROMISED, _row, judge, vote_bias
from unworn.mechanisms import Naive, OneSample


def table(bits: float = 0.01, exact: float = 0.25, score: float = 1.0) -> list[TableRow]:
    rows = []
    for asks in (100, 1_000):
        rows += [_row(BITS, 5_000, asks, bits, score), _row(EXACT, 5_000, asks, exact, None)]
        rows.append(_row(PROMISED, 5_000, asks, 0.2, None))
    return rows


def test_the_verdict_follows_the_numbers() -> None:
    assert judge(table()).holds
    assert not judge(table(bits=0.21, exact=0.3)).holds
    assert not judge(table(score=7.0)).holds
    assert not judge(table(exact=0.19)).holds


def test_bits_are_drawn_with_the_chance_they_are_said_to_have() -> None:
    # Six standard errors; the promise is far wider than the bias, which is one of 5,000 rows.
    one = OneSample.for_(rows=5_000, asks=300)
    bias, score = vote_bias(one, 5_000, 300, np.random.default_rng(reseeded(1)))
    assert bias <= 2 * (one.flip or 0.0)
    assert score < 6


def test_exact_answers_in_their_place_turn_the_verdict() -> None:
    bias, _ = vote_bias(Naive(), 5_000, 300, np.random.default_rng(reseeded(1)))
    assert bias == pytest.approx(0.096, abs=0.04)  # Φ(√(k/n)) - 1/2, and six standard errors
    bias, _ = vote_bias(Naive(), 2_000, 1_000, np.random.default_rng(reseeded(1)))
    assert not judge(table(bits=bias, exact=bias)).holds  # 0.26, where 0.2 is promised
