"""Ledgers that this process has open, which it must not read by other means.

Closing any descriptor of a file drops the POSIX locks that this process has on it, SQLite's among them. What is done
to a ledger in spite of that (``shutil.copy``) is made up for; but we do not do it ourselves.
"""

from __future__ import annotations

import os

from unworn.errors import LedgerError
from unworn.ledger.file_locks import identity
from unworn.ledger.forks import stores


def check_not_live(path: str | os.PathLike[str]) -> None:
    """Refuse to read a file as something else that is a ledger in use here; looks at its name, not into it."""
    file = identity(path)
    if file != (0, 0) and any(store.file == file for store in stores()):
        raise LedgerError(
            f"{os.fspath(path)} is a ledger that this process has open: read it through its holdout, not as a file.\n"
            "  For a backup use unworn.ledger.backup.export, or `unworn ledger FILE --export backup.jsonl`."
        )
