"""Runs an organiser's grader: this file is started as a program of its own (``python -I``) and imports nothing of ours.

It reads one JSON line per row, ``[prediction, reference]``, and writes one number per row. Its limits are set before
the grader's own code is loaded. The grader is a child of this process, which waits for it and then ends whatever it
started: also what made itself a session of its own, where the system lets orphans be taken in (Linux).
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Let descendants whose parents have ended become children of this process, rather than of init."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> None:
    """Kill all children until there are none: killing one may bring its own."""
    end = time.monotonic() + 5.0
    while time.monotonic() < end:
        children: list[int] = []
        with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children") as listed:
            children = list(map(int, listed.read().split()))
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def set_limits(seconds: int, megabytes: int, output: int) -> None:
    """CPU time, memory, open files and the size of the output; no core files."""
    import resource

    for limit, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, megabytes * 2**20),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))


def grade() -> int:
    """Load the grader and write down what it says of every row."""
    path, name, seconds, megabytes, output = sys.argv[1:6]
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what the grader prints is no score
    source = sys.stdin.buffer.read()
    set_limits(int(seconds), int(megabytes), int(output))
    space: dict[str, object] = {"__name__": "grader", "__file__": path}
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), space)
    if name not in space:
        sys.exit(f"there is no function {name} in it")
    own = space[name]
    told = [json.dumps(float(own(*json.loads(line)))) for line in source.splitlines()]  # type: ignore[operator]
    with open(answers, "w", encoding="ascii") as out:
        out.write("\n".join(told))
    return 0


def _stop(*_: object) -> None:
    end_descendants()
    os._exit(1)


def main() -> int:
    """Wait for the grader, or for the word that its time is up; then end all that it left."""
    adopt_orphans()
    grader = os.fork()
    if grader == 0:
        return grade()
    signal.signal(signal.SIGTERM, _stop)
    for each in (0, 1):
        os.close(each)  # the rows and the answers are the grader's
    _, status = os.waitpid(grader, 0)
    end_descendants()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:  # end as it did, which says more than a number
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
