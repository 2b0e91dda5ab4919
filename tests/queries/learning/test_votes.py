"""Weighted edges, majorities and blends: their values on rows, their ranges, and their JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.errors import Unaskable
from unworn.queries import Query, accuracy, col, mean, parse, share
from unworn.queries.learning.blend import Blend
from unworn.queries.learning.votes import MajorityError, WeightedEdge
from unworn.rows import Sample

A, B, Y = col("a") > 0, col("b") > 0, col("y") == 1
QUESTIONS: list[Query] = [
    WeightedEdge(Y, (A, ~B), (0.0, 0.25, 1.0), B),
    WeightedEdge(Y, (), (0.5,)),
    MajorityError(Y, (A, B, ~A)),
    Blend((0.5, -0.25), (share(A), mean(col("b").fill(0.0), range=(-1, 2)))),
]


def rows(seed: int = 1, size: int = 40) -> tuple[Sample, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    columns = {"a": rng.normal(size=size), "b": rng.normal(size=size)}
    y = rng.integers(0, 2, size)
    columns["a"][0] = columns["b"][1] = np.nan
    return Sample.read(columns, y), columns | {"y": y}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(any))
def test_values_are_those_of_the_definition(seed: int, weights: list[float]) -> None:
    sample, told = rows(seed)
    with np.errstate(invalid="ignore"):
        a, b, y = told["a"] > 0, told["b"] > 0, told["y"] == 1
    right = (a == y).astype(int) + (~b == y)
    weight = np.array(weights)[right]
    edge, all_rows, majority, blend = (
        WeightedEdge(Y, (A, ~B), tuple(weights), B),
        WeightedEdge(Y, (A, ~B), tuple(weights)),
        MajorityError(Y, (A, B, ~A)),
        QUESTIONS[3],
    )
    assert sample.means([edge])[0] == pytest.approx(float((weight * np.where(b == y, 0.5, -0.5)).mean()))
    assert sample.means([all_rows])[0] == pytest.approx(float(weight.mean()))
    assert sample.counts([majority])[0] == int(((a == y).astype(int) + (b == y) + (~a == y) <= 1).sum())
    low, high = blend.facts(sample.schema, sample.size).low, blend.facts(sample.schema, sample.size).high
    assert (low, high) == (-0.5, 0.75)
    b_values = mean(col("b").fill(0.0), range=(-1, 2))
    assert sample.means([blend])[0] == pytest.approx(0.5 * a.mean() - 0.25 * float(sample.means([b_values])[0]))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_questions_come_back_from_their_json(question: Query) -> None:
    again = parse(question.to_json())
    assert again == question
    assert again.fingerprint == question.fingerprint
    assert again != QUESTIONS[0] or question is QUESTIONS[0]
    for field in set(question.to_json()) - {"ask"}:
        for junk in (None, 5, "a", [], [None], {"a": 1}, [[]]):
            data = question.to_json() | {field: junk}
            if (field == "rule" and junk is None) or (field == "votes" and junk == [] and data["ask"] == "edge"):
                continue
            with pytest.raises(Unaskable):
                parse(data)
    with pytest.raises(Unaskable):
        parse(question.to_json() | {"more": 1})


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: WeightedEdge(Y, (A,), (0.5,), B),
        lambda: WeightedEdge(Y, (), (1.5,), B),
        lambda: WeightedEdge(Y, (), (0.0,), B),
        lambda: WeightedEdge(Y, (), (float("nan"),), B),
        lambda: WeightedEdge(col("y"), (), (1.0,), col("a") + 1),
        lambda: MajorityError(Y, (A, B)),
        lambda: MajorityError(Y, ()),
        lambda: MajorityError(Y, (A,) * 2003),
        lambda: Blend((1.0,), (accuracy(np.ones(3)),)),  # type: ignore[arg-type]
        lambda: Blend((1.0, 2.0), (share(A),)),
        lambda: Blend((0.0,), (share(A),)),
        lambda: Blend((1e9,), (share(A),)),
        lambda: Blend((), ()),
    ],
)
def test_what_makes_no_question_is_refused(wrong: Any) -> None:
    with pytest.raises(Unaskable):
        wrong()


def test_columns_that_are_not_there_are_refused_from_the_schema() -> None:
    sample, _ = rows()
    for question in (
        WeightedEdge(Y, (col("c") > 0,), (0.5, 1.0)),
        WeightedEdge(Y, (), (0.5,), col("c") > 0),
        MajorityError(col("c") == 1, (A,)),
        Blend((1.0,), (share(col("c") > 0),)),
    ):
        with pytest.raises(Unaskable, match="c"):
            question.facts(sample.schema, sample.size)


def test_groups_weigh_alike() -> None:
    schema = Sample.read({"a": np.zeros(4)}, np.zeros(4), groups=np.array([0, 0, 1, 1])).schema
    assert MajorityError(Y, (A,)).facts(schema, 4).kind == "unit"
