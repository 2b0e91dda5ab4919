"""SIGTERM finishes what has begun: whoever was being answered is answered, and nobody new is taken."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.server.server_process import ServerProcess
from unworn.boards.board import Board

ROWS, SLOW = 20, 0.15
GRADER = f"""import time


def score(prediction, reference):
    time.sleep({SLOW})
    return float(prediction == reference)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_what_has_begun_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setenv("UNWORN_HOME", str(tmp_path / "home"))
    (tmp_path / "grade.py").write_text(GRADER)
    labels = {"id": [f"r{row}" for row in range(ROWS)], "label": ["yes", "no"] * (ROWS // 2)}
    bench, grader = tmp_path / "site" / "bench", f"{tmp_path / 'grade.py'}:score"
    Board.create(bench, labels, id="id", target="label", grader=grader).release()
    server = ServerProcess(tmp_path / "site", "--quiet", "--workers", str(workers))
    try:
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(submit, server)
            wait_for_grader(server)
            began = time.monotonic()
            assert not sent.done()
            os.kill(server.pid, signal.SIGTERM)
            told = sent.result(60)
            assert time.monotonic() - began > 0.2
        assert told["status"] in ("checked", "unchecked")
        assert server.wait(45) in (0, -signal.SIGTERM)
        assert not server.is_ready()
    finally:
        server.stop()
    with Board(bench) as board:
        board.holdout.verify()
        assert [each.id for each in board.submissions()] == [told["id"]]


def wait_for_grader(server: ServerProcess) -> None:
    """Until a worker has a process of its own at work."""
    deadline = time.monotonic() + 60
    while not any(
        path.read_text().split()
        for worker in server.workers()
        for path in Path(f"/proc/{worker}/task").glob("*/children")
    ):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def submit(server: ServerProcess) -> dict[str, Any]:
    body = "id,prediction\n" + "".join(f"r{row},yes\n" for row in range(ROWS))
    headers = {"Authorization": f"Bearer {server.tokens['participant']}", "Content-Type": "text/csv"}
    request = urllib.request.Request(f"{server.url}/api/boards/bench/submissions", body.encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as reply:
        told: dict[str, Any] = json.loads(reply.read())
    return told
