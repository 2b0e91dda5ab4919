"""The scorer inside the real scikit-learn: searches, workers, exhaustion."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from unworn import Holdout
from unworn.errors import Exhausted, LedgerError, Unaskable
from unworn.holdout.scorer import Scorer, Spent
from unworn.holdout.workers.remote_holdout import RemoteHoldout
from unworn.mechanisms import PairedLadder, Rounding
from unworn.mechanisms.contract.record import Record

Data = tuple[np.ndarray, np.ndarray]
GRID = {"C": [0.01, 1.0]}
FOLDS = KFold(3)


def draw(rows: int, seed: int) -> Data:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, (X[:, 0] + rng.normal(size=rows) > 0).astype(int)


TRAIN, HOLD = draw(240, 1), draw(1_500, 2)


def frame(data: Data) -> pd.DataFrame:
    return pd.DataFrame(data[0], columns=["a", "b", "c"])


def records(holdout: Holdout) -> list[Record]:
    holdout.verify()
    return [Record.from_body(entry.body) for entry in holdout._desk.store.read(holdout.id)[1:]]


def opened(kind: str, folder: Path, **terms: Any) -> Holdout:
    """The same rows: in memory with a ledger in memory or in a file, or both by path."""
    if kind == "memory":
        return Holdout(*HOLD, **{"ledger": None, **terms}, practice=0)
    if kind == "sqlite":
        return Holdout(*HOLD, ledger=folder / "ledger.db", **terms, practice=0)
    path = folder / "rows.parquet"
    if not path.exists():
        pl.DataFrame({"a": HOLD[0][:, 0], "b": HOLD[0][:, 1], "c": HOLD[0][:, 2], "label": HOLD[1]}).write_parquet(path)
    return Holdout(path, "label", ledger=folder / "ledger.db", **terms, practice=0)


KINDS = ["memory", "sqlite", "path"]


@pytest.fixture(params=KINDS)
def holdout(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Holdout]:
    made = opened(request.param, tmp_path)
    yield made
    made.close()


class Plain(ClassifierMixin, BaseEstimator):
    """A classifier that takes a frame of any library: the holdout's rows and the folds may come in two."""

    def __init__(self, cut: float = 0.0) -> None:
        self.cut = cut

    def fit(self, X: Any, y: Any) -> Plain:
        self.classes_ = np.unique(y)
        self.seen_ = float(np.asarray(X)[:, 0].sum())  # two folds make two models
        return self

    def predict(self, X: Any) -> Any:
        first = X["a"] if hasattr(X, "columns") or hasattr(X, "column_names") else X[:, 0]
        return (np.asarray(first) > self.cut).astype(int)


def search(holdout: Holdout, **options: Any) -> GridSearchCV:
    settings: dict[str, Any] = {"cv": FOLDS, "refit": False} | options
    return GridSearchCV(Plain(), {"cut": [-0.5, 0.0, 0.5]}, scoring=holdout.scorer("accuracy"), **settings)


# ---------------------------------------------------------------- the fold guesses


def test_the_folds_score_and_its_standard_error_are_the_guess() -> None:
    X, y = TRAIN
    holdout = Holdout(*HOLD, ledger=None, practice=0)
    found = GridSearchCV(LogisticRegression(), GRID, scoring=holdout.scorer("accuracy"), cv=FOLDS).fit(X, y)
    expected = []
    for C in GRID["C"]:
        for fit, test in FOLDS.split(X):
            score = LogisticRegression(C=C).fit(X[fit], y[fit]).score(X[test], y[test])
            expected.append((score, math.sqrt(score * (1 - score) / len(test))))
    told = records(holdout)
    assert [record.guess is not None and record.guess.value for record in told] == pytest.approx(
        [score for score, _ in expected]
    )
    assert [record.guess is not None and record.guess.error for record in told] == pytest.approx(
        [error for _, error in expected]
    )
    assert {record.label for record in told} == {"accuracy of LogisticRegression"}
    shown = np.array([record.published.value for record in told]).reshape(2, 3).mean(axis=1)
    assert found.cv_results_["mean_test_score"] == pytest.approx(shown)
    assert {record.published.source for record in told} == {"guess"}  # honest folds agree
    assert 0 <= found.best_score_ <= 1
    assert hasattr(found, "best_estimator_")


