"""A log stays with its ledger: SQLite removes one that stands beside no ledger, and keeps one for each hard link."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from unworn import Holdout, col, share
from unworn.errors import LedgerError
from unworn.ledger.stores.sqlite_store import SQLiteStore

DATA = {"a": np.random.default_rng(0).normal(size=500)}


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """A ledger as a crash leaves it: its entries are in the log."""
    path = tmp_path / "home" / "x.db"
    path.parent.mkdir()
    holdout = Holdout(DATA, ledger=path)
    for number in range(3):
        holdout.ask(share(col("a") > number / 10), guess=0.5)
    shutil.copytree(path.parent, tmp_path / "crashed")
    holdout.close()
    return tmp_path / "crashed" / "x.db"


@pytest.mark.parametrize("how", ["missing", "empty"])
@pytest.mark.parametrize("restoring", [False, True])
def test_a_log_without_its_ledger_is_left_alone(crashed: Path, how: str, restoring: bool) -> None:
    file, log = crashed.read_bytes(), Path(f"{crashed}-wal").read_bytes()
    if how == "missing":
        crashed.unlink()
    else:
        os.truncate(crashed, 0)
    with pytest.raises(LedgerError, match="may hold answers that were given"):
        SQLiteStore(crashed, restoring=restoring)
    assert Path(f"{crashed}-wal").read_bytes() == log
    crashed.write_bytes(file)
    store = SQLiteStore(crashed)
    (holdout,) = store.holdouts()
    assert len(store.read(holdout)) == 4
    store.close()


@pytest.mark.skipif(not hasattr(os, "link"), reason="needs hard links")
def test_a_ledger_with_two_names_is_refused(crashed: Path) -> None:
    other = crashed.with_name("y.db")
    SQLiteStore(crashed).close()
    os.link(crashed, other)
    for path in (crashed, other):
        with pytest.raises(LedgerError, match="has 2 names"):
            SQLiteStore(path)
    other.unlink()
    SQLiteStore(crashed).close()


@pytest.mark.skipif(not hasattr(os, "link"), reason="needs hard links")
def test_a_ledger_that_gets_a_second_name_while_it_is_open(crashed: Path) -> None:
    """Whoever has it open goes on under the one name; nobody opens the other."""
    holdout = SQLiteStore(crashed)
    os.link(crashed, crashed.with_name("y.db"))
    with pytest.raises(LedgerError, match="has 2 names"):
        SQLiteStore(crashed.with_name("y.db"))
    (name,) = holdout.holdouts()
    assert len(holdout.read(name)) == 4
    holdout.close()
