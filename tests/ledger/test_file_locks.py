from __future__ import annotations

import errno
import fcntl
from pathlib import Path

import pytest

from unworn.errors import LedgerError
from unworn.ledger.file_locks import FileLock


def test_one_holds_it_alone_or_several_together(tmp_path: Path) -> None:
    one, two = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert one.acquire(alone=False)
    assert two.acquire(alone=False)
    assert not one.acquire(alone=True)
    two.release()
    assert one.acquire(alone=True)
    assert not two.acquire(alone=False)
    assert not two.acquire(alone=True, patience=0.01)
    one.remove()
    assert two.acquire(alone=True)  # of a file of the same name, made anew
    assert (tmp_path / "lock").exists()
    two.close()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_no_hindrance(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(number, "no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    lock = FileLock(tmp_path / "lock")
    assert lock.available
    assert lock.acquire(alone=True)
    assert not lock.available
    assert lock.acquire(alone=False)


def test_another_failure_is_a_ledger_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    lock = FileLock(tmp_path / "lock")
    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", refuse)
        with pytest.raises(LedgerError, match="cannot be locked: Input/output error"):
            lock.acquire(alone=True)
    assert lock.available
    lock.close()
