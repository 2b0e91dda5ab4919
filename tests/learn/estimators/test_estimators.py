"""Estimators that learn only by asking: that they do, what they certify, and what adaptivity cannot do to them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.linear_model import LogisticRegression

import unworn.learn.estimators.linear_estimator
from unworn import Holdout
from unworn.learn import Ball, gradient, logistic, minimise
from unworn.learn.estimators import (
    AskedLinearRegression,
    AskedLinearSVM,
    AskedLogisticRegression,
    AskedQuantileRegressor,
    AskedStumps,
)
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Gaussian, GuessAndCheck

CLASSIFIERS = [AskedLogisticRegression, AskedLinearSVM, AskedStumps]
REGRESSORS = [AskedLinearRegression, AskedQuantileRegressor]


def made(seed, rows=4_000, classes=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    score = 1.5 * X[:, 0] - X[:, 1]
    return X, (rng.random(rows) < 1 / (1 + np.exp(-2 * score))) if classes else 0.5 * score + 0.2 * rng.normal(
        size=rows
    )


@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_everything_it_knows_are_answers(kind, monkeypatch):
    """Behind another holdout's answers, the rows given to fit leave no trace: the model is that of the other rows."""
    classes = kind in CLASSIFIERS
    mine, other = made(1, classes=classes), made(2, classes=classes)
    model = kind(iterations=6, random_state=3)
    honest = model.fit(*other).predict(mine[0])
    labels = other[1].astype(int) if classes else other[1]
    monkeypatch.setattr(
        unworn.learn.estimators.linear_estimator, "Holdout", lambda X, y, **terms: Holdout(other[0], labels, **terms)
    )
    assert np.array_equal(kind(iterations=6, random_state=3).fit(*mine).predict(mine[0]), honest)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classifiers_learn(kind):
    X, y = made(4, rows=20_000)
    model = kind(iterations=25, random_state=1).fit(X, np.where(y, "yes", "no"))
    assert model.score(X, np.where(y, "yes", "no")) > 0.78
    assert model.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors_learn(kind):
    X, y = made(4, rows=20_000, classes=False)
    assert kind(iterations=60, random_state=0).fit(X, y).score(X, y) > 0.6


def test_quantiles_differ():
    X, y = made(4, rows=20_000, classes=False)
    shares = [
        np.mean(y <= AskedQuantileRegressor(quantile=level, iterations=60, random_state=0).fit(X, y).predict(X))
        for level in (0.2, 0.8)
    ]
    assert shares[0] < 0.4 < 0.6 < shares[1]


def test_the_certificate_says_where_the_noise_came_from():
    X, y = made(5)
    seeded = AskedLogisticRegression(iterations=4, random_state=0).fit(X, y)
    secret = AskedLogisticRegression(iterations=4).fit(X, y)
    assert any("seed" in words for words in seeded.certificate_["assumptions"])
    assert not any("seed" in words for words in secret.certificate_["assumptions"])
    assert seeded.risk_ <= seeded.risk_bound_
    assert pickle.loads(pickle.dumps(seeded)).minimum_ == seeded.minimum_


def test_a_holdout_that_exists():
    X, y = made(6, rows=20_000)
    columns = {"a": X[:, 0], "b": X[:, 1]}
    store = SeededStore(np.random.default_rng(0))
    holdout = Holdout(columns, np.where(y, "up", "down"), mechanism=Gaussian(), asks=100, ledger=store)
    bounds = {"a": (-3.0, 3.0), "b": (-3.0, 3.0)}
    model = AskedLogisticRegression(iterations=20).learn(holdout, bounds, classes=("down", "up"))
    assert holdout.meter.asked == 61
    assert np.mean(model.predict(X) == np.where(y, "up", "down")) > 0.8
    regression = AskedLinearRegression(iterations=2).learn(
        Holdout(columns, X[:, 0], mechanism=Gaussian(), asks=7, ledger=None), bounds
    )
    assert regression.predict(X).shape == (20_000,)


