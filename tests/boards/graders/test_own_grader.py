from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from unworn.boards.board_errors import GraderFailed, InvalidBoard
from unworn.boards.graders.own_grader import OwnGrader


def grader(folder: Path, body: str, seconds: float = 20.0, megabytes: int = 512) -> OwnGrader:
    (folder / "grade.py").write_text(body)
    return OwnGrader.open(folder, "grade.py:score", seconds, megabytes)


def test_a_grader_says_how_good_each_row_is(tmp_path: Path) -> None:
    made = grader(tmp_path, "print('said')\ndef score(p, r):\n    print('more')\n    return (p == r) / 2\n")
    assert made.grade(["a", "b", "ü\n"], ["a", "c", "ü\n"]).tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def score(p, r): raise SystemExit(3)", "exit code 3"),
        ("def score(p, r): 1 / 0", "exit code 1"),
        ("import nothing_there", "exit code 1"),
        ("def other(p, r): return 1", "exit code 1"),
        ("def score(p, r): return 'right'", "exit code 1"),
        ("def score(p, r): return 1.5", "outside of"),
        ("def score(p, r): return float('nan')", "no numbers|outside of"),
        ("import os\ndef score(p, r): os._exit(0)", "0 scores for 2 rows"),
        ("import os\ndef score(p, r): os.kill(os.getpid(), 9)", "signal 9"),
        ("x = 'a' * 2**30\ndef score(p, r): return 1", "exit code 1|signal"),
        ("import os\ndef score(p, r):\n    while True: os.write(3, b'1' * 2**16)", "exit code 1|signal"),
    ],
)
def test_a_grader_that_fails_fails_alone(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(GraderFailed, match=words):
        grader(tmp_path, body).grade(["a", "b"], ["a", "b"])


def test_a_grader_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    body = f"""
import subprocess, time
child = subprocess.Popen(["sleep", "600"])
open({str(mark)!r}, "w").write(str(child.pid))
def score(p, r): time.sleep(600)
"""
    begin = time.monotonic()
    with pytest.raises(GraderFailed, match="longer than 5 s"):
        grader(tmp_path, body, seconds=5.0).grade(["a"], ["a"])
    assert time.monotonic() - begin < 60
    child = int(mark.read_text())
    for _ in range(200):
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or state.read_text().split()[2] in "ZX":
            return
        time.sleep(0.05)
    pytest.fail("what the grader started is still running")


def test_a_grader_sees_none_of_our_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWORN_TOKEN", "secret")
    body = "import os\ndef score(p, r): return float('UNWORN_TOKEN' in os.environ or 'UNWORN_HOME' in os.environ)"
    assert grader(tmp_path, body).grade(["a"], ["a"]).tolist() == [0.0]
    assert os.environ["UNWORN_TOKEN"] == "secret"


def test_a_grader_is_known_by_its_code(tmp_path: Path) -> None:
    one = grader(tmp_path, "def score(p, r): return 1")
    other = grader(tmp_path, "def score(p, r): return 0")
    assert one.digest != other.digest
    with pytest.raises(GraderFailed, match="code has changed"):
        one.grade(["a"], ["a"])
    with pytest.raises(InvalidBoard, match="cannot be read"):
        OwnGrader.open(tmp_path, "none.py:score")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux lets orphans be taken in")
@pytest.mark.parametrize("seconds", [20.0, 1.0])
def test_nothing_that_a_grader_starts_outlives_it(tmp_path: Path, seconds: float) -> None:
    mark = tmp_path / "pids"
    hang = "time.sleep(600)" if seconds == 1.0 else "return 1.0"
    body = f"""
import os, time
def score(p, r):
    for _ in range(20):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
    time.sleep(0.2)
    {hang}
def note(): open({str(mark)!r}, "w").write(str(os.getpid()))
note()
"""
    made = grader(tmp_path, body, seconds=seconds)
    if seconds == 1.0:
        with pytest.raises(GraderFailed, match="longer than 1 s"):
            made.grade(["a"], ["a"])
    else:
        assert made.grade(["a"], ["a"]).tolist() == [1.0]
    folder = str(tmp_path).encode()
    left = [each for each in Path("/proc").glob("[0-9]*/cmdline") if folder in _read(each)]
    assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
