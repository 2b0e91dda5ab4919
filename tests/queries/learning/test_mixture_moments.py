"""The questions of EM: their meaning, their ranges, their JSON, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.errors import Unaskable
from unworn.queries import parse
from unworn.queries.learning.linear_losses import Feature
from unworn.queries.learning.mixture_moments import Mixture, Moment
from unworn.rows import Sample

MIXTURE = Mixture(
    (Feature("a", -1, 1), Feature("b", 0, 10)), (0.25, 0.75), ((-0.5, 0.1), (0.5, -0.2)), ((0.1, 0.2), (0.3, 1e-6))
)
PLACES = [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 1, 1), (1, 0, 2), (0, 1, 2)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000))
def test_values_stay_inside_the_range_whatever_the_rows(seed):
    rng = np.random.default_rng(seed)
    columns = {"a": rng.normal(size=100), "b": rng.normal(size=100) * 20}
    for column in columns.values():
        column[rng.integers(0, 100, 20)] = rng.choice([np.nan, np.inf, -np.inf, 1e308], 20)
    sample = Sample.read(columns)
    for place in PLACES:
        question = Moment(MIXTURE, *place)
        facts = question.facts(sample.schema, sample.rows)
        (mean,) = sample.means([question])
        assert facts.low <= mean <= facts.high
        assert not facts.runs_code
    assert sum(sample.means([Moment(MIXTURE, 0, 0, 0), Moment(MIXTURE, 1, 0, 0)])) == pytest.approx(1)


def test_against_the_density_written_out():
    sample = Sample.read({"a": np.array([0.2]), "b": np.array([7.0])})
    mixture = Mixture(MIXTURE.features, MIXTURE.weights, MIXTURE.means, ((0.1, 0.2), (0.3, 0.4)))
    point = np.array([0.2, 0.4])
    weighed = [
        weight * np.prod(np.exp(-((point - mean) ** 2) / (2 * np.array(spread))) / np.sqrt(np.array(spread)))
        for weight, mean, spread in zip(mixture.weights, mixture.means, mixture.variances, strict=True)
    ]
    share = weighed[1] / sum(weighed)
    told = sample.means([Moment(mixture, 1, 0, 0), Moment(mixture, 1, 1, 1), Moment(mixture, 1, 1, 2)])
    assert told.tolist() == pytest.approx([share, share * 0.4, share * 0.16])


@pytest.mark.parametrize("place", PLACES)
def test_json_gives_the_same_question_back(place):
    question = Moment(MIXTURE, *place)
    again = parse(json.loads(json.dumps(question.to_json())))
    assert again == question
    assert (again.fingerprint, again.label) == (question.fingerprint, question.label)


GOOD = Moment(MIXTURE, 0, 0, 1).to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"component": 2},
        {"feature": 2},
        {"power": 3},
        {"power": True},
        {"component": 0.5},
        {"more": 1},
        {"mixture": None},
        {"mixture": GOOD["mixture"] | {"weights": [0.5, 0.6]}},
        {"mixture": GOOD["mixture"] | {"weights": [1.0, 0.0]}},
        {"mixture": GOOD["mixture"] | {"weights": ["a", "b"]}},
        {"mixture": GOOD["mixture"] | {"means": [[0, 0]]}},
        {"mixture": GOOD["mixture"] | {"means": [[0, 0], [0, 2]]}},
        {"mixture": GOOD["mixture"] | {"variances": [[0, 1], [1, 1]]}},
        {"mixture": GOOD["mixture"] | {"variances": [[1, 1], [1, float("nan")]]}},
        {"mixture": GOOD["mixture"] | {"features": [["stump", "a", 0]]}},
        {"mixture": GOOD["mixture"] | {"features": 5}},
    ],
)
def test_other_json_is_refused(change):
    with pytest.raises(Unaskable):
        parse(GOOD | change)


def test_text_is_no_feature():
    sample = Sample.read({"a": np.array(["u", "v"]), "b": np.array([0.0, 1.0])})
    with pytest.raises(Unaskable):
        Moment(MIXTURE, 0, 0, 0).facts(sample.schema, 2)
