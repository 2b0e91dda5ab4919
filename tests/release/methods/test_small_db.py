"""SmallDB: exact on tiny domains, refused with its reason beyond."""

from __future__ import annotations

import numpy as np
import pytest

from tests.release.tables import InMemory
from tests.release.worlds import latent
from unworn.bounds.privacy import Pure
from unworn.errors import Unaskable
from unworn.mechanisms.synthetic.version_space import VersionSpace
from unworn.noise import Stream
from unworn.release.methods.small_db import SmallDB, _largest_errors
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import Marginals

TINY = Domain({"a": [0, 1], "b": [0, 1, 2]})


def asked(rows: int = 3_000, epsilon: float = 1.0) -> Problem:
    return Problem(rows, TINY, Marginals(1) + Marginals(2), epsilon, 0.0)


def test_scores_are_the_largest_errors_in_whole_numbers() -> None:
    tables = InMemory(latent(TINY.shape, 50, 1), TINY.shape)
    problem = asked(50)
    space = VersionSpace.of(6, 3)
    worst = _largest_errors(problem, tables, space)
    for place in range(len(space)):
        small = space.histograms[:, place].reshape(TINY.shape)
        off = [np.abs(50 * b.answers(small.sum(axis=_others(b.axes))) - 3 * b.answers(tables.table(b.axes))).max()
               for b in problem.blocks]  # fmt: skip
        assert worst[place] == max(off)


def _others(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis in range(2) if axis not in axes)


def test_replacing_a_row_changes_no_score_by_more_than_the_size() -> None:
    codes = latent(TINY.shape, 40, 2)
    other = codes.copy()
    other[0] = (codes[0] + 1) % np.array(TINY.shape)
    space = VersionSpace.of(6, 4)
    one, two = (_largest_errors(asked(40), InMemory(each, TINY.shape), space) for each in (codes, other))
    assert np.abs(one - two).max() <= 4
    assert np.abs(one - two).max() > 0


def test_answers_are_within_the_bound() -> None:
    problem = asked()
    method = SmallDB(size=12).settled(problem)
    assert method.profile(problem) == Pure(1.0)
    missed = 0
    for seed in range(5):  # each may miss with probability 5e-5: two misses or more below 1e-7
        tables = InMemory(latent(TINY.shape, 3_000, seed), TINY.shape)
        outcome = method.run(problem, tables, Stream(bytes(32), seed))
        assert outcome.model is not None
        for block, bound in zip(problem.blocks, outcome.errors, strict=True):
            off = np.abs(
                block.answers(outcome.model.table(block.axes)) - block.answers(tables.table(block.axes)) / 3_000
            )
            missed += bool((off > bound).any())
    assert missed <= 1
    assert method.predicted(problem) < 0.2
    assert SmallDB().settled(problem).predicted(problem) < method.predicted(problem)


def test_what_it_refuses() -> None:
    big = Domain({"a": list(range(30)), "b": list(range(30))})
    with pytest.raises(Unaskable, match="lists every data set"):
        SmallDB(size=5).check(Problem(100, big, Marginals(2), 1.0, 0.0))
    with pytest.raises(Unaskable, match="no quicker way is known"):
        SmallDB().settled(Problem(100, Domain({"a": range(1_500), "b": range(1_500)}), Marginals(1), 1.0, 0.0))
    for size in (0, True, 1.5):
        with pytest.raises(ValueError, match="whole number"):
            SmallDB(size=size)  # type: ignore[arg-type]
