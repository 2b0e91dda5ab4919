"""Rows that have several uses, and questions to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from unworn import Holdout, col, share

ROWS = 400
USES = {"asks": 0.7, "release": 0.3}
THREE = {"asks": 0.5, "release": 0.3, "board": 0.2}
QUESTION = share(col("a") > 0)


def people(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=rows),
            "b": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "town": rng.choice(np.array(["x", "y", "z", None], dtype=object), rows),
            "born": rng.integers(0, 9_999, rows).astype("datetime64[D]"),
            "word": [f"w{place}-{seed}" for place in rng.permutation(rows)],
            "team": rng.integers(0, rows // 8, rows),
            "y": rng.integers(0, 2, rows),
        }
    )


def origin(holdout: Holdout) -> list[int]:
    places = holdout._sample.origin
    assert places is not None
    return list(places.tolist())


class Sign:
    def predict(self, X: Any) -> Any:
        return (np.asarray(X["a"]) > 0).astype(int)
