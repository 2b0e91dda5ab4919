"""The organiser's own grader, in a process of its own: it may hang, crash or lie, and costs its submission alone.

It is started anew for each lot of rows, without our environment, in a group of its own that is killed as a whole, with
limits on CPU time, memory, open files, output and the time on the clock. It is no sandbox: a grader runs as the user
who serves the board, and reads and writes what that user may.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_line
from unworn.boards.board_errors import GraderFailed, InvalidBoard

_WORKER = Path(__file__).with_name("grader_worker.py")
_ROW = 40
"""Bytes of the longest number that a grader may write."""
_LONGEST_CODE = 2**24
_LAST = 3.0
"""Seconds for the worker to end what a grader started, once its time is up."""


@dataclass(frozen=True)
class OwnGrader:
    """A Python file and the name of a function in it: ``score(prediction, reference)``, a number in [0, 1]."""

    path: Path
    function: str
    digest: str
    seconds: float
    megabytes: int

    @classmethod
    def open(cls, folder: Path, named: str, seconds: float = 60.0, megabytes: int = 1024) -> OwnGrader:
        """The grader ``"grade.py:score"`` of a folder. It is read and not run: a digest of its code is its name."""
        file, _, function = named.rpartition(":")
        path = folder / file
        try:
            code = path.read_bytes()
        except OSError as error:
            raise InvalidBoard(
                f"the grader {show_line(path)} cannot be read: {error.strerror}", setting="grader"
            ) from None
        if len(code) > _LONGEST_CODE:
            raise InvalidBoard(f"the grader {show_line(path)} is larger than any program should be", setting="grader")
        if os.name != "posix":
            raise InvalidBoard("graders of one's own need a POSIX system, which limits what a process may use")
        digest = hashlib.sha256(function.encode() + b"\0" + code).hexdigest()
        return cls(path.resolve(), function, digest, seconds, megabytes)

    def grade(self, predictions: list[Any], references: list[Any], *, tells_why: bool = False) -> NDArray[np.float64]:
        """One number in [0, 1] per row; ``GraderFailed`` for anything else.

        ``tells_why`` adds what the grader complains of at its end: for the organiser alone, because it may quote rows.
        """
        if hashlib.sha256(self.function.encode() + b"\0" + self.path.read_bytes()).hexdigest() != self.digest:
            raise GraderFailed("its code has changed since the board was opened")
        rows = len(references)
        lines = "\n".join(map(json.dumps, zip(predictions, references, strict=True))).encode()
        with tempfile.TemporaryDirectory(prefix="unworn-grader-") as folder, tempfile.TemporaryFile() as output:
            with tempfile.TemporaryFile() if tells_why else contextlib.nullcontext() as complaints:
                self._run(lines, folder, output, complaints, rows * _ROW + 4096)
            output.seek(0)
            told = output.read(rows * _ROW + 4097)
        return _scores(told, rows)

    def _run(self, lines: bytes, folder: str, output: IO[bytes], complaints: IO[bytes] | None, most: int) -> None:
        limits = (str(int(self.seconds) + 1), str(self.megabytes), str(most))
        process = subprocess.Popen(
            [sys.executable, "-I", str(_WORKER), str(self.path), self.function, *limits],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.DEVNULL if complaints is None else complaints,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )
        feeder = threading.Thread(target=_feed, args=(process.stdin, lines), daemon=True)
        feeder.start()
        try:
            ended = _wait(process.pid, self.seconds)
            if not ended:  # it then ends what the grader started, also in other sessions
                process.terminate()
                _wait(process.pid, _LAST)
        finally:
            # Not reaped yet, so the group is still its own, whoever is left in it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
            feeder.join()
        if not ended:
            raise GraderFailed(f"it took longer than {self.seconds:g} s")
        if code:
            raise GraderFailed(f"it ended with {'signal' if code < 0 else 'exit code'} {abs(code)}{_last(complaints)}")


def _last(complaints: IO[bytes] | None) -> str:
    """The last line of what a grader complained of."""
    if complaints is None:
        return ""
    complaints.seek(0)
    lines = complaints.read(2**20).decode("utf-8", "replace").split("\n")
    words = next((line for line in reversed(lines) if line.strip()), "")
    return f": {show_line(words)[:300]}" if words else ""


def copy_grader(grader: str, home: Path) -> None:
    """The file of ``"path/grade.py:score"`` into the folder of a board, which is made with it."""
    path = Path(grader.rpartition(":")[0])
    inside = home / path.name
    if inside.exists():  # put there by hand, or by an attempt that failed
        if path.is_file() and path.read_bytes() != inside.read_bytes():
            raise InvalidBoard(
                f"there is another {show_line(path.name)} in {show_line(home)}: remove it, or give that one",
                setting="grader",
            )
        return
    if not path.is_file():
        raise InvalidBoard(f"there is no grader {show_line(path)}: give the path of a Python file and its function")
    shutil.copyfile(path, inside)
    os.chmod(inside, 0o644)


def _feed(pipe: IO[bytes] | None, lines: bytes) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError), pipe:
            pipe.write(lines)


def _wait(pid: int, seconds: float) -> bool:
    """Whether a process has ended in time; it is left to be reaped."""
    end, pause = time.monotonic() + seconds, 0.001
    while time.monotonic() < end:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
            return True
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    return False


def _scores(told: bytes, rows: int) -> NDArray[np.float64]:
    try:
        scores = np.array(json.loads(b"[" + told.replace(b"\n", b",") + b"]"), dtype=np.float64)
    except (ValueError, TypeError):
        raise GraderFailed("it returned something other than numbers") from None
    if scores.shape != (rows,):
        raise GraderFailed(f"it returned {scores.size} scores for {rows} rows")
    if not bool(((scores >= 0) & (scores <= 1)).all()):
        raise GraderFailed("it returned a score outside of [0, 1]")
    return scores
