"""The per-user directory: where ledgers go that nobody has named, and the registry of all that were."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from unworn.basics.display import show_value
from unworn.errors import LedgerError
from unworn.ledger.key_files import read_key, write_key
from unworn.ledger.keys import Key

VARIABLE = "UNWORN_HOME"
_SECRET, LEDGERS = "registry.key", "ledgers"


class Unwritable(LedgerError):
    """The per-user directory cannot be made or written."""


def home_folder() -> Path:
    """``UNWORN_HOME``, or where this platform keeps what programs remember for a user."""
    named = os.environ.get(VARIABLE)
    if named:
        folder = Path(named).expanduser()
        if not folder.is_absolute():  # it would be another one, with ledgers of its own, wherever a program is run
            raise LedgerError(
                f"{VARIABLE} is {show_value(named)}, which is another directory wherever a program is run, and rows "
                f"would have a ledger in each.\n  Give a full path, such as {show_value(str(folder.absolute()))}."
            )
        return folder
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "unworn"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "unworn"
    kept = os.environ.get("XDG_DATA_HOME", "")
    return (Path(kept) if os.path.isabs(kept) else Path.home() / ".local" / "share") / "unworn"


def make_home() -> Path:
    """The per-user directory, for its owner only; ``Unwritable`` where it cannot be."""
    try:
        folder = home_folder()
        (folder / LEDGERS).mkdir(mode=0o700, parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK) and os.access(folder / LEDGERS, os.W_OK | os.X_OK)
    except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home
        raise Unwritable(_unwritable(str(getattr(error, "strerror", None) or error))) from error
    if not writable:
        raise Unwritable(_unwritable("permission denied"))
    return folder


def _unwritable(why: str) -> str:
    where = os.environ.get(VARIABLE) or "the per-user directory"
    return (
        f"{where} cannot be written ({why}), and a ledger that nobody has named is kept there.\n"
        f"  Set {VARIABLE} to a directory that can be written, or name a ledger: ledger='churn.db'. "
        "(ledger=None keeps it in memory: the promise then ends with the object.)"
    )


def read_secret(folder: Path) -> bytes:
    """The secret that rows are marked under, made on first use; refused where it is gone and others were made of it."""
    path = folder / _SECRET
    key = read_key(path)
    if key is None:
        if (folder / "registry.db").exists() or any((folder / LEDGERS).glob("*.db")):
            raise LedgerError(
                f"{path} is gone, and without it no rows are recognised that {folder} has ledgers of.\n"
                f"  Bring it back from a backup. If it is lost for good, move {folder} away: named ledgers are known "
                "again once they are opened, and those in it can be opened by their path."
            )
        write_key(path, Key.new())
        key = read_key(path)
        if key is None:
            raise LedgerError(f"{path} was made and is gone again: another program removes files from {folder}")
    return key.derive("unworn/registry")
