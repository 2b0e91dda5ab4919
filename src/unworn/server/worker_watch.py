"""Several processes that answer side by side, and the one that watches over them.

Whoever of them ends, however that comes, is started again at once. A worker whose watcher is gone ends too: it would
hold the port, and nobody would start it again. (uvicorn's own watcher asks its workers whether they are well, and waits
for an answer; a worker that is killed just then is not missed until that time is over.)
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

_log = logging.getLogger("unworn.server")
_PAUSE = 1.0
"""Seconds before another try where a worker ended soon after its start: its database may not be there yet."""
_SOON = 10.0
_SPARE = 10.0
"""Seconds beyond the time that a worker has for what it has begun, after which it is killed."""


class WorkerWatch:
    """So many workers that all run ``serve(bound socket)``, until SIGTERM or an interrupt."""

    def __init__(self, serve: Callable[[socket.socket], None], bound: socket.socket, number: int, last: float) -> None:
        self._serve, self._bound, self._number, self._last = serve, bound, number, last
        self._spawn = multiprocessing.get_context("spawn")
        self._ending = False
        self._workers: dict[SpawnProcess, float] = {}

    def run(self) -> None:
        """Start them, start again who ends, and end all when told to."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        for _ in range(self._number):
            self._start()
        while not self._ending:
            wait([each.sentinel for each in self._workers], timeout=0.5)
            for worker, began in list(self._workers.items()):
                if not worker.is_alive() and not self._ending:
                    self._replace(worker, began)
        self._stop()

    def _start(self) -> None:
        worker = self._spawn.Process(target=_work, args=(self._serve, self._bound))
        worker.start()
        self._workers[worker] = time.monotonic()

    def _replace(self, worker: SpawnProcess, began: float) -> None:
        del self._workers[worker]
        _log.error("worker %s ended with %s, and another is started", worker.pid, worker.exitcode)
        if time.monotonic() - began < _SOON:
            time.sleep(_PAUSE)
        self._start()

    def _stop(self) -> None:
        for worker in self._workers:
            worker.terminate()
        deadline = time.monotonic() + self._last + _SPARE
        for worker in self._workers:
            worker.join(max(deadline - time.monotonic(), 0.0))
            if worker.is_alive():
                worker.kill()
                worker.join()

    def _end(self, *_: Any) -> None:
        self._ending = True


def _work(serve: Callable[[socket.socket], None], bound: socket.socket) -> None:
    threading.Thread(target=_end_with_watcher, daemon=True).start()
    serve(bound)


def _end_with_watcher() -> None:
    watcher = multiprocessing.parent_process()
    if watcher is not None:
        watcher.join()
        signal.raise_signal(signal.SIGTERM)
