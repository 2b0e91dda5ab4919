"""A backup that ends before what was told does not make anybody forget that more was told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unworn import Holdout, col, share
from unworn.errors import Tampered
from unworn.ledger.backup import export, restore
from unworn.ledger.stores.sqlite_store import SQLiteStore

DATA = {"a": np.random.default_rng(0).normal(size=500)}


def test_an_older_backup_is_refused_until_the_whole_one_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    holdout = Holdout(DATA, ledger=path)
    for number in range(6):
        holdout.ask(share(col("a") > number / 10), guess=0.5)
        if number in (2, 5):
            export(holdout._desk.store, tmp_path / f"{number}.jsonl")
    holdout.close()
    path.unlink()
    for _ in range(2):  # the second time nothing is added
        store = SQLiteStore(path, restoring=True)
        restore(tmp_path / "2.jsonl", store)
        store.close()
        with pytest.raises(Tampered, match="lacks answers that were given"):
            SQLiteStore(path)
    store = SQLiteStore(path, restoring=True)
    assert restore(tmp_path / "5.jsonl", store) == 3
    store.close()
    again = Holdout(DATA, ledger=path)
    assert len(again.answers) == 6
    again.close()