@pytest.mark.parametrize("jobs", [None, 2])
def test_training_scores_ask_nothing(jobs: int | None) -> None:
    X, y = TRAIN
    holdout = Holdout(*HOLD, ledger=None, practice=0)
    scored = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [2, None]},
        scoring=holdout.scorer("accuracy"),
        cv=FOLDS,
        return_train_score=True,
        n_jobs=jobs,
    ).fit(X, y)
    told = records(holdout)
    assert len(told) == 6
    # The full-depth tree scores 1.0 on its own training rows, which must not be a guess.
    assert all(record.guess is not None and record.guess.value < 1.0 for record in told)
    assert scored.cv_results_["mean_train_score"] == pytest.approx(scored.cv_results_["mean_test_score"])
    holdout.close()


def test_losses_come_back_negative_and_regressors_work() -> None:
    X, _ = TRAIN
    y = X[:, 0] * 2 + 1
    rows = HOLD[0], HOLD[0][:, 0] * 2 + 1 + np.random.default_rng(3).normal(size=len(HOLD[0]))
    holdout = Holdout(*rows, ledger=None, practice=0)
    found = GridSearchCV(
        Ridge(), {"alpha": [0.1, 1e5]}, scoring=holdout.scorer("neg_mean_absolute_error", range=(0, 10)), cv=FOLDS
    ).fit(X, y)
    assert (found.cv_results_["mean_test_score"] < 0).all()
    assert found.best_params_ == {"alpha": 0.1}
    told = records(holdout)
    assert len(told) == 6
    assert all(record.published.value >= 0 for record in told)
    assert {(record.facts.low, record.facts.high) for record in told} == {(0.0, 10.0)}


def test_probability_losses() -> None:
    holdout = Holdout(*HOLD, ledger=None, practice=0)
    scores = cross_val_score(LogisticRegression(), *TRAIN, scoring=holdout.scorer("neg_log_loss"), cv=FOLDS)
    assert (scores < 0).all()
    scores = cross_val_score(LogisticRegression(), *TRAIN, scoring=holdout.scorer("neg_brier_score"), cv=FOLDS)
    assert (scores < 0).all()
    assert [record.published.source for record in records(holdout)] == ["guess"] * 6


def test_balanced_accuracy_takes_classes_from_train_and_shares_from_nobody() -> None:
    holdout = Holdout(*HOLD, train=TRAIN, ledger=None)
    scores = cross_val_score(LogisticRegression(), *TRAIN, scoring=holdout.scorer("balanced_accuracy"), cv=FOLDS)
    assert scores.shape == (3,)
    assert len(records(holdout)) == 6
    recalls = Holdout(*HOLD, ledger=None, practice=0)  # without shares it is the average of recalls
    scores = cross_val_score(
        LogisticRegression(), *TRAIN, scoring=recalls.scorer("balanced_accuracy", classes=[0, 1]), cv=FOLDS
    )
    assert scores.shape == (3,)
    assert {record.facts.kind for record in records(recalls)} == {"conditional"}


@pytest.mark.parametrize(
    ("metric", "options"), [("average_precision", {}), ("r2", {}), ("mae", {}), ("top_k", {}), ("acuracy", {})]
)
def test_what_cannot_be_asked_is_refused_before_any_fit(metric: str, options: dict[str, Any]) -> None:
    holdout = Holdout(*HOLD, ledger=None, practice=0)
    with pytest.raises(Unaskable):
        holdout.scorer(metric, **options)
    assert holdout.meter.asked == 0


