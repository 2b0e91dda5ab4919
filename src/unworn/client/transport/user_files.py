"""Small private files of this user, one JSON object each: tokens by server, and keys seen at first contact."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unworn.basics.durable_files import write_durably
from unworn.basics.json_text import read_json, write_json
from unworn.errors import LedgerError
from unworn.ledger.file_locks import FileLock
from unworn.ledger.registry.home import home_folder, make_home

_MOST = 2**22


class UserFile:
    """One such file: read whole, changed by one process at a time, readable by its owner only."""

    def __init__(self, name: str, what: str) -> None:
        self.name, self.what = name, what

    @property
    def path(self) -> Path:
        return home_folder() / self.name

    def read(self) -> dict[str, Any]:
        """What is in it; nothing where there is no file. A file that others can read is refused."""
        path = self.path
        try:
            with open(path, "rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                text = file.read(_MOST + 1)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise LedgerError(f"{path}, which keeps {self.what}, cannot be read: {error.strerror}") from None
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise LedgerError(
                f"{path}, which keeps {self.what}, can be read or changed by others.\n  Run: chmod 600 {path}"
            )
        try:
            found = read_json(text, _MOST)
        except ValueError:
            found = None
        if not isinstance(found, dict):  # nothing of it is quoted: it may be most of a token
            raise LedgerError(
                f"{path}, which keeps {self.what}, was changed after it was written.\n  Remove it and start again."
            )
        return found

    def change(self, how: Callable[[dict[str, Any]], None]) -> None:
        """Read it, change it and write it, while no other process does."""
        path = make_home() / self.name
        lock = FileLock(path.with_name(f"{self.name}.lock"))
        if not lock.acquire(alone=True, patience=10.0):
            raise LedgerError(f"{path} is being changed by another program: try again")
        try:
            content = self.read()
            how(content)
            write_durably(path, write_json(content).encode(), mode=0o600, replace=True)
        except OSError as error:
            raise LedgerError(f"{path}, which keeps {self.what}, cannot be written: {error.strerror}") from None
        finally:
            lock.remove()
