"""Whoever declares a range shorter than the losses is told so, once, by rows that may be seen."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from unworn import Holdout
from unworn.errors import ShortRange

RNG = np.random.default_rng(0)
LABELS = RNG.lognormal(6, 0.5, 2_000)
NEAR = LABELS + RNG.normal(0, 80, 2_000)
ROWS = {"side": RNG.choice(["left", "right"], 2_000)}


@pytest.fixture
def holdout() -> Holdout:
    return Holdout(ROWS, LABELS, practice=0.25, ledger=None)


@pytest.mark.parametrize("metric", ["rmse", "mse", "neg_root_mean_squared_error"])
def test_the_range_of_errors_is_not_that_of_their_squares(holdout: Holdout, metric: str) -> None:
    with pytest.warns(ShortRange, match=r"range=\(0, 400\) is shorter [\s\S]* squared errors") as told:
        holdout.score(NEAR, metric=metric, range=(0, 400))
    assert len(told) == 1
    holdout.score(NEAR + 1, metric=metric, range=(0, 400))  # once for each metric and range: warnings are errors here


@pytest.mark.parametrize("how", [{}, {"where": "side = 'left'"}])
def test_losses_beyond_the_range_are_told_of(holdout: Holdout, how: dict[str, Any]) -> None:
    with pytest.warns(ShortRange, match=r"is [\d.]+ within it and [\d.]+ within \(0, 200\)"):
        holdout.score(NEAR, metric="mae", range=(0, 20), **how)


def test_a_range_that_holds_the_losses_is_not(holdout: Holdout) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        holdout.score(NEAR, metric="mae", range=(0, 500))
        holdout.score(NEAR, metric="rmse", range=(0, 250_000))
        holdout.score(NEAR, metric="mape", range=(0, 2))


def test_train_shows_it_for_models_and_sealed_rows_for_nobody() -> None:
    def usual(columns: Any) -> Any:
        return np.full(len(columns["side"]), 400.0)

    train = ({"side": ROWS["side"][:500]}, RNG.lognormal(6, 0.5, 500))
    with pytest.warns(ShortRange):
        Holdout(ROWS, LABELS, train=train, ledger=None).score(usual, metric="mae", range=(0, 20))
    sealed = Holdout(ROWS, LABELS, practice=0, ledger=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sealed.score(NEAR, metric="mae", range=(0, 20), guess=19)