@pytest.mark.parametrize("metric", ["f1", "roc_auc", "precision", "recall"])
def test_metrics_of_some_of_the_rows_score_a_search(metric: str) -> None:
    holdout = Holdout(*HOLD, train=TRAIN, ledger=None)
    scores = cross_val_score(LogisticRegression(), *TRAIN, scoring=holdout.scorer(metric), cv=FOLDS)
    assert scores.shape == (3,)
    assert [record.published.source for record in records(holdout)] == ["guess"] * 3
    assert Holdout(*HOLD, mechanism=Rounding(), ledger=None).scorer(metric) is not None
    with pytest.raises(Unaskable, match="PairedLadder cannot answer"):
        Holdout(*HOLD, mechanism=PairedLadder(), ledger=None).scorer(metric)


def test_rows_without_labels_have_no_scorer() -> None:
    with pytest.raises(Unaskable, match="give y="):
        Holdout(HOLD[0], ledger=None).scorer("accuracy")


def test_a_pipeline_on_pandas_folds() -> None:
    holdout = Holdout(frame(HOLD), pd.Series(HOLD[1], name="label"), ledger=None, practice=0)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 1.0]}
    found = GridSearchCV(model, grid, scoring=holdout.scorer("accuracy"), cv=FOLDS)
    found.fit(frame(TRAIN), pd.Series(TRAIN[1], name="label"))
    assert [record.published.source for record in records(holdout)] == ["guess"] * 6


def test_text_labels() -> None:
    names = np.array(["no", "yes"])
    holdout = Holdout(HOLD[0], names[HOLD[1]], ledger=None, practice=0)
    scores = cross_val_score(
        LogisticRegression(), TRAIN[0], names[TRAIN[1]], scoring=holdout.scorer("accuracy"), cv=FOLDS
    )
    assert (scores > 0.6).all()


def test_an_estimator_that_fails_on_the_fold_never_sees_the_rows() -> None:
    holdout = Holdout(*HOLD, ledger=None, practice=0)
    model = LogisticRegression().fit(*TRAIN)
    with pytest.raises(Unaskable, match="2 features, but LogisticRegression is expecting 3"):
        holdout.scorer("accuracy")(model, TRAIN[0][:, :2], TRAIN[1])
    assert holdout.meter.asked == 0


def test_a_fold_without_labels_leaves_the_guess_out() -> None:
    holdout = Holdout(*HOLD, practice=0)
    score = holdout.scorer("accuracy")
    assert score(LogisticRegression().fit(*TRAIN), TRAIN[0]) == pytest.approx(0.75, abs=0.1)
    assert score(LogisticRegression(C=2).fit(*TRAIN), TRAIN[0]) == pytest.approx(0.75, abs=0.1)
    for record in records(holdout):  # the answer before is no guess either
        assert record.guess is None
        assert record.published.source == "grid"


def test_a_sparse_fold_is_shown_to_the_estimator_as_it_is() -> None:
    from scipy.sparse import csr_matrix

    holdout = Holdout(*HOLD, ledger=None, practice=0)
    model = LogisticRegression().fit(csr_matrix(TRAIN[0]), TRAIN[1])
    guess = holdout.fold_guess(model, csr_matrix(TRAIN[0]), TRAIN[1], "accuracy", {})
    assert guess is not None
    assert guess[0] == pytest.approx(model.score(*TRAIN))


# ---------------------------------------------------------------- copies and workers


def test_copies_are_the_same_holdout(holdout: Holdout) -> None:
    scorer = holdout.scorer("accuracy")
    assert copy.copy(holdout) is holdout
    assert copy.deepcopy(holdout) is holdout
    assert pickle.loads(pickle.dumps(holdout)) is holdout
    assert copy.deepcopy(scorer).holdout is holdout
    assert clone(search(holdout)).scoring.holdout is holdout
    assert clone(holdout, safe=False) is holdout


def test_a_second_opening_does_not_take_the_place_of_the_first(tmp_path: Path) -> None:
    first = opened("sqlite", tmp_path)
    second = opened("sqlite", tmp_path, max_width=0.4)
    assert pickle.loads(pickle.dumps(first)) is first
    assert pickle.loads(pickle.dumps(second)) is second
    second.close()
    del second
    assert pickle.loads(pickle.dumps(first)) is first
    first.close()


