"""Keys as files beside a ledger: private, written whole or not at all, never replaced."""

from __future__ import annotations

import contextlib
from pathlib import Path

from unworn.basics.durable_files import sync_folder, write_durably
from unworn.errors import Conflict, LedgerError
from unworn.ledger.entry import is_holdout
from unworn.ledger.keys import Key


class KeyFiles:
    """A directory only its owner can enter, with one file per holdout.

    Keys are not in the ledger itself, because a ledger is meant to be copied, published and checked by
    others, and whoever has the key can repeat the noise.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, holdout: str) -> Path:
        if not is_holdout(holdout):  # it becomes a file name: no dots, no slashes
            raise LedgerError(f"a holdout's id is 32 lower-case hex digits, not {holdout!r:.80}")
        return self.folder / f"{holdout}.key"

    def read(self, holdout: str) -> Key | None:
        if not is_holdout(holdout):
            return None
        return read_key(self.path(holdout))

    def find_elsewhere(self, holdout: str) -> Path | None:
        """Where a key lies that should be here: in the folder of another ledger beside this one, if it was renamed."""
        if not is_holdout(holdout):
            return None
        others = self.folder.parent.glob(f"*.keys/{holdout}.key")
        return next((each for each in others if each.parent != self.folder), None)

    def write(self, holdout: str, key: Key) -> bool:
        """Keep a key durably; whether it is new here. The same key again is fine, another one is a ``Conflict``."""
        path = self.path(holdout)
        try:
            if not self.folder.is_dir():
                self.folder.mkdir(mode=0o700, exist_ok=True)
                sync_folder(self.folder.parent)
            self.folder.chmod(0o700)  # it may have been unpacked from an archive with other bits
        except OSError as error:
            raise LedgerError(f"the folder for keys, {self.folder}, cannot be made: {error}") from error
        if write_key(path, key):
            return True
        if self.read(holdout) != key:
            raise Conflict(f"another key is already kept for holdout {holdout[:12]}… in {path}", holdout=holdout)
        return False

    def remove(self, holdout: str) -> None:
        """Forget a key that no holdout was sealed with."""
        with contextlib.suppress(OSError):
            self.path(holdout).unlink(missing_ok=True)


def read_key(path: Path) -> Key | None:
    """The key in this file; ``None`` if there is no file."""
    try:
        return Key.from_hex(path.read_text("ascii"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError, LedgerError) as error:
        # The decoding error would quote the file, which may be most of a key.
        reason = error.strerror if isinstance(error, OSError) else "it does not hold 64 hex digits"
        raise LedgerError(f"the key file {path} cannot be read: {reason}") from None


def write_key(path: Path, key: Key) -> bool:
    """Write a key file of mode 0600, durably; ``False``, and nothing done, if the file exists."""
    return write_new(path, f"{key.hex()}\n".encode(), mode=0o600)


def write_new(path: Path, data: bytes, *, mode: int) -> bool:
    """Write a file that appears whole and durable, or not at all; ``False`` if the name is taken."""
    try:
        return write_durably(path, data, mode=mode)
    except OSError as error:
        raise LedgerError(
            f"{path} could not be written: {error.strerror}\n"
            "  Nothing was changed; free some space or choose another place."
        ) from error
