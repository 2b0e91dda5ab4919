"""``unworn gate``: what a shell loop sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unworn.boards.board import Board

ROWS = 800
Y = np.random.default_rng(3).integers(0, 2, ROWS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    labels = {"id": np.arange(ROWS), "label": Y}
    Board.create(tmp_path / "bench", labels, id="id", target="label", metric="accuracy").release()
    return tmp_path / "bench"


@pytest.fixture
def preds(tmp_path: Path) -> Any:
    def write(right: float) -> str:
        coins = np.random.default_rng(0).random(ROWS)
        path = tmp_path / f"{right}.csv"
        pd.DataFrame({"id": np.arange(ROWS), "prediction": np.where(coins < right, Y, 1 - Y)}).to_csv(path, index=False)
        return str(path)

    return write


def test_exit_codes_and_one_line(run: Any, folder: Path, preds: Any) -> None:
    first = run("gate", preds(0.5), "--to", str(folder), "-m", "start")
    assert first.exit_code == 0
    assert first.stdout.startswith("keep: practice ")
    assert first.stdout.endswith("(proposal 1 start)\n")
    assert run("gate", preds(0.8), "--to", str(folder)).exit_code == 0
    worse = run("gate", preds(0.6), "--to", str(folder))
    assert worse.exit_code == 10
    assert worse.stdout.startswith("revert to proposal 2: practice ")
    assert len(worse.stdout.splitlines()) == 1


def test_json_check_and_finish(run: Any, folder: Path, preds: Any) -> None:
    run("gate", preds(0.5), "--to", str(folder), "--lane", "x")
    told = run("gate", preds(0.8), "--to", str(folder), "--lane", "x", "--check", "--json")
    document = json.loads(told.stdout)
    assert (told.exit_code, document["keep"], document["kept"]) == (0, True, 2)
    assert document["milestone"]["low"] > 0
    assert "is real" in document["line"]
    finished = run("gate", "--to", str(folder), "--lane", "x", "--finish", "--json")
    claim = json.loads(finished.stdout)
    assert finished.exit_code == 0
    assert claim["gain_low"] <= 0.3 <= claim["gain_high"]
    assert run("gate", preds(0.9), "--to", str(folder), "--lane", "x").exit_code == 3
    assert "final gain" in run("gate", "--to", str(folder), "--lane", "x", "--finish").stdout


def test_what_cannot_be_meant(run: Any, folder: Path, preds: Any, tmp_path: Path) -> None:
    assert run("gate", "--to", str(folder)).exit_code == 2
    assert run("gate", preds(0.5), "--to", str(folder), "--finish").exit_code == 2
    broken = tmp_path / "broken.csv"
    broken.write_text("id,prediction\n1,1\n")
    assert run("gate", str(broken), "--to", str(folder)).exit_code == 2


def test_where_a_lane_stands(run: Any, folder: Path, preds: Any) -> None:
    assert "nothing was proposed yet" in run("gate", "--to", str(folder), "--state").stdout
    run("gate", preds(0.5), "--to", str(folder))
    checked = run("gate", preds(0.4), "--to", str(folder), "--check")
    assert "nothing to check: the loop is at proposal 1" in checked.stdout
    run("gate", preds(0.8), "--to", str(folder))
    told = run("gate", "--to", str(folder), "--state")
    assert told.exit_code == 0
    assert told.stdout.startswith("lane main: 3 proposed, proposal 3 is kept (practice ")
    assert "next milestone: proposal 25" in told.stdout
    assert json.loads(run("gate", "--to", str(folder), "--state", "--json").stdout)["kept"] == 3
    both = run("gate", "--to", str(folder), "--state", "--finish")
    assert (both.exit_code, "one of them" in both.stderr) == (2, True)
