"""Kill working processes at chosen moments, and hear what they had acknowledged by then.

Nothing here knows ledgers: ``work`` is any function that calls ``acknowledge(line)`` for each thing that must
survive its death.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence

Work = Callable[[Callable[[str], None]], None]


def run_and_kill(works: Sequence[Work], after: float, patience: float = 30.0) -> list[list[str]]:
    """Run each work in a process of its own; SIGKILL all ``after`` seconds past the first acknowledgement.

    Returns the lines each acknowledged. A process that ends by itself before that is a failure.
    """
    children = [_start(work) for work in works]
    received = [b""] * len(children)
    pipes = {pipe: i for i, (_, pipe) in enumerate(children)}
    try:
        kill_at, give_up = None, time.monotonic() + patience
        while kill_at is None or time.monotonic() < kill_at:
            if time.monotonic() > give_up:
                raise TimeoutError("no process acknowledged anything")
            wait = 0.05 if kill_at is None else max(kill_at - time.monotonic(), 0)
            for pipe in select.select(list(pipes), [], [], wait)[0]:
                data = os.read(pipe, 65536)
                if not data:
                    raise RuntimeError("a process ended before it was killed; its error is above")
                received[pipes[pipe]] += data
                kill_at = time.monotonic() + after if kill_at is None else kill_at
    finally:
        for pid, _ in children:
            os.killpg(pid, signal.SIGKILL)  # with all that it has forked itself
        for i, (pid, pipe) in enumerate(children):
            os.waitpid(pid, 0)
            while data := os.read(pipe, 65536):
                received[i] += data
            os.close(pipe)
    # A line cut short by the kill was not acknowledged.
    return [data.decode().split("\n")[:-1] for data in received]


def _start(work: Work) -> tuple[int, int]:
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    with contextlib.suppress(OSError):  # in both: whoever is first
        os.setpgid(pid, pid)
    if pid:
        os.close(writer)
        return pid, reader
    try:
        os.close(reader)
        work(lambda line: _write(writer, f"{line}\n".encode()))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _write(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]