def test_a_pickle_holds_no_rows_and_no_key(holdout: Holdout) -> None:
    data = pickle.dumps(holdout.scorer("accuracy"))
    assert len(data) < 2_000
    assert not any(value.tobytes() in data for value in HOLD[0].ravel())
    assert not any(repr(float(value)).encode() in data for value in HOLD[0].ravel()[:200])
    key = holdout._desk.key
    assert key is not None
    assert bytes.fromhex(key.hex()) not in data
    assert key.hex().encode() not in data


def test_workers_share_one_ledger(holdout: Holdout) -> None:
    found = (
        search(holdout, n_jobs=2).fit(frame(TRAIN), TRAIN[1]) if holdout.path else search(holdout, n_jobs=2).fit(*TRAIN)
    )
    told = records(holdout)
    assert len(told) == 9 == holdout.meter.asked
    assert len({record.fingerprint for record in told}) == 9
    assert all(record.guess is not None and record.guess.error is not None for record in told)
    answers = np.array(sorted(record.published.value for record in told))
    split = np.array(sorted(found.cv_results_[f"split{fold}_test_score"][i] for fold in range(3) for i in range(3)))
    assert split == pytest.approx(answers)
    search(holdout, n_jobs=2).fit(frame(TRAIN), TRAIN[1])  # again: other processes, the same questions
    assert holdout.meter.asked == 9


def test_a_worker_gets_its_own_kind_of_holdout(holdout: Holdout) -> None:
    """Unpickled by another process: rows by path are opened again, rows in memory are asked over loopback."""
    from joblib import Parallel, delayed

    kinds = Parallel(n_jobs=2)(delayed(kind_and_size)(holdout) for _ in range(3))
    assert set(kinds) == ({"Holdout"} if holdout.path else {"RemoteHoldout"})


def kind_and_size(holdout: Any) -> str:
    return type(holdout).__name__


# ---------------------------------------------------------------- exhaustion

