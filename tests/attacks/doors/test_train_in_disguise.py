"""The holdout's rows in ``train`` by other types or names: a reload as ``float32``, a frame handed over as a matrix.

What makes them dangerous is that models still run on them: the guess is then the value on the holdout itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unworn import Holdout
from unworn.errors import Unaskable

ROWS = 1_000
RNG = np.random.default_rng(4)
FRAME = pd.DataFrame(RNG.normal(size=(2 * ROWS, 3)), columns=["a", "b", "c"])
LABELS = pd.Series(RNG.integers(0, 2, 2 * ROWS), name="churned")
ORDER = RNG.permutation(ROWS)

DISGUISES: dict[str, Callable[[pd.DataFrame, pd.Series], Any]] = {
    "float32": lambda X, y: (X.astype("float32"), y),
    "a matrix": lambda X, y: (X.to_numpy(), y.to_numpy()),
    "a float32 matrix": lambda X, y: (X.to_numpy(np.float32), y.to_numpy(np.int8)),
    "other names": lambda X, y: (X.rename(columns=str.upper), y.rename("left")),
    "a dict without labels": lambda X, y: {name: X[name].to_numpy(np.float32) for name in X},
}


@pytest.mark.parametrize("how", DISGUISES)
def test_shared_rows_are_refused_in_any_disguise(how: str) -> None:
    X, y = FRAME[:ROWS], LABELS[:ROWS]
    with pytest.raises(Unaskable, match="1,000 of 1,000 rows are in both"):
        Holdout(X, y, train=DISGUISES[how](X.iloc[ORDER], y.iloc[ORDER]), ledger=None)


@pytest.mark.parametrize("how", DISGUISES)
def test_other_rows_are_let_in_as_they_come(how: str) -> None:
    X, y = FRAME[:ROWS], LABELS[:ROWS]
    assert Holdout(X, y, train=DISGUISES[how](FRAME[ROWS:], LABELS[ROWS:]), ledger=None).size == ROWS
