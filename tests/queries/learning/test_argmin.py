"""Gradient and risk questions: their meaning, their ranges, their JSON, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn import Holdout
from unworn.errors import Unaskable
from unworn.mechanisms import Gaussian
from unworn.queries import parse
from unworn.queries.learning.argmin import Gradient, Risk, gradient, share_work
from unworn.queries.learning.linear_losses import Feature, LinearLoss, Stump, hinge, least_squares, logistic, pinball
from unworn.rows import Sample
from unworn.rows.contract import Batch
from unworn.rows.memory.row_runs import Chunk

BOUNDS = {"a": (-1.0, 2.0), "b": (0.0, 10.0)}
LOSSES = [
    logistic(BOUNDS),
    logistic(BOUNDS, positive=0, intercept=False),
    hinge(BOUNDS),
    least_squares(BOUNDS, range=(-2.0, 2.0)),
    pinball(BOUNDS, range=(-2.0, 2.0), quantile=0.8),
    pinball(range=(0.0, 1.0), quantile=0.3),
    logistic([Stump("a", 0.5), Feature("b", 0, 10)]),
]


def rows(seed=0, n=200, wild=False):
    rng = np.random.default_rng(seed)
    a, b, y = rng.normal(size=n), rng.uniform(-3, 13, n), rng.integers(0, 2, n).astype(float)
    if wild:
        for column in (a, b, y):
            column[rng.integers(0, n, 40)] = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308], 40)
    return Sample.read({"a": a, "b": b}, y)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.kind}-{loss.dimension}")
def test_the_gradient_is_that_of_the_risk(loss):
    """Against differences of the risk: kinks are met by nearly no row."""
    sample, rng = rows(), np.random.default_rng(1)
    at = rng.normal(size=loss.dimension) * 0.3
    step = 1e-6
    told = sample.means(gradient(loss, at))
    for place in range(loss.dimension):
        ahead, behind = at.copy(), at.copy()
        ahead[place] += step
        behind[place] -= step
        high, low = sample.means([Risk(loss, tuple(ahead)), Risk(loss, tuple(behind))])
        assert told[place] == pytest.approx((high - low) / (2 * step), abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(LOSSES), st.integers(0, 1000), st.floats(0, 50))
def test_values_stay_inside_the_declared_range_whatever_the_rows(loss, seed, size):
    sample = rows(seed, wild=True)
    at = tuple(np.random.default_rng(seed).normal(size=loss.dimension) * size)
    for question in (*gradient(loss, at), Risk(loss, at)):
        facts = question.facts(sample.schema, sample.rows)
        (mean,) = sample.means([question])
        assert facts.kind == "unit"
        assert not facts.runs_code
        assert facts.low <= mean <= facts.high


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(LOSSES), st.integers(0, 1000))
def test_json_gives_the_same_question_back(loss, seed):
    at = tuple(np.random.default_rng(seed).normal(size=loss.dimension))
    for question in (*gradient(loss, at), Risk(loss, at)):
        again = parse(json.loads(json.dumps(question.to_json())))
        assert again == question
        assert again.fingerprint == question.fingerprint
        assert hash(again) == hash(question)


def test_the_same_point_from_any_kind_of_number_is_the_same_question():
    loss = logistic({"a": (0, 1)})
    assert Gradient(loss, np.zeros(2), 1) == Gradient(loss, (0, -0.0), np.int64(1))
    assert Gradient(loss, (0, 0), 0) != Gradient(loss, (0, 0), 1)
    assert Gradient(loss, (0, 0), 0) != Risk(loss, (0, 0))


def test_a_batch_shares_the_work_and_changes_nothing():
    """The slope is kept for one run of rows: with several runs, each question alone says the same to the last bit."""
    rng = np.random.default_rng(0)
    n = 300_000
    sample = Sample.read({"a": rng.normal(size=n), "b": rng.uniform(0, 10, n)}, rng.integers(0, 2, n))
    questions = gradient(LOSSES[0], (0.1, 0.2, -0.3))
    alone = [float(sample.means([question])[0]) for question in questions]
    assert sample.means(questions).tolist() == alone


def test_it_says_which_columns_it_reads():
    assert Risk(LOSSES[6], (0.0, 0.0, 0.0)).columns == ("a", "b", "y")


def test_text_labels_and_boolean_features():
    holdout = Holdout({"flag": np.array([True, False] * 50)}, np.array(["yes", "no"] * 50), ledger=None)
    (told,) = holdout.ask_many([Gradient(logistic({"flag": (0, 1)}, positive="yes"), (0.0, 0.0), 1)])
    assert told.value < 0


def test_noise_answers_it():
    """At a confidence of 1 - 1e-7: a false alarm is rarer than one in a million."""
    rows = {"a": np.linspace(-1, 2, 20_000)}
    holdout = Holdout(rows, np.arange(20_000) % 2, mechanism=Gaussian(), asks=4, confidence=1 - 1e-7, ledger=None)
    (told,) = holdout.ask_many([Risk(logistic({"a": (-1, 2)}), (0.0, 0.0))])
    assert told.low <= np.log(2) <= told.high


GOOD = Gradient(LOSSES[0], (0.0, 0.0, 0.0), 0).to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"at": [0, 0]},
        {"at": [0, 0, None]},
        {"at": [0, 0, True]},
        {"at": [0, 0, 1e9]},
        {"at": "000"},
        {"at": [0, 0, float("nan")]},
        {"coordinate": 3},
        {"coordinate": True},
        {"coordinate": 0.0},
        {"more": 1},
        {"loss": {}},
        {"loss": None},
        {"loss": GOOD["loss"] | {"kind": "exec"}},
        {"loss": GOOD["loss"] | {"features": [["code", "a"]]}},
        {"loss": GOOD["loss"] | {"features": [["scaled", "a", 1, 0]]}},
        {"loss": GOOD["loss"] | {"features": [["scaled", 5, 0, 1]]}},
        {"loss": GOOD["loss"] | {"features": "ab"}},
        {"loss": GOOD["loss"] | {"quantile": 0.5}},
        {"loss": GOOD["loss"] | {"intercept": 1}},
        {"loss": GOOD["loss"] | {"positive": None}},
        {"loss": GOOD["loss"] | {"target": "a"}},
    ],
)
def test_other_json_is_refused(change):
    with pytest.raises(Unaskable):
        parse(GOOD | change)


@pytest.mark.parametrize(
    "loss",
    [
        logistic({"missing": (0, 1)}),
        logistic({"text": (0, 1)}),
        logistic({"a": (0, 1)}, positive="yes"),
        least_squares({"a": (0, 1)}, "text", range=(0, 1)),
        logistic({"a": (0, 1)}, "nowhere"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused_before_rows_are_read(loss):
    holdout = Holdout({"a": np.arange(4.0), "text": np.array(["u", "v"] * 2)}, np.array([0, 1, 0, 1]), ledger=None)
    with pytest.raises(Unaskable):
        holdout.ask_many([Gradient(loss, (0.0, 0.0), 0)])
    assert holdout.meter.asked == 0


def test_losses_are_checked_when_they_are_made():
    for make in (
        lambda: logistic({"a": (0, float("nan"))}),
        lambda: logistic({"a": (0, 0)}),
        lambda: logistic(["a"]),
        lambda: pinball(range=(0, 1), quantile=1.0),
        lambda: pinball(range=(0, 1), quantile=0.5, intercept=False),
        lambda: LinearLoss("logistic", (), "y", positive=1, range=(0, 1)),
        lambda: Gradient("logistic", (0.0,), 0),
    ):
        with pytest.raises(Unaskable):
            make()


def test_bounds_too_narrow_to_halve_are_refused() -> None:
    with pytest.raises(Unaskable):
        logistic({"x": (0.0, 5e-324)})


def test_what_a_batch_has_in_common_is_worked_out_once_for_the_latest_rows():
    sample, memo = Sample.read({"a": np.arange(6.0)}), {}
    runs = Chunk(sample, 0, 3, memo), Chunk(sample, 3, 3, memo)  # of one pass
    for first, second in ((Batch({}, 3), Batch({}, 3)), runs):
        made = []
        for frame in (first, first, second, second):
            share_work(frame, "slope", lambda frame=frame, made=made: made.append(frame))
        assert list(map(id, made)) == [id(first), id(second)]
