"""How far each holdout's ledger had come when something was last told: noted apart from the ledger.

A ledger whose end was cut off is a valid shorter ledger, whoever cut it: a disk, a file manager, an old copy put back.
So every commit is noted beside the keys, after it is durable. A note that is behind proves nothing; one that is ahead
proves that entries were lost. That is also how a key whose holdout is gone differs from one that was never used.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from unworn.errors import LedgerError, Tampered
from unworn.ledger.key_files import write_new

Head = tuple[int, str]

_HAS_PWRITE = hasattr(os, "pwrite")
_NOTE = re.compile(r"(\d{19}) ([0-9a-f]{64})\n").fullmatch
_NAME = re.compile(r"([0-9a-f]{32})\.head").fullmatch


class NotedHeads:
    """Index and hash of the last entry of each holdout, one small file each, in the folder of keys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._descriptors: dict[str, int] = {}

    def read(self) -> dict[str, Head]:
        """All that is noted. Read it before the ledger: then the ledger cannot be behind for being read too early."""
        try:
            names = os.listdir(self.folder)
        except OSError:
            return {}
        return {name[1]: self._read(self.folder / name[0]) for name in map(_NAME, names) if name is not None}

    def _read(self, path: Path) -> Head:
        try:
            note = _NOTE(path.read_text("ascii"))
        except (OSError, UnicodeDecodeError) as error:
            raise LedgerError(f"the noted head {path} cannot be read: {error}") from None
        if note is None:
            raise Tampered(
                f"the noted head {path} is damaged, so nobody can say how long the ledger must be.\n"
                "  Compare the ledger with the youngest card you have; if the card is in it, remove this file."
            )
        return int(note[1]), note[2]

    def note(self, holdout: str, index: int, hashed: str) -> None:
        """Write down a head that is durable. It costs no sync: a note that a crash loses is only behind."""
        text = b"%019d %s\n" % (index, hashed.encode())
        try:
            descriptor = self._descriptors.get(holdout)
            if descriptor is None:
                path = self.folder / f"{holdout}.head"
                if not self.folder.is_dir() or write_new(path, text, mode=0o600):
                    return  # a ledger that was restored without its keys has no place for notes
                self._descriptors[holdout] = descriptor = os.open(path, os.O_RDWR)
            _write_over(descriptor, text)
        except (OSError, LedgerError):  # the entry is durable, with or without a note
            return

    def close(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])


def _write_over(descriptor: int, text: bytes) -> None:
    if _HAS_PWRITE:
        os.pwrite(descriptor, text, 0)
    else:
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, text)