def test_what_is_learned_forgets_the_frame_that_was_fitted_before():
    pandas = pytest.importorskip("pandas")
    X, y = made(4, rows=300)
    model = AskedLogisticRegression(iterations=2, random_state=0).fit(pandas.DataFrame(X, columns=["p", "q"]), y)
    fitted = model.predict_proba(pandas.DataFrame(X, columns=["p", "q"]))
    holdout = Holdout({"age": X[:, 0]}, y, mechanism=Gaussian(), asks=5, ledger=None)
    for wrong in ({"features": {"weight": (-1, 1)}}, {"features": {"age": (-3, 3)}, "classes": ("no", "yes", "who")}):
        with pytest.raises(ValueError):
            model.learn(holdout, **wrong)
        assert np.array_equal(model.predict_proba(pandas.DataFrame(X, columns=["p", "q"])), fitted)
    assert holdout.meter.asked == 0
    assert model.learn(holdout, {"age": (-3, 3)}).predict(X[:, :1]).shape == (300,)


def test_predictions_are_of_what_was_learned():
    X, y = made(4, rows=300, classes=False)
    model = AskedLinearRegression(iterations=2, random_state=0).fit(X, y)
    before = model.predict(X)
    assert np.array_equal(model.set_params(target_range=(0.0, 100.0)).predict(X), before)


def test_no_score_is_too_large_for_a_chance():
    X = np.tile([[-3.0], [3.0]], (200, 1))
    model = AskedLogisticRegression(radius=1e5, ridge=0.0, iterations=1, mechanism=GuessAndCheck()).fit(X, X[:, 0] > 0)
    object.__setattr__(model.minimum_, "coefficients", (0.0, 5e4))
    assert model.predict_proba(X[:2]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("wrong", [{"bounds": (1.0, 1.0)}, {"radius": 0.0}, {"iterations": 0}, {"ridge": -1.0}])
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(ValueError):
        AskedLogisticRegression(**wrong).fit(*made(1, rows=50))


def test_an_adaptive_analyst_fools_a_plain_fit_and_not_a_certificate():
    """Labels are coins. Features are chosen, then fitted, on the same rows; the truth of both is known: one half, ln 2.

    The plain fit's accuracy on its own rows is 12 standard errors above one half; the asked risk's interval, at a
    confidence of 1 - 1e-7, holds.
    """
    rng = np.random.default_rng(5)
    rows, columns, kept = 8_000, 400, 40
    X, y = rng.uniform(-1, 1, (rows, columns)), rng.integers(0, 2, rows)
    chosen = np.argsort(-np.abs(X.T @ (2 * y - 1)))[:kept]
    plain = LogisticRegression(C=1e6).fit(X[:, chosen], y)
    assert plain.score(X[:, chosen], y) > 0.5 + 8 * 0.5 / np.sqrt(rows)

    every = logistic({f"x{place}": (-1.0, 1.0) for place in range(columns)}, intercept=False)
    asks = columns + 4 * (kept + 1) + 1
    holdout = Holdout(X, y, mechanism=Gaussian(), asks=asks, confidence=1 - 1e-7, ledger=None)
    told = holdout.ask_many(gradient(every, np.zeros(columns)))
    mine = np.argsort([-abs(answer.value) for answer in told])[:kept]
    loss = logistic({f"x{place}": (-1.0, 1.0) for place in mine})
    found = minimise(holdout, loss, Ball(1.0), iterations=4)
    fresh = rng.uniform(-1, 1, (200_000, kept))
    score = found.coefficients[0] + fresh @ np.array(found.coefficients[1:])
    truth = float(np.mean((np.logaddexp(0, score) + np.logaddexp(0, -score)) / 2))  # labels are coins
    assert found.risk[1] - 1e-3 <= truth <= found.risk[2] + 1e-3
    assert truth - np.log(2) <= found.excess  # ln 2 is the best there is
