"""Whatever a ledger is made to hold can be read again: an entry that cannot would end it, with all answers in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Holdout, Unaskable, col, share

ROWS = 60
LABELS = np.random.default_rng(0).integers(0, 2, ROWS)
SCORES = np.random.default_rng(1).dirichlet([1, 1], ROWS)
HUGE = 10**60
ASKS: dict[str, Callable[[Holdout], Any]] = {
    "a class that is a float": lambda h: h.score(LABELS, metric="recall", positive=1e308),
    "a class": lambda h: h.score(LABELS, metric="recall", positive=-HUGE),
    "forty digits and a sign": lambda h: h.score(LABELS, metric="precision", positive=-(10**39)),
    "k": lambda h: h.score(SCORES, metric="top_k_accuracy", k=HUGE),
    "classes": lambda h: h.score(SCORES, metric="log_loss", classes=[0, HUGE]),
    "an average": lambda h: h.score(LABELS, metric="f1_macro", classes=[0, 1e300]),
    "weights": lambda h: h.score(LABELS, metric="balanced_accuracy", weights={0: 1, HUGE: 1}),
    "shares": lambda h: h.score(LABELS, metric="balanced_accuracy", shares={0: 0.5, 1e300: 0.5}),
    "a baseline": lambda h: h.score(LABELS, metric="r2", range=(0, 9), baseline=HUGE),
    "a subgroup": lambda h: h.score(LABELS, metric="recall", positive=HUGE, where="x > 0"),
}


@pytest.mark.parametrize("what", ASKS)
def test_numbers_that_no_entry_can_hold_are_refused_before_rows_are_read(what: str, tmp_path: Path) -> None:
    rows = {"x": np.random.default_rng(2).normal(size=ROWS)}
    how: dict[str, Any] = {"practice": None, "ledger": f"sqlite:///{tmp_path}/rows.db", "confidence": 0.5}
    holdout = Holdout(rows, LABELS, **how)
    first = holdout.ask(share(col("x") > 0), guess=0.5, name="7" * 100)  # digits of a name are none of a number
    with pytest.raises(Unaskable, match="cannot be written into a ledger"):
        ASKS[what](holdout)
    assert holdout.meter.asked == 1
    holdout.close()
    again = Holdout(rows, LABELS, **how)
    assert again.ask(share(col("x") > 0)).index == first.index
    again.close()
