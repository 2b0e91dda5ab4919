"""A search of 200 scikit-learn models through ``Holdout``, with practice rows, and the final number of the best."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from table import Row, compared
from unworn import Holdout
from unworn.bounds import clopper_pearson
from unworn.ledger.seeded_keys import SeededStore

MODELS, FEATURES, PRACTICE = 200, 20, 0.25
GOALS = {5_000: 0.015, 20_000: 0.008}


def searches() -> list[Row]:
    """Half-widths of the last word, beside those of a test set of as many sealed rows that nobody had touched."""
    return [row for rows in GOALS for row in _search(rows)]


def _search(rows: int, seed: int = 11) -> list[Row]:
    rng = np.random.default_rng([seed, rows])
    weights = rng.normal(size=FEATURES) / math.sqrt(FEATURES)

    def drawn(size: int) -> tuple[Any, Any]:
        X = rng.normal(size=(size, FEATURES))
        return X, (X @ weights + 0.5 * rng.normal(size=size) > 0).astype(int)

    (X, y), sealed, (fresh, truth) = drawn(2_000), drawn(rows), drawn(200_000)
    store: Any = SeededStore(np.random.default_rng(rows))  # its key says which rows are for practice
    holdout = Holdout(*sealed, practice=PRACTICE, ledger=store)
    columns, best, models = np.ones(FEATURES, dtype=bool), None, {}
    for _ in range(MODELS):
        # Each model differs from the best so far, by what was told of it, in a few columns: as adaptive as it gets.
        tried = columns ^ (rng.random(FEATURES) < 0.15)
        model = LogisticRegression(C=float(10 ** rng.uniform(-3, 1))).fit(X * tried, y)
        model.coef_ = model.coef_ * tried
        answer = holdout.score(model)
        models[answer.index] = model
        if best is None or answer.value > best.value:
            best, columns = answer, tried
    assert best is not None
    surprises, told = holdout.meter.surprises, holdout.final(best)
    true = float(np.mean(models[best.index].predict(fresh) == truth))
    low, high = clopper_pearson(round(told.value * holdout.size), holdout.size, math.log(0.05))
    what = f"{MODELS} models on {rows:,} rows"
    return [
        compared(f"final after {what}, goal", told.width, GOALS[rows], 1.0),
        compared(f"final after {what}, untouched test set of the sealed rows", told.width, (high - low) / 2),
        Row(f"surprises, {what}", surprises, None, None, 1, surprises <= 1),
        compared(f"distance of the final number from the truth, {what}", abs(told.value - true), told.width, 1.0),
    ]
