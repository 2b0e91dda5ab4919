"""Rows, labels and groups whose indexes are in different orders are refused before anything is sealed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unworn import Holdout
from unworn.errors import Unaskable

ROWS = 300
X = pd.DataFrame({"a": np.linspace(0, 1, ROWS), "b": np.arange(ROWS) % 5}, index=np.arange(ROWS) + 1_000)
Y = pd.Series(np.arange(ROWS) % 2, index=X.index, name="label")
DEFAULT = X.reset_index(drop=True)
SHUFFLED = np.random.default_rng(1).permutation(ROWS)


def opened(data: Any, y: Any = None, **more: Any) -> Holdout:
    return Holdout(data, y, practice=0, ledger=None, **more)


@pytest.mark.parametrize(
    ("data", "y"),
    [
        (X, Y.iloc[SHUFFLED]),
        (X.iloc[SHUFFLED], Y),
        (X, Y.set_axis(np.arange(ROWS) + 5_000)),
        (DEFAULT, Y.set_axis(SHUFFLED)),
        (DEFAULT.iloc[SHUFFLED], Y.reset_index(drop=True)),
        (X, Y.iloc[::-1].to_frame()),
        (X.set_axis(pd.date_range("2024-01-01", periods=ROWS)), Y.set_axis([f"id{place}" for place in range(ROWS)])),
        ({"a": X["a"], "b": X["b"].iloc[SHUFFLED]}, Y),
    ],
)
def test_other_orders_are_refused(data: Any, y: Any) -> None:
    with pytest.raises(Unaskable, match="different indexes"):
        opened(data, y)
    with pytest.raises(Unaskable, match="different indexes"):
        opened(X, Y, train=(data, y))


def test_groups_have_the_order_too() -> None:
    with pytest.raises(Unaskable, match="the data and groups come with different indexes"):
        opened(X, Y, groups=pd.Series(SHUFFLED % 50, index=X.index[SHUFFLED], name="team"))
    opened(X, Y, groups=pd.Series(SHUFFLED % 50, index=X.index, name="team")).close()


@pytest.mark.parametrize(
    ("data", "y"),
    [
        (X, Y),
        (X.iloc[SHUFFLED], Y.iloc[SHUFFLED]),
        (X, Y.iloc[SHUFFLED].to_numpy()),
        (X, Y.iloc[SHUFFLED].reset_index(drop=True)),  # scaled rows and their labels come so: nothing contradicts
        (DEFAULT, Y),
        (X.to_numpy(), Y.iloc[SHUFFLED]),
        (pl.DataFrame({"a": X["a"].to_numpy()}), Y.iloc[SHUFFLED]),
        ({"a": X["a"], "b": X["b"].to_list()}, Y),
        (X.assign(label=Y), "label"),
        (X, Y.astype("category")),
        (None, Y.iloc[SHUFFLED]),
        (DEFAULT.set_axis(["a", 1, *range(2, ROWS)]), Y.set_axis(np.arange(ROWS))),  # no order among these
    ],
)
def test_what_does_not_contradict_is_read(data: Any, y: Any) -> None:
    opened(data, y).close()