# A search that fails takes its workers with it, and starting others takes seconds: most of these are slow.
SEARCHES = [
    (np.nan, None),
    (0, None),
    ("raise", None),
    (np.nan, 2),
    pytest.param(0, 2, marks=pytest.mark.slow),
    pytest.param("raise", 2, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("error_score", "jobs"), SEARCHES)
def test_exhaustion_stops_the_search(error_score: Any, jobs: int | None) -> None:
    holdout = Holdout(*HOLD, asks=3, ledger=None, practice=0)
    with pytest.raises(Exhausted, match="all 3 planned asks are spent") as caught:
        search(holdout, error_score=error_score, n_jobs=jobs).fit(*TRAIN)
    assert caught.value.numbers["planned"] == 3
    assert len(records(holdout)) == 3
    holdout.close()


@pytest.mark.parametrize(("error_score", "jobs"), SEARCHES)
def test_exhaustion_stops_a_search_by_several_metrics(error_score: Any, jobs: int | None) -> None:
    holdout = Holdout(*HOLD, asks=3, ledger=None, practice=0)
    scoring = {"accuracy": holdout.scorer("accuracy"), "brier": holdout.scorer("neg_brier_score")}
    found = GridSearchCV(
        LogisticRegression(), GRID, scoring=scoring, refit=False, cv=FOLDS, error_score=error_score, n_jobs=jobs
    )
    with pytest.raises(Exhausted):
        found.fit(*TRAIN)
    assert len(records(holdout)) == 3
    holdout.close()


@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_exhaustion_stops_everything_else(error_score: Any) -> None:
    holdout = Holdout(*HOLD, asks=3, ledger=None, practice=0)
    score = holdout.scorer("accuracy")
    with pytest.raises(Exhausted):
        cross_val_score(LogisticRegression(), *TRAIN, scoring=score, cv=5, error_score=error_score)
    with pytest.raises(Exhausted):
        RandomizedSearchCV(
            Plain(),
            {"cut": [-1.0, 1.0, 2.0]},
            n_iter=2,
            scoring=score,
            cv=FOLDS,
            random_state=0,
            error_score=error_score,
        ).fit(*TRAIN)
    # Inside another search it is the fit that fails: scikit-learn's own error then quotes ours.
    with pytest.raises(Exhausted if error_score == "raise" else ValueError, match="all 3 planned asks are spent"):
        cross_validate(search(holdout, error_score=error_score), *TRAIN, scoring=score, cv=2, error_score=error_score)
    assert holdout.meter.asked == 3


def test_max_width_stops_the_search_too() -> None:
    holdout = Holdout(*HOLD, max_width=0.001, ledger=None, practice=0)
    with pytest.raises(Exhausted, match="wider than max_width"):
        search(holdout).fit(*TRAIN)
    assert records(holdout) == []


def test_a_broken_ledger_stops_the_search(tmp_path: Path) -> None:
    holdout = opened("sqlite", tmp_path)
    holdout._desk.store.close()
    with pytest.raises(LedgerError, match="was closed"):
        search(holdout).fit(*TRAIN)


def test_spent_is_no_number() -> None:
    spent = Spent(Exhausted("no asks left.\n  More.", asked=3))
    with pytest.raises(Exhausted, match="no asks left"):
        float(spent)
    with pytest.raises(Exhausted):
        spent.item()
    assert repr(spent) == "Spent('no asks left.')"
    assert isinstance(pickle.loads(pickle.dumps(spent)).refusal, Exhausted)


# ---------------------------------------------------------------- searches in searches


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_search_inside_cross_validate(jobs: int | None) -> None:
    holdout = Holdout(*HOLD, ledger=None, practice=0)
    inner = GridSearchCV(Plain(), {"cut": [0.0, 0.5]}, scoring=holdout.scorer("accuracy"), cv=2)
    outer = cross_validate(inner, *TRAIN, scoring=holdout.scorer("accuracy"), cv=2, n_jobs=jobs)
    assert outer["test_score"].shape == (2,)
    told = records(holdout)
    assert len(told) == 10  # 2 outer × (2 candidates × 2 folds + 1 for the refitted search itself)
    holdout.close()


def test_randomized_search() -> None:
    holdout = Holdout(*HOLD, ledger=None, practice=0)
    found = RandomizedSearchCV(
        Plain(), {"cut": np.linspace(-1, 1, 9)}, n_iter=4, scoring=holdout.scorer("accuracy"), cv=FOLDS, random_state=0
    ).fit(*TRAIN)
    assert found.best_score_ == pytest.approx(max(found.cv_results_["mean_test_score"]))
    assert len(records(holdout)) == 12


def test_the_scorer_shows_what_it_is() -> None:
    holdout = Holdout(*HOLD, name="churn", ledger=None, practice=0)
    assert repr(holdout.scorer("neg_mae", range=(0, 1))) == (
        "Holdout(churn · 1 500 rows · asked 0 · surprises 0 · 95 %).scorer('neg_mae')"
    )
    assert isinstance(holdout.scorer(), Scorer)
    assert repr(RemoteHoldout(("127.0.0.1", 1, b"secret"))) == "RemoteHoldout()"


def test_a_loss_is_as_narrow_in_a_search_as_by_itself() -> None:
    """The fold's guess has the error of the losses on it, not that of values anywhere in the declared range."""
    X, y = draw(3_000, 5)
    holdout = Holdout(X, y, ledger=None, practice=0.25)
    model = LogisticRegression().fit(*TRAIN)
    alone = holdout.score(model, metric="neg_log_loss", range=(0, 7))
    holdout.scorer("neg_log_loss", range=(0, 7))(LogisticRegression().fit(*draw(240, 3)), *draw(600, 4))
    searched = records(holdout)[-1]
    assert searched.published.source == "guess"
    assert (searched.published.high - searched.published.low) / 2 < 1.3 * alone.width
