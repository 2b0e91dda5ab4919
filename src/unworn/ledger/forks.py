"""Nothing of SQLite's is open while a process is forked.

SQLite remembers per process which files it has locked. A forked child inherits the memory but not the locks, and so
does every connection that it opens later: it writes without being protected. So stores are closed before a fork, and
both processes open them again when they next need them.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Protocol
from weakref import WeakSet

from unworn.errors import LedgerError
from unworn.ledger.file_locks import Identity


class Forkable(Protocol):
    """What a store does at a fork."""

    @property
    def file(self) -> Identity | None:
        """The file that it has open."""

    def prepare_fork(self) -> None:
        """Wait for the commit that is under way, let go of all files, and keep others out."""

    def resume_after_fork(self, *, child: bool) -> None:
        """Let others in again; in the child, as if nobody had ever waited."""

    def notice_fork(self) -> None:
        """In a child that was not told that it is one: let go of what is the parent's."""


# Whoever forks holds it, and nobody becomes known meanwhile. Reentrant, because a signal handler may fork.
_gate = threading.RLock()
_stores: WeakSet[Forkable] = WeakSet()
_forking: list[list[Forkable]] = []
_leaked: dict[Identity, int] = {}  # and in which process
_inherited: set[Identity] = set()
_process = os.getpid()


def register(store: Forkable) -> None:
    """Have a store prepared for every fork from now on. It must not hold its own lock here."""
    with _gate:
        _stores.add(store)


def stores() -> list[Forkable]:
    """The stores of this process that are still there."""
    with _gate:
        return list(_stores)


def fork_gate() -> threading.RLock:
    """To be held, by ``with``, for the length of a short use of SQLite that is no store's: no fork comes meanwhile."""
    return _gate


def leak(file: Identity) -> None:
    """A connection to this file could not be closed here: no child of this process may open the file."""
    _leaked[file] = os.getpid()


def forbid(file: Identity) -> None:
    """In a child: SQLite inherited this file as open, and must never open it again."""
    _inherited.add(file)


def check_inheritance(file: Identity) -> None:
    """Refuse a file that SQLite believes it has locked, because it had in the parent process."""
    _notice_fork()
    if file in _inherited or _leaked.get(file, os.getpid()) != os.getpid():
        raise LedgerError(
            "this process was forked while its parent was using the ledger, in a way that Python did not announce.\n"
            "  Nothing was charged. Open the ledger in a process that is started afresh (spawn), or fork by os.fork."
        )


def _notice_fork() -> None:
    """In a child that Python did not announce: nobody has told the stores, nor whoever holds the gate."""
    global _gate, _process
    if _process != os.getpid():
        _gate, _process = threading.RLock(), os.getpid()
        for store in list(_stores):
            store.notice_fork()


def _before() -> None:
    _gate.acquire()
    stores = list(_stores)
    _forking.append(stores)
    for store in stores:
        with contextlib.suppress(Exception):  # a store that is not ready is refused to the child
            store.prepare_fork()


def _after(*, child: bool) -> None:
    global _gate, _process
    try:
        for store in _forking.pop() if _forking else []:
            with contextlib.suppress(Exception):  # whatever is wrong with one, the others go on
                store.resume_after_fork(child=child)
    finally:
        if child:
            _forking.clear()
            _gate, _process = threading.RLock(), os.getpid()
        else:
            _gate.release()


def _take_interrupt() -> None:
    """An interrupt that came during a fork is raised in the first hook after it, which is then lost: in this one."""


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=_take_interrupt)
    os.register_at_fork(
        before=_before,
        after_in_parent=lambda: _after(child=False),
        after_in_child=lambda: _after(child=True),
    )
