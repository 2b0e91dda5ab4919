"""Scores over a connection: predictions travel, models and rows do not, and the answer is about what was sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from tests.client.real_server import ROWS, RunningServer, make_people
from unworn import Answer, DerivedAnswer, Unaskable, connect
from unworn.client.connected_holdout import ConnectedHoldout
from unworn.client.local_predictions import predict_here

PEOPLE = make_people()
X = np.column_stack([PEOPLE["x"], PEOPLE["age"]])
TRUTH = PEOPLE["y"]


@pytest.fixture(scope="module")
def fitted() -> Any:
    rows = make_people(seed=99)
    return LogisticRegression().fit(np.column_stack([rows["x"], rows["age"]]), rows["y"])


def holdout_of(server: RunningServer) -> ConnectedHoldout:
    holdout = connect(server.holdout, server.tokens["ann"])
    assert isinstance(holdout, ConnectedHoldout)
    return holdout


def test_arrays_and_files_are_the_same_question(server: RunningServer, fitted: Any, tmp_path: Path) -> None:
    holdout = holdout_of(server)
    predictions = fitted.predict(X)
    answer = holdout.score(predictions, metric="accuracy", name="logistic")
    assert isinstance(answer, Answer)
    assert answer.low < (predictions == TRUTH).mean() < answer.high
    assert answer.practice is not None  # the guess came from the server's practice rows
    pd.DataFrame({"prediction": predictions}).to_csv(tmp_path / "p.csv", index=False)
    others = [
        holdout.score(predictions.astype(float)),
        holdout.score(predictions.tolist()),
        holdout.score(tmp_path / "p.csv", metric="accuracy"),
        holdout.score(fitted, X=X),
    ]
    assert {each.index for each in others if isinstance(each, Answer)} == {answer.index}
    estimate = holdout.practice.score(predictions)
    assert estimate.rows == 1_000
    assert estimate.value == answer.practice.value


def test_a_model_stays_here_unless_it_is_onnx(server: RunningServer, fitted: Any) -> None:
    holdout = holdout_of(server)
    asked = holdout.meter.asked
    with pytest.raises(Unaskable, match="give X="):
        holdout.score(fitted)
    with pytest.raises(Unaskable, match="it needs rows to predict on"):
        holdout.scorer("accuracy")
    with pytest.raises(Unaskable, match="is a loss"):
        holdout.scorer("log_loss", X=X)
    with pytest.raises(Unaskable, match="missing or infinite"):
        holdout.score(np.full(ROWS, np.nan), metric="mse", range=(0, 1))
    with pytest.raises(Unaskable, match="rows"):
        holdout.score(np.zeros(7, dtype=int))
    with pytest.raises(Unaskable, match="which metric"):
        holdout.score(b"prediction\n1\n")
    assert holdout.meter.asked == asked


def test_metrics_made_of_several_and_of_probabilities(server: RunningServer, fitted: Any) -> None:
    holdout = holdout_of(server)
    f1 = holdout.score(fitted, metric="f1", X=X)
    assert isinstance(f1, DerivedAnswer)
    assert f1.low < 0.7 < f1.high
    auc = holdout.score(fitted, metric="roc_auc", X=X)
    assert auc.low < 0.83 < auc.high
    loss = holdout.score(fitted, metric="neg_brier_score", X=X)
    assert -0.3 < loss.value < -0.1
    where = holdout.score(fitted, metric="accuracy", X=X, where="plan = 'basic'")
    assert where.low < 0.75 < where.high
    with pytest.raises(Unaskable, match="as SQL text"):
        holdout.score(fitted, metric="accuracy", X=X, where=object())


def test_compare_is_one_paired_question(server: RunningServer, fitted: Any) -> None:
    holdout = holdout_of(server)
    coin = np.random.default_rng(5).integers(0, 2, ROWS)
    answer = holdout.compare(fitted, coin, X=X)
    assert isinstance(answer, Answer)
    assert answer.low > 0.1
    assert answer.low < (fitted.predict(X) == TRUTH).mean() - (coin == TRUTH).mean() < answer.high


def test_a_search_is_scored_over_the_connection(server: RunningServer) -> None:
    holdout = holdout_of(server)
    own = make_people(seed=77, rows=600)
    asked = holdout.meter.asked
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 3]},
        scoring=holdout.scorer("accuracy", X=X, tags=lambda model: {"depth": model.max_depth}),
        cv=2,
    )
    search.fit(np.column_stack([own["x"], own["age"]]), own["y"])
    assert holdout.meter.asked - asked <= 4
    table = holdout.answers
    assert {1, 3} <= set(table["tags.depth"].dropna())
    assert 0.6 < search.best_score_ < 0.85


def test_how_models_predict_here() -> None:
    class Coin:
        classes_ = np.array([0, 1])

        def predict(self, rows: Any) -> Any:
            return np.zeros(len(rows), dtype=int)

        def predict_proba(self, rows: Any) -> Any:
            return np.tile([0.25, 0.75], (len(rows), 1))

    assert predict_here(Coin(), "accuracy", X[:3], {}).tolist() == [0, 0, 0]
    assert predict_here(Coin(), "roc_auc", X[:3], {}).tolist() == [0.75] * 3
    assert predict_here(Coin(), "roc_auc", X[:3], {"positive": 0}).tolist() == [0.25] * 3
    assert predict_here(Ridge().fit(X, TRUTH), "r2", X[:3], {"range": (0, 1)}).shape == (3,)
    assert predict_here(lambda rows: rows[:, 0] > 0, "accuracy", X[:3], {}).shape == (3,)


def test_an_onnx_model_is_run_by_the_server(server: RunningServer, fitted: Any, tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    from skl2onnx.common.data_types import FloatTensorType

    small = LogisticRegression().fit(make_people(seed=98)["x"].reshape(-1, 1), make_people(seed=98)["y"])
    model = skl2onnx.to_onnx(small, initial_types=[("x", FloatTensorType([None, 1]))], options={"zipmap": False})
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    answer = holdout_of(server).score(tmp_path / "model.onnx", metric="accuracy")
    assert answer.low < 0.75 < answer.high
