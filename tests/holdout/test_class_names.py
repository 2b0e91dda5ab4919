"""A metric is never about a class that nobody named, where rows that may be seen show that there is no such class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics

from unworn import Holdout, Unaskable

ROWS = 800


def opened(classes: tuple[Any, ...], seed: int = 0) -> tuple[Holdout, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows of these classes, a quarter of them for practice; their labels, and a score of the last class for each."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, len(classes), ROWS)
    labels = np.array([classes[each] for each in place])
    scores = np.clip(0.5 * (place == len(classes) - 1) + 0.5 * rng.random(ROWS), 0.01, 0.99)
    return Holdout(None, labels, practice=0.25, ledger=None), labels, scores


@pytest.mark.parametrize("metric", ["roc_auc", "brier", "log_loss", "neg_brier_score", "neg_log_loss"])
@pytest.mark.parametrize("classes", [(1, 2), (2, 5), ("no", "yes"), (0, 1, 2)])
def test_a_score_per_row_of_other_classes_than_1_against_less_is_refused(metric: str, classes: tuple[Any, ...]) -> None:
    holdout, _, scores = opened(classes)
    with pytest.raises(Unaskable, match="positive="):
        holdout.score(scores, metric=metric)
    with pytest.raises(Unaskable, match="positive="):
        holdout.compare(scores, scores[::-1], metric=metric)
    assert holdout.meter.asked == 0


@pytest.mark.parametrize("classes", [(0, 1), (-1, 1), (False, True)])
def test_what_the_default_means_agrees_with_scikit_learn(classes: tuple[Any, ...]) -> None:
    holdout, labels, scores = opened(classes)
    assert holdout.score(scores, metric="roc_auc").low <= sklearn.metrics.roc_auc_score(labels, scores)
    assert holdout.practice.score(scores, metric="roc_auc").value > 0.9


def test_the_class_that_is_named_is_the_one_that_is_asked() -> None:
    holdout, labels, scores = opened((1, 2))
    truth = sklearn.metrics.roc_auc_score(labels, scores)
    told = holdout.score(scores, metric="roc_auc", positive=2)
    assert told.low <= truth <= told.high
    assert holdout.score(1 - scores, metric="roc_auc", positive=1).low > 0.5


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "jaccard", "matthews_corrcoef", "cohen_kappa"])
def test_predictions_of_two_classes_without_a_1_must_say_which(metric: str) -> None:
    holdout, labels, _ = opened((2, 5))
    sealed = Holdout(None, labels, practice=0, ledger=None)
    for rows in (holdout, sealed):  # the asker's own array shows it, whether or not there are rows to be seen
        with pytest.raises(Unaskable, match="positive="):
            rows.score(labels, metric=metric)
        assert rows.score(labels, metric=metric, positive=5).high == 1
    first, labels, _ = opened((1, 2))
    assert first.score(labels, metric="recall").high == 1  # as scikit-learn, labels are about 1 where there is one


@pytest.mark.parametrize("metric", ["log_loss", "top_k_accuracy"])
@pytest.mark.parametrize("classes", [(1, 2), (-1, 1), (1, 2, 3), ("a", "b")])
def test_columns_of_other_classes_than_0_1_2_must_be_named(metric: str, classes: tuple[Any, ...]) -> None:
    holdout, _, scores = opened(classes)
    columns = np.column_stack([(1 - scores) / (len(classes) - 1)] * (len(classes) - 1) + [scores])
    how = {"k": 1} if metric == "top_k_accuracy" else {}
    with pytest.raises(Unaskable, match="classes="):
        holdout.score(columns, metric=metric, **how)
    holdout.score(columns, metric=metric, classes=list(classes), **how)
    assert holdout.meter.asked == 1


def test_a_class_that_visible_rows_lack_is_no_mistake() -> None:
    labels = np.zeros(ROWS, dtype=int)
    labels[:3] = 1
    rare = Holdout(None, labels, train=(None, np.zeros(500, dtype=int)), ledger=None)
    rng = np.random.default_rng(1)
    rare.score(rng.random(ROWS), metric="roc_auc")
    rare.score(labels, metric="f1_macro", classes=[0, 1, 2])
    assert rare.meter.asked > 0
