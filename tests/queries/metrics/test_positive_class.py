"""One class against the rest: which one, where there are two; and a refusal where there are more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn.metrics as theirs
from sklearn.linear_model import LogisticRegression

from unworn import Holdout, col
from unworn.errors import Unaskable
from unworn.queries.metrics.metric_catalogue import metric
from unworn.queries.metrics.positive_class import INSTEAD, positive_class
from unworn.queries.predictions import FromModel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 2))
THREE = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=600), [-0.5, 0.5])
MODEL = LogisticRegression().fit(X, THREE)
LABELLED = sorted(INSTEAD.keys() - {"roc_auc", "brier"})


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_a_model_of_three_classes_is_asked_about_one_only_by_name(name: str) -> None:
    with pytest.raises(Unaskable, match=rf"{name} is about one class .* positive=, or ask {INSTEAD[name]}"):
        metric(name, MODEL)
    metric(name, MODEL, positive=2)
    metric(INSTEAD[name], MODEL)


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize(
    "said", [THREE, THREE.astype(float), np.array(["a", "b", "c"])[THREE]], ids=["int", "float", "text"]
)
def test_so_is_an_array_of_three(name: str, said: Any) -> None:
    with pytest.raises(Unaskable, match="more than two"):
        metric(name, said)
    metric(name, said, positive=said[0])
    metric(name, np.where(THREE == 2, 1, -300))  # two, however far apart
    with pytest.raises(Unaskable, match="name two others"):
        metric(name, np.where(THREE == 2, 300, -300))


def test_scores_of_three_classes_have_their_own_metric() -> None:
    with pytest.raises(Unaskable, match="roc_auc_ovr"):
        metric("roc_auc", MODEL.predict_proba(X))
    metric("roc_auc", RNG.random(600))
    metric("roc_auc", RNG.integers(0, 9, 600))  # scores, not classes


@pytest.mark.parametrize("name", sorted(INSTEAD))
@pytest.mark.parametrize("seen", ["train", "practice"])
def test_rows_that_may_be_seen_tell_how_many_there_are(name: str, seen: str) -> None:
    given: dict[str, Any] = {"train": (X[:300], THREE[:300])} if seen == "train" else {"practice": 0.5}
    holdout = Holdout(X[300:], THREE[300:], ledger=None, **given)
    spent = holdout.meter.spent
    with pytest.raises(Unaskable, match="there are 3"):
        holdout.score(RNG.integers(0, 2, 300), metric=name)
    assert holdout.meter.spent == spent
    holdout.score(RNG.integers(0, 2, 300), metric=name, positive=1)


@pytest.mark.parametrize(("classes", "expected"), [((0, 1), 1), ((1, 2), 1), ((-1, 1), 1), (("no", "yes"), "yes")])
def test_the_class_is_the_one_that_scikit_learn_takes(classes: tuple[Any, Any], expected: Any) -> None:
    y = np.array(classes)[(X[:, 0] > 0).astype(int)]
    model = LogisticRegression().fit(X, y)
    assert positive_class("recall", FromModel(model), None) == expected


def test_a_brier_score_of_two_classes_does_not_depend_on_which() -> None:
    y = np.array([1, 2])[(X[:, 0] + RNG.normal(size=600) > 0).astype(int)]
    model = LogisticRegression().fit(X, y)
    holdout = Holdout(X, y, ledger=None, practice=0)
    told = [holdout.final(metric("brier", model, positive=each), close=False) for each in (1, 2)]
    expected = theirs.brier_score_loss(y, model.predict_proba(X)[:, 1], pos_label=2)
    for answer in told:
        assert answer.value == pytest.approx(expected, abs=0.01)


def test_a_subgroup_has_no_declared_shares() -> None:
    with pytest.raises(Unaskable, match=r"with where= give classes= instead"):
        metric("balanced_accuracy", THREE, shares={0: 0.3, 1: 0.4, 2: 0.3}, where=col("x0") > 0)
    metric("balanced_accuracy", THREE, classes=[0, 1, 2], where=col("x0") > 0)
