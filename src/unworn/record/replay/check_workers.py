"""Processes that check pieces of a chain, each reading the ledger for itself.

They are started afresh, and neither forked nor by way of the caller's main module, which a library knows nothing about.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import IO, Any

from unworn.errors import LedgerError, UnwornError
from unworn.ledger import Entry, open_store
from unworn.record.chain_views import source_in
from unworn.record.fold_base import FoldBase
from unworn.record.replay.chain_check import Submit
from unworn.record.replay.chunk_check import CheckedChunk, ChunkCheck
from unworn.record.terms import Terms

_WORTH_IT = 20_000
"""Entries from which on it pays to start processes."""
_COMMAND = "from unworn.record.replay.check_workers import work; work()"


@contextmanager
def check_workers(
    url: str | None, first: Entry, length: int, heads: Collection[str] = (), processes: int | None = None
) -> Iterator[Submit | None]:
    """Whoever checks pieces of a chain of this length; none where that is best done here."""
    count = min(os.cpu_count() or 1, 16) if processes is None else processes
    is_ours = type(Terms.from_body(first.body).sealed_for).__module__.startswith("unworn.")  # they know no others
    if url is None or not is_ours or count < 2 or (processes is None and length < _WORTH_IT):
        yield None
        return
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    workers = [_Worker(url, first, frozenset(heads)) for _ in range(count)]
    for worker in workers:
        idle.put(worker)

    def check(base: FoldBase, stop: int) -> CheckedChunk | None:
        worker = idle.get()
        try:
            return worker.check(base, stop)
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(count)
    try:
        yield lambda base, stop: threads.submit(check, base, stop)
    finally:
        for worker in workers:
            worker.end()
        threads.shutdown(cancel_futures=True)


class _Worker:
    """One process, and the pipes to it."""

    def __init__(self, url: str, first: Entry, heads: Collection[str]) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        _send(self._process.stdin, (url, first, heads))

    def check(self, base: FoldBase, stop: int) -> CheckedChunk | None:
        try:
            _send(self._process.stdin, (base, stop))
            found = pickle.load(_open(self._process.stdout))
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise LedgerError(
                "a process that checked part of the ledger has ended before it was done.\n  Verify it again."
            ) from error
        if isinstance(found, UnwornError):
            raise found
        return found  # type: ignore[no-any-return]

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                _open(pipe).close()


def work() -> None:
    """What such a process does: check what it is handed, until nobody is there any more."""
    orders, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed here must not be taken for a reply
    url, first, heads = pickle.load(orders)
    store = open_store(url, write=False)
    check = ChunkCheck(first, source_in(store, first.holdout))
    while True:
        try:
            base, stop = pickle.load(orders)
        except EOFError:
            break
        reply: CheckedChunk | UnwornError | None
        try:
            reply = check.check(base, stop, heads=heads)
        except UnwornError as error:
            reply = error
        _send(replies, reply)
    store.close()


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    _open(pipe).write(pickle.dumps(message))
    _open(pipe).flush()


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
