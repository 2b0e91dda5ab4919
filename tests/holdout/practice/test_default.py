"""Who gets practice rows without a word: those with labels who leave the rest to us, and they are told once."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.holdout.practice.support import ROWS, people, places
from unworn import Holdout
from unworn.cli import app
from unworn.errors import Mismatch, PracticeRows, Unaskable
from unworn.holdout.practice import ENOUGH
from unworn.mechanisms import GuessAndCheck


def test_said_once_when_the_rows_are_sealed(tmp_path: Path) -> None:
    with pytest.warns(
        PracticeRows, match=r"250 of 1,000 rows[\s\S]*holdout\.practice[\s\S]*practice=0 seals all"
    ) as told:
        holdout = Holdout(people(), "y", ledger=tmp_path / "ledger.db")
    assert told[0].filename == __file__
    assert (holdout.practice.size, holdout.size) == (250, 750)
    holdout.close()
    for practice in ({}, {"practice": 0.25}):  # warnings are errors here
        Holdout(people(), "y", ledger=tmp_path / "ledger.db", **practice).close()


def test_groups_are_what_is_counted() -> None:
    frame = people(8 * ENOUGH)
    with pytest.warns(PracticeRows, match=r"of \d+ groups, chosen at random"):
        Holdout(frame, "y", groups=np.arange(len(frame)) % ENOUGH, ledger=None)
    assert Holdout(frame, "y", groups=np.arange(len(frame)) % (ENOUGH - 1), ledger=None).practice.size == 0


TRAIN = people(400, seed=5)


@pytest.mark.parametrize(
    ("rows", "terms"),
    [
        (ENOUGH - 1, {"y": "y"}),
        (ROWS, {}),
        (ROWS, {"y": "y", "train": TRAIN}),
        (ROWS, {"y": "y", "mechanism": GuessAndCheck()}),
        (ROWS, {"y": "y", "practice": 0}),
        (ROWS, {"y": "y", "practice": None}),
        (ROWS, {"y": "y", "uses": {"asks": 0.7, "release": 0.3}}),
    ],
    ids=["few rows", "no labels", "train", "a mechanism", "0", "None", "uses"],
)
def test_nobody_else(rows: int, terms: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PracticeRows)
        assert Holdout(people(rows), ledger=None, **terms).practice.size == 0


def test_just_enough_rows() -> None:
    with pytest.warns(PracticeRows):
        assert Holdout(people(ENOUGH), "y", ledger=None).practice.size == ENOUGH // 4


def test_rows_in_an_engine_are_all_sealed(tmp_path: Path) -> None:
    people().to_parquet(tmp_path / "people.parquet")
    rows = f"duckdb:{tmp_path / 'people.parquet'}"
    holdout = Holdout(rows, "y", ledger=None)
    assert (holdout.size, holdout.practice.size) == (ROWS, 0)
    holdout.close()
    with pytest.raises(Unaskable, match="rows kept in an engine are all sealed"):
        Holdout(rows, "y", practice=0.25, ledger=None)
    with pytest.raises(Unaskable, match="rows kept in an engine are all sealed"):
        Holdout(duckdb.read_parquet(str(tmp_path / "people.parquet")), practice=0.25, ledger=None)
    Holdout(tmp_path / "people.parquet", "y", practice=0.25, ledger=tmp_path / "ledger.db").close()
    with pytest.raises(Unaskable, match="rows kept in an engine have one use"):
        Holdout(rows, "y", ledger=tmp_path / "ledger.db")


def test_mapped_files_are_parted_on_request_only(tmp_path: Path) -> None:
    people()[["a", "team", "y"]].to_csv(tmp_path / "people.csv", index=False)
    assert _run("import", str(tmp_path / "people.csv"), str(tmp_path / "people.arrow")).exit_code == 0
    mapped = Holdout(tmp_path / "people.arrow", "y", ledger=None)
    assert mapped._sample.watch is not None
    assert mapped.practice.size == 0
    asked = Holdout(tmp_path / "people.arrow", "y", practice=0.25, ledger=None)
    assert (asked.practice.size, len(places(asked._sample))) == (250, 750)


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def data(tmp_path: Path) -> str:
    people().to_csv(tmp_path / "people.csv", index=False)
    return str(tmp_path / "people.csv")


def test_the_command_line_says_so_too(data: str) -> None:
    told = _run("ask", data, "a > 0", "--target", "y")
    assert told.exit_code == 0, told.output
    assert "250 of 1,000 rows, chosen at random, are for practice" in told.stderr.replace("\n", " ")
    assert "Sealed 750 rows as 'people', 250 more for practice" in told.stderr
    assert "practice rows: 0." in told.stdout
    again = json.loads(_run("ask", data, "a > 0.5", "--json").stdout)
    assert again["rows"] == 750
    assert again["guess"] == again["practice"]
    assert "practice" not in _run("ask", data, "a > 1").stderr
    (holdout,) = json.loads(_run("ledger", f"{data}.ledger.db", "--json").stdout)["holdouts"]
    assert holdout["practice"] == 250
    refused = _run("ask", data, "a > 2", "--practice", "0")
    assert refused.exit_code != 0
    assert "practice: sealed with 0.25" in refused.stderr


@pytest.mark.parametrize(
    ("options", "sealed"), [([], 1_000), (["--practice", "0.5"], 500), (["-y", "y", "--practice", "0"], 1_000)]
)
def test_shares_on_the_command_line(data: str, options: list[str], sealed: int) -> None:
    told = json.loads(_run("ask", data, "a > 0", "--json", *options).stdout)
    assert told["rows"] == sealed


def test_a_verified_card_counts_sealed_rows(data: str, tmp_path: Path) -> None:
    card = str(tmp_path / "card.json")
    assert _run("ask", data, "a > 0", "--practice", "0.25", "--card", card).exit_code == 0
    assert "750 rows + 250 for practice" in _run("verify", card, "--ledger", f"{data}.ledger.db").stdout


def test_memory_beside_a_ledger_may_have_other_terms(tmp_path: Path) -> None:
    Holdout(people(), "y", practice=0.25, ledger=tmp_path / "ledger.db").close()
    with pytest.raises(Mismatch, match="in another ledger"):
        Holdout(people(), "y", practice=0, ledger=tmp_path / "other.db")


def test_frames_of_pandas_keep_their_dtypes() -> None:
    frame = people().assign(kind=pd.Categorical(["x", "y"] * (ROWS // 2)))
    holdout = Holdout(frame, "y", practice=0.25, ledger=None)
    assert holdout._practice_rows is not None
    assert isinstance(holdout._practice_rows.features["kind"].dtype, pd.CategoricalDtype)
