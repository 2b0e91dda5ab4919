"""Workers are started again whoever ends them, end when their watcher is told to, and do not outlive it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

_PROGRAM = """
import socket, sys
from functools import partial
from tests.server.test_worker_watch import serve
from unworn.server.worker_watch import WorkerWatch
if __name__ == "__main__":
    bound = socket.create_server(("127.0.0.1", 0))
    WorkerWatch(partial(serve, sys.argv[1]), bound, 2, 1.0).run()
"""


def serve(folder: str, bound: socket.socket) -> None:
    """Say that one is there, and wait to be ended."""
    Path(folder, str(os.getpid())).write_text(str(bound.getsockname()[1]))
    while True:
        time.sleep(60)


def _wait_for(workers: Path, number: int, watcher: subprocess.Popen[bytes]) -> list[int]:
    deadline = time.monotonic() + 120
    while len(found := [int(each.name) for each in workers.iterdir() if _lives(int(each.name))]) != number:
        assert time.monotonic() < deadline
        assert watcher.poll() is None or number == 0
        time.sleep(0.05)
    return found


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _watcher(tmp_path: Path) -> tuple[subprocess.Popen[bytes], Path]:
    program, workers = tmp_path / "program.py", tmp_path / "workers"
    program.write_text(_PROGRAM)
    workers.mkdir()
    path = {"PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen([sys.executable, str(program), str(workers)], env={**os.environ, **path}), workers


def test_who_ends_is_started_again_and_all_end_with_the_watcher(tmp_path: Path) -> None:
    watcher, workers = _watcher(tmp_path)
    try:
        first = _wait_for(workers, 2, watcher)
        os.kill(first[0], signal.SIGKILL)
        while first[0] in (now := _wait_for(workers, 2, watcher)):
            time.sleep(0.05)
        assert first[1] in now
        assert len({each.read_text() for each in workers.iterdir()}) == 1  # all at the same port
        watcher.send_signal(signal.SIGTERM)
        assert watcher.wait(60) == 0
        _wait_for(workers, 0, watcher)
    finally:
        watcher.kill()
        watcher.wait()


def test_a_watcher_that_is_killed_leaves_nobody_behind(tmp_path: Path) -> None:
    watcher, workers = _watcher(tmp_path)
    _wait_for(workers, 2, watcher)
    watcher.kill()
    watcher.wait()
    _wait_for(workers, 0, watcher)
