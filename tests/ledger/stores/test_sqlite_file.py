from __future__ import annotations

import gc
from pathlib import Path

import pytest

from unworn.ledger.stores import sqlite_file
from unworn.ledger.stores.sqlite_file import close_leaving_log, open_file


@pytest.mark.parametrize("can_keep", [True, False])
def test_the_log_is_left_to_those_who_go_on_with_it(
    can_keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last to close removes the log; whoever cannot tell SQLite not to does not close, now or ever."""
    if not can_keep:
        monkeypatch.setattr(sqlite_file, "_keep_log", lambda connection: False)
    connection = open_file(tmp_path / "x.db")
    connection.execute("CREATE TABLE told (value)")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO told VALUES (1)")  # never committed
    log = tmp_path / "x.db-wal"
    size = log.stat().st_size
    assert size > 0
    was_closed = close_leaving_log(connection)
    assert can_keep or not was_closed
    del connection
    gc.collect()
    assert log.stat().st_size == size
    other = open_file(tmp_path / "x.db")
    assert other.execute("SELECT count(*) FROM told").fetchone() == (0,)
    other.close()
