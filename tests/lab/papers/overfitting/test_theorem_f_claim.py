"""Theorem F against its attack: each part of the verdict can fail, and what is witnessed is what was voted."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import reseeded
from unworn.lab.analysts.select_then_vote import SelectThenVote
from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.overfitting.theorem_f_claim import (
    ALLOWED,
    ATTACK,
    PLAIN,
    VOTE,
    WitnessedScene,
    _row,
    allowed_bias,
    judge,
    reach_bias,
)
from unworn.lab.worlds import SignWorld


def table(attack: float = 0.08, highest: float = 0.1, plain: float = 0.26) -> list[TableRow]:
    return [
        _row(ALLOWED, 2_000, 1_000, 4, 0.14, None, None),
        _row(ATTACK, 2_000, 1_000, 4, attack, 0.0, highest),
        _row(VOTE, 2_000, 1_000, 4, 0.07, 0.0, 0.1),
        _row(PLAIN, 2_000, 1_000, 4, plain, 0.0, 0.3),
    ]


def test_the_verdict_follows_the_numbers() -> None:
    assert judge(table()).holds


@pytest.mark.parametrize("wrong", [{"attack": 0.05}, {"highest": 0.15}, {"plain": 0.1}])
def test_each_part_can_fail(wrong: dict[str, float]) -> None:
    assert not judge(table(**wrong)).holds


def test_a_witness_sees_the_rows_and_changes_no_question() -> None:
    scene = SignWorld().draw(100, 5, np.random.default_rng(1))
    witness = WitnessedScene(scene.data, scene.labels, scene.features)
    weights = [1.0, -2.0, 0.5]
    assert witness.vote(weights).question.source.column.values.tolist() == (  # type: ignore[attr-defined]
        scene.vote(weights).question.source.column.values.tolist()  # type: ignore[attr-defined]
    )
    right = np.mean(scene.vote(weights).question.source.column.values == scene.labels)  # type: ignore[attr-defined]
    assert witness.biases == [pytest.approx(right - 0.5)]


def test_noise_keeps_the_bias_within_what_is_allowed() -> None:
    # Beyond it with probability 0.05 at most; by the attack's own law far less: .022 with a standard error of .016.
    attack = SelectThenVote(batch=True)
    noisy = reach_bias(attack, 1_000, 40, np.random.default_rng(reseeded(2)))
    assert noisy < allowed_bias(1_000, 40)
