"""Blocks of questions: answers, their transpose, sensitivities and finding a question, against brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from unworn.universe.model.question_blocks import Block, Listed, Marginal, Prefix, Range

RNG = np.random.default_rng(5)
BLOCKS: list[Block] = [
    Marginal((0, 2), (2, 3)),
    Prefix((1,), (5,)),
    Range((0,), (6,)),
    Range((0,), (1,)),
    Listed((0, 1), (2, 3), RNG.random((4, 6)) < 0.5),
    Listed((0,), (3,), np.array([[True, True, True], [True, False, False]])),
]


def matrix(block: Block) -> np.ndarray:
    return np.array([block.question(place).reshape(-1) for place in range(block.size)]).reshape(block.size, -1)


@pytest.mark.parametrize("block", BLOCKS)
def test_answers_are_the_questions_times_the_table(block: Block) -> None:
    table = RNG.integers(0, 100, block.shape)
    told = block.answers(table)
    assert told.dtype == table.dtype
    assert told.tolist() == (matrix(block) @ table.reshape(-1)).astype(int).tolist()
    assert len(block) == block.size == len(told)


@pytest.mark.parametrize("block", BLOCKS)
def test_spread_is_the_transpose(block: Block) -> None:
    weights = RNG.normal(size=block.size)
    np.testing.assert_allclose(block.spread(weights).reshape(-1), matrix(block).T @ weights, atol=1e-12)
    assert block.spread(weights).shape == block.shape


@pytest.mark.parametrize("block", BLOCKS)
def test_sensitivity_is_that_of_the_worst_replacement(block: Block) -> None:
    columns = matrix(block).T
    pairs = list(itertools.combinations(columns, 2)) or [(columns[0], columns[0])]
    assert block.l1 == max(np.abs(one - two).sum() for one, two in pairs)
    assert math.isclose(block.l2, max(np.linalg.norm(one - two) for one, two in pairs))


@pytest.mark.parametrize("block", BLOCKS)
def test_every_question_is_found_and_nothing_else(block: Block) -> None:
    questions = matrix(block) > 0.5
    for place, yes in enumerate(questions):
        found = block.find(yes)
        assert found is not None
        assert (questions[found] == yes).all()
        assert found <= place
    for bits in itertools.product([False, True], repeat=math.prod(block.shape)):
        yes = np.array(bits)
        if not (questions == yes).all(axis=1).any():
            assert block.find(yes) is None
