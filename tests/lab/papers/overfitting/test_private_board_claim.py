"""A private board: what the verdict turns on, and that noise for the plan takes the climb away."""

from __future__ import annotations

import numpy as np

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.overfitting.private_board_claim import (
    LAWS,
    PLAIN,
    PRIVATE,
    _row,
    board,
    expected_loss,
    judge,
    majority_loss,
)
from unworn.mechanisms import Gaussian

NOISE = {PLAIN: 0.0, PRIVATE: 0.05}


def table(**losses: float) -> list[TableRow]:
    rows = []
    for count in (30, 300, 1_000):
        for kind, law in LAWS.items():
            lawful = expected_loss(1_000, count, NOISE[kind])
            rows.append(_row(kind, 1_000, count, losses.get(kind.split()[0], lawful), None, None))
            rows.append(_row(law, 1_000, count, lawful, None, None))
    return rows


def test_the_verdict_follows_the_numbers() -> None:
    assert judge(table()).holds
    assert not judge(table(plain=0.4)).holds
    assert not judge(table(private=0.3)).holds


def test_noise_for_the_plan_takes_the_climb_away() -> None:
    # A loss on 1,000 rows has a standard error below .016: .1 is six of them.
    rng = np.random.default_rng(reseeded(1))
    mechanism = board(PRIVATE, 1_000, 600)
    assert isinstance(mechanism, Gaussian)
    plain = majority_loss(board(PLAIN, 1_000, 600), 1_000, 600, rng)
    private = majority_loss(mechanism, 1_000, 600, rng)
    assert abs(plain - expected_loss(1_000, 600)) < 0.1
    assert abs(private - expected_loss(1_000, 600, mechanism.scale or 0.0)) < 0.1
    assert not judge(table(private=plain)).holds
