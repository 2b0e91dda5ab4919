"""Rows of which some are for practice, and models that are wrong about a known share of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from unworn import Holdout
from unworn.rows import Sample

ROWS = 1_000


def people(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng([11, seed])
    a = rng.normal(size=rows)
    return pd.DataFrame(
        {
            "a": a,
            "word": [f"w{place}-{seed}" for place in rng.permutation(rows)],
            "team": rng.integers(0, rows // 8, rows),
            "y": (a + rng.normal(size=rows) > 0).astype(int),
        }
    )


class Sign:
    """Looks at one column."""

    def __init__(self, place: float = 0.0) -> None:
        self.place = place

    def predict(self, X: Any) -> Any:
        return (np.asarray(X["a"]) > self.place).astype(int)


def practice_rows(holdout: Holdout) -> Sample:
    assert holdout._practice_rows is not None
    return holdout._practice_rows


def places(rows: Sample) -> list[int]:
    assert rows.origin is not None
    return list(rows.origin.tolist())


def split(holdout: Holdout) -> tuple[list[int], list[int]]:
    """Where the practice rows lie, and where the sealed ones."""
    return places(practice_rows(holdout)), places(holdout._sample)
