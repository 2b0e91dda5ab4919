"""One account's slow requests do not keep everybody waiting: it never has all threads of the server."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("litestar")

import httpx

from tests.client.real_server import serve_folder
from unworn.boards.board import Board

ROWS, SLOW = 20, 0.15
GRADER = f"""import time


def score(prediction, reference):
    time.sleep({SLOW})
    return float(prediction == reference)
"""


def test_a_grader_that_is_slow_for_one_team_is_slow_for_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNWORN_HOME", str(tmp_path / "home"))
    (tmp_path / "grade.py").write_text(GRADER)
    labels = {"id": [f"r{row}" for row in range(ROWS)], "label": ["yes", "no"] * (ROWS // 2)}
    grader = f"{tmp_path / 'grade.py'}:score"
    Board.create(tmp_path / "site" / "bench", labels, id="id", target="label", grader=grader).release()
    with serve_folder(tmp_path / "site", threads=4) as server:

        def send(number: int) -> None:
            body = "id,prediction\n" + "\n".join(f"r{row},{'yes' if row < number else 'no'}" for row in range(ROWS))
            headers = {"Authorization": f"Bearer {server.tokens['red']}", "Content-Type": "text/csv"}
            reply = httpx.post(f"{server.url}/api/boards/bench/submissions", headers=headers, content=body, timeout=120)
            assert reply.status_code == 201

        def look() -> float:
            began = time.monotonic()
            headers = {"Authorization": f"Bearer {server.tokens['blue']}"}
            reply = httpx.get(f"{server.url}/api/boards/bench/standings", headers=headers, timeout=120)
            assert reply.status_code == 200
            return time.monotonic() - began

        look()  # the board is open
        crowd = [threading.Thread(target=send, args=(number,)) for number in range(8)]
        for each in crowd:
            each.start()
        time.sleep(1.0)
        waited = []
        while any(each.is_alive() for each in crowd):
            waited.append(look())
            time.sleep(0.2)
        for each in crowd:
            each.join()
        assert len(waited) > 3
        assert max(waited) < ROWS * SLOW  # what one submission takes; without a share it is that of all of them


def test_files_that_wait_for_their_turn_are_counted(tmp_path: Path) -> None:
    from litestar.testing import TestClient

    from unworn.server.app import create_app
    from unworn.server.server_errors import TooMany
    from unworn.server.settings import ServerSettings

    labels = {"id": [f"r{place}" for place in range(20)], "label": [0, 1] * 10}
    Board.create(tmp_path / "bench", labels, id="id", target="label").release()
    app = create_app(ServerSettings(tmp_path, threads=1, rate=0.0))
    services = app.state.services
    services.accounts.add("red", role="participant", scopes=["*"])
    sent = {"Authorization": f"Bearer {services.accounts.issue_token('red')}", "Content-Type": "text/csv"}
    with TestClient(app) as client:
        for body in (b"id,prediction\n", b"", b"\xff", b"a" * 10_000):  # whatever comes of it, it is gone afterwards
            assert client.post("/api/boards/bench/validate", headers=sent, content=body).status_code < 500
        assert not services.uploads
        ends = [services.begin_upload("red") for _ in range(4)]
        with pytest.raises(TooMany):
            services.begin_upload("red")
        reply = client.post("/api/boards/bench/validate", headers=sent, content=b"id,prediction\n")
        assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")
        for end in ends:
            end()
        assert client.post("/api/boards/bench/validate", headers=sent, content=b"id,prediction\n").status_code == 422
        assert not services.uploads
