"""A comparison is one paired question."""

from __future__ import annotations

import numpy as np
import pytest

from unworn.errors import Unaskable
from unworn.queries.metrics.named_metrics import accuracy, brier, mae
from unworn.queries.metrics.paired_query import compare, difference_from_json
from unworn.queries.predictions import FromModel, GivenPredictions
from unworn.rows import Sample

RNG = np.random.default_rng(3)
N = 200_000  # more than one run of rows
Y = RNG.integers(0, 2, N)
A, B = (np.where(RNG.random(N) < 0.9, Y, 1 - Y) for _ in range(2))


def test_the_difference_of_two_accuracies() -> None:
    question = compare(accuracy(GivenPredictions(A, name="A")), accuracy(GivenPredictions(B, name="B")))
    sample = Sample.read(None, Y)
    facts = question.facts(sample.schema, N)
    assert (facts.kind, facts.low, facts.high, facts.zero_one) == ("paired", -1, 1, True)
    assert question.label == "accuracy: A − B"
    mean, spread = sample.differences([question])[0]
    assert mean == (np.count_nonzero(A == Y) - np.count_nonzero(B == Y)) / N
    assert spread == np.count_nonzero((A == Y) != (B == Y)) / N


def test_grouped_differences_are_between_group_means() -> None:
    groups = RNG.integers(0, 1000, N)
    sample = Sample.read(None, Y, groups=groups)
    question = compare(accuracy(A), accuracy(B))
    assert not question.facts(sample.schema, N).zero_one
    d = (A == Y).astype(float) - (B == Y)
    within = np.array([d[groups == group].mean() for group in range(1000)])
    expected = [within.mean(), np.abs(within).mean()]
    assert sample.differences([question])[0] == pytest.approx(expected, abs=1e-12)


def test_ranges_and_code_carry_over() -> None:
    class Model:
        def predict(self, X: object) -> np.ndarray:
            return A

    sample = Sample.read(np.zeros((N, 1)), Y.astype(float))
    question = compare(mae(FromModel(Model(), name="m"), range=(1, 3)), mae(B, range=(1, 3)))
    facts = question.facts(sample.schema, N)
    assert (facts.low, facts.high, facts.zero_one, facts.runs_code) == (-2, 2, False, True)
    assert sample.differences([question])[0].tolist() == [0, 0]  # every error is cut to 1 from below


def test_only_one_family_compares() -> None:
    with pytest.raises(Unaskable, match="one metric"):
        compare(accuracy(A), brier(B))
    with pytest.raises(Unaskable, match="one metric"):
        compare(mae(A, range=(0, 1)), mae(B, range=(0, 2)))
    with pytest.raises(Unaskable, match="two questions of one metric"):
        compare(accuracy(A), compare(accuracy(A), accuracy(B)))


def test_a_record_is_the_same_question() -> None:
    question = compare(accuracy(A), accuracy(B))
    assert difference_from_json(question.to_json()) == question
    assert question != compare(accuracy(B), accuracy(A))
