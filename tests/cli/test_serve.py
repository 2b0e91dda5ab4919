"""``unworn serve``: what it says before it serves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from unworn.boards.board import Board
from unworn.cli import app
from unworn.server import process

runner = CliRunner()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What would be served, without serving it."""
    made: list[tuple[Any, ...]] = []
    monkeypatch.setattr(process, "run_server", lambda *given: made.append(given))
    return made


def test_a_folder_without_places_is_refused(tmp_path: Path, calls: list[Any]) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        told = runner.invoke(app, ["serve", str(path)])
        assert told.exit_code == 2
        assert "unworn board new" in told.output
    assert calls == []


def test_links_and_tokens_are_printed_and_settings_passed_on(tmp_path: Path, calls: list[Any]) -> None:
    frame = {"id": [str(row) for row in range(200)], "label": [row % 2 for row in range(200)]}
    Board.create(tmp_path / "bench", frame, id="id", target="label", metric="accuracy").release()
    told = runner.invoke(
        app,
        ["serve", str(tmp_path / "bench"), "--address", "https://bench.example.org/", "--max-upload", "5", "--public"],
    )
    assert told.exit_code == 0, told.output
    assert "Serving 1 board" in told.output
    assert "https://bench.example.org/sign-in/" in told.output
    assert told.output.count("shown this once: unw_") == 2
    ((settings, host, port, workers),) = calls
    assert (host, port, workers) == ("127.0.0.1", 8765, 1)
    assert (settings.max_upload, settings.public, settings.secure_cookies) == (5 * 2**20, True, True)
    again = runner.invoke(app, ["serve", str(tmp_path / "bench"), "--workers", "3", "--host", "0.0.0.0"])
    assert "unw_" not in again.output
    assert "http://127.0.0.1:8765/sign-in/" in again.output
    assert calls[1][1:] == ("0.0.0.0", 8765, 3)
