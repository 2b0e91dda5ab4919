"""Library code that was replaced while the program runs is other code, though its package has the version it had.

And a model that was saved and loaded is the same model: it gets its recorded answer.
"""

from __future__ import annotations

import builtins
import functools
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.special
from scipy import special
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unworn import Holdout, function
from unworn.queries.code.code_digest import digest_code

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(400, 3)), RNG.integers(0, 2, 400)


def by_chain(columns: Any) -> Any:
    return scipy.special.expit(columns["x0"]) > 0.5


def by_module(columns: Any) -> Any:
    return special.expit(columns["x0"]) > 0.5


def by_import(columns: Any) -> Any:
    from scipy.special import expit

    return expit(columns["x0"]) > 0.5


def nothing(values: Any) -> Any:
    return values * 0


class Nothing:
    def __call__(self, values: Any) -> Any:
        return values * 0


REPLACEMENTS: dict[str, Any] = {
    "a function": nothing,
    "a partial": functools.partial(nothing),
    "an object": Nothing(),
    "a class": Nothing,
    "a wrapper": functools.lru_cache(nothing),
}


@pytest.mark.parametrize("what", REPLACEMENTS)
@pytest.mark.parametrize("ask", [by_chain, by_module, by_import])
def test_a_patched_library_function_is_another_question(ask: Any, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = function(ask, binary=True).fingerprint
    monkeypatch.setattr(scipy.special, "expit", REPLACEMENTS[what])
    assert function(ask, binary=True).fingerprint != before
    monkeypatch.undo()
    assert function(ask, binary=True).fingerprint == before


def ones(self: Any, X: Any) -> Any:
    return np.ones(len(X))


class Ones:
    def __get__(self, model: Any, owner: type) -> Any:
        return functools.partial(ones, model)


@pytest.mark.parametrize("method", [functools.partialmethod(ones), Ones(), functools.cached_property(ones)])
def test_a_patched_library_class_is_another_question(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = LogisticRegression().fit(X, Y)
    before = digest_code(model)
    monkeypatch.setattr(LogisticRegression, "predict", method)
    assert digest_code(model) != before


def by_builtin(columns: Any) -> Any:
    return np.array([abs(value) for value in columns["x0"]]) > 0.5


def test_a_replaced_builtin_is_another_question(monkeypatch: pytest.MonkeyPatch) -> None:
    before = function(by_builtin, binary=True).fingerprint
    monkeypatch.setattr(builtins, "abs", nothing)
    assert function(by_builtin, binary=True).fingerprint != before


def test_an_answer_does_not_outlive_the_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    holdout = Holdout(X, Y, ledger=None)
    first = holdout.ask(function(by_chain, binary=True), 0.5)
    assert holdout.ask(function(by_chain, binary=True), 0.1) == first
    monkeypatch.setattr(scipy.special, "expit", nothing)
    second = holdout.ask(function(by_chain, binary=True), 0.0)
    assert second.index == 2
    assert second.low == 0.0


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=3),
        KNeighborsClassifier(),
        RandomForestClassifier(3),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_model_that_was_saved_and_loaded_is_the_same(model: Any) -> None:
    fitted = model.fit(X, np.where(Y, "yes", "no"))
    assert digest_code(pickle.loads(pickle.dumps(fitted))) == digest_code(fitted)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_a_tree_that_counts_its_calls_stays_the_same_model(algorithm: str) -> None:
    """The counters depend on the rows it was shown, and what a question is known by must not."""
    model, other = (KNeighborsClassifier(algorithm=algorithm).fit(X[part:], Y[part:]) for part in (0, 1))
    before = digest_code(model)
    model.predict(X)
    assert digest_code(model) == before
    assert digest_code(other) != before


def test_a_set_of_pairs_is_the_same_in_every_process() -> None:
    script = (
        "from unworn.queries.code.code_digest import digest_code as d; print(d({(a, b) for a in 'xyz' for b in 'uvw'}))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(told) == 1
    assert digest_code({(1, "a")}) != digest_code({(1, "b")})
