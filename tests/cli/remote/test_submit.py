"""unworn submit and standings: one line from a server or a folder; a refusal is one line and exit code 3."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Run
from tests.client.real_server import RunningServer, make_labels, predict
from unworn.boards.board import Board

LABELS = make_labels()


def write(path: Path, right: float, seed: int) -> str:
    pd.DataFrame(predict(LABELS, right, seed)).to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize("text", ['[{"id": 1, "prediction": 0}]', '{"1": 0, "2": 1}'])
def test_json_that_is_no_log_is_said_to_belong_on_lines(run: Run, tmp_path: Path, text: str) -> None:
    frame = {"id": np.arange(400), "label": np.random.default_rng(len(text)).integers(0, 2, 400)}
    Board.create(tmp_path / "bench", frame, id="id", target="label").release()
    (tmp_path / "preds.json").write_text(text)
    told = run("submit", str(tmp_path / "preds.json"), "--to", str(tmp_path / "bench"))
    assert told.exit_code == 2
    assert "is not a log of Inspect. Predictions in JSON are JSON lines" in told.stderr


def test_one_line_from_a_server(
    server: RunningServer, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNWORN_TOKEN", server.tokens["blue"])
    preds = write(tmp_path / "preds.csv", 0.8, seed=31)
    assert "can be scored: 4,000 rows" in run("submit", preds, "--to", server.board, "--check").stdout
    done = run("submit", preds, "--to", server.board, "--name", "first", "--message", "eight in ten")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith("practice 0.")
    assert "confirmed: 0." in done.stdout
    assert "rank 1" in done.stdout
    told = json.loads(run("submit", preds, "--to", server.board, "-m", "again", "--json").stdout)
    assert (told["name"], told["message"], told["rank"], told["team"]) == ("first", "eight in ten", 1, "blue")
    whole = json.loads(run("submit", preds, "--to", server.url, "--json").stdout)  # it has one board, so that is meant
    assert whole["id"] == told["id"]
    table = run("standings", "--to", server.board).stdout
    assert "blue" in table
    assert json.loads(run("standings", "--to", server.board, "--json").stdout)["rows"][0]["team"] == "blue"


def test_what_cannot_be_scored_is_told_by_line(
    server: RunningServer, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNWORN_TOKEN", server.tokens["blue"])
    (tmp_path / "bad.csv").write_text("id,prediction\nr0,1\nr0,0\n")
    bad = run("submit", str(tmp_path / "bad.csv"), "--to", server.board)
    assert bad.exit_code == 2
    assert "line 3" in bad.stderr
    none = run("submit", str(tmp_path / "none.csv"), "--to", server.board)
    assert none.exit_code == 2
    assert run("submit", str(tmp_path / "bad.csv"), "--to", server.holdout).exit_code == 2


def test_refusals_are_one_line(server: RunningServer, run: Run, tmp_path: Path) -> None:
    preds = write(tmp_path / "preds.csv", 0.8, seed=32)
    refused = run("submit", preds, "--to", server.board)
    assert refused.exit_code == 3
    assert refused.stderr.startswith("SignInNeeded: ")
    assert refused.stderr.count("\n") == 1
    told = json.loads(run("submit", preds, "--to", server.board, "-m", "again", "--json").stdout)
    assert (told["error"], told["exit_code"]) == ("SignInNeeded", 3)


def test_a_url_without_its_beginning_is_told(run: Run, tmp_path: Path) -> None:
    preds = write(tmp_path / "preds.csv", 0.8, seed=34)
    refused = run("submit", preds, "--to", "127.0.0.1:8765/boards/bench")
    assert refused.exit_code == 2
    assert "begins with http://" in refused.stderr


def test_a_folder_is_a_board_too(run: Run, tmp_path: Path) -> None:
    labels = make_labels(seed=41)
    Board.create(tmp_path / "bench", labels, id="id", target="label", metric="accuracy", name="bench").release()
    pd.DataFrame(predict(labels, 0.7, 33)).to_csv(tmp_path / "preds.csv", index=False)
    folder, preds = str(tmp_path / "bench"), str(tmp_path / "preds.csv")
    assert run("standings", "--to", folder).stdout == "nobody has submitted yet\n"
    assert "4,000 rows" in run("submit", preds, "--to", folder, "--check").stdout
    done = run("submit", preds, "--to", folder, "--team", "blue")
    assert done.exit_code == 0, done.output
    assert "rank 1" in done.stdout
    with Board(tmp_path / "bench") as board:
        assert [each.team for each in board.submissions()] == ["blue"]
        board.close_board()
    pd.DataFrame(predict(labels, 0.7, 34)).to_csv(tmp_path / "late.csv", index=False)
    late = run("submit", str(tmp_path / "late.csv"), "--to", folder)
    assert late.exit_code == 3
    assert late.stderr.startswith("BoardClosed: ")
    assert "closed" in run("standings", "--to", folder).stderr
    assert run("submit", preds, "--to", str(tmp_path / "nowhere")).exit_code in (2, 3)
