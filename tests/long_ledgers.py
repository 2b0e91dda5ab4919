"""Ledgers that are long for a test: checkpoints come every few entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unworn import Holdout, col, share
from unworn.ledger import Entry
from unworn.mechanisms.transcript import Transcript
from unworn.queries.query import Query

EVERY = 8
X = {"x": np.arange(400) / 400, "y": np.arange(400) % 7}


@pytest.fixture
def short_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints every eight entries, and nothing remembered beside them."""
    monkeypatch.setattr(Transcript, "every", EVERY)
    monkeypatch.setattr(Transcript, "remembered", 2)


def above(cut: float) -> Query:
    return share(col("x") > cut)


def opened(ledger: Any, **options: Any) -> Holdout:
    return Holdout(X, ledger=ledger, practice=0, name="long", **options)


def asked(ledger: Any, answers: int, **options: Any) -> Holdout:
    """A holdout with so many answers: one by one, some with wrong guesses."""
    holdout = opened(ledger, **options)
    for place in range(1, answers + 1):
        cut = place / (answers + 2)
        holdout.ask(above(cut), guess=0.9 if place % 9 == 4 else 1 - cut)
    return holdout


def chain_of(holdout: Holdout) -> list[Entry]:
    return holdout._desk.store.read(holdout.id)
