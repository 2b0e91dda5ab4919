"""Backups while the server runs: entries of every ledger, without keys, and the small tables."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unworn.ledger.backup import export

if TYPE_CHECKING:
    from unworn.server.services import Services


def back_up(services: Services, folder: Path | None = None) -> dict[str, Any]:
    """Write everything but keys into a new folder under ``backups/``; returns where, and how many entries.

    Others go on asking meanwhile: each ledger is a prefix of itself, and tables are copied as of one moment. Tables and
    ledgers in PostgreSQL are backed up there.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target = folder or services.settings.path / "backups" / f"{stamp}-{os.urandom(3).hex()}"
    target.mkdir(parents=True, mode=0o700)
    entries: dict[str, int] = {}
    workspace = services.workspace
    for name in workspace.boards():
        with workspace.lease_board(name) as board:
            entries[f"board {name}"] = export(board.holdout._desk.store, target / f"board-{name}.jsonl")
            copy_tables(board.folder / "board.db", target / f"board-{name}.db")
    for name in workspace.holdouts():
        with workspace.lease_holdout(name) as holdout:
            entries[f"holdout {name}"] = export(holdout._desk.store, target / f"holdout-{name}.jsonl")
    where = services.settings.database_url
    if isinstance(where, Path):
        services.keys.flush()
        copy_tables(where, target / "server.db")
    return {"folder": str(target.relative_to(services.settings.path)) if folder is None else str(target), **entries}


def copy_tables(source: Path, target: Path) -> None:
    """A SQLite file as of one moment, while others write to it."""
    if not source.is_file():
        return
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    here = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    there = sqlite3.connect(target)
    try:
        here.backup(there)
    finally:
        there.close()
        here.close()
