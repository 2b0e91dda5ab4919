from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unworn.boards.board_errors import InvalidBoard, UnknownBoard
from unworn.boards.holdout_folder import create_holdout_folder, open_holdout_folder
from unworn.queries import col, share


def rows(size: int = 2000) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({"age": rng.integers(18, 90, size), "churned": rng.integers(0, 2, size)})


def test_rows_are_sealed_in_a_folder_and_opened_again(tmp_path: Path) -> None:
    data = tmp_path / "people.parquet"
    rows().write_parquet(data)
    made = create_holdout_folder(tmp_path / "people", data, target="churned", confidence=0.9, max_width=0.4)
    answer = made.ask(share(col("age") > 50), guess=0.5)
    made.close()
    again = open_holdout_folder(tmp_path / "people")
    assert (again.name, again.confidence, again.max_width) == ("people", 0.9, 0.4)
    assert (again.size, again.practice.size) == (1500, 500)
    assert again.ask(share(col("age") > 50), guess=0.1).index == answer.index
    again.close()
    assert stat.S_IMODE((tmp_path / "people" / "rows.parquet").stat().st_mode) == 0o600
    with pytest.raises(InvalidBoard, match="already"):
        create_holdout_folder(tmp_path / "people", data)


def test_a_frame_a_mechanism_and_rows_left_where_they_are(tmp_path: Path) -> None:
    made = create_holdout_folder(tmp_path / "one", rows(), practice=0, mechanism={"name": "Rounding", "cells": 20})
    assert type(made.mechanism).__name__ == "Rounding"
    made.close()
    open_holdout_folder(tmp_path / "one").close()
    data = tmp_path / "other.parquet"
    rows(2500).write_parquet(data)
    create_holdout_folder(tmp_path / "two", data, practice=0, copy=False).close()
    assert not (tmp_path / "two" / "rows.parquet").exists()
    open_holdout_folder(tmp_path / "two").close()


def test_mistakes_are_told_with_their_lines(tmp_path: Path) -> None:
    create_holdout_folder(tmp_path / "people", rows(), practice=0).close()
    path = tmp_path / "people" / "holdout.toml"
    text = path.read_text()
    for before, after, words in (
        ("confidence =", "confidense =", "line 13: there is no setting 'confidense'; did you mean confidence"),
        ("confidence = 0.95", "confidence = 95", "line 13: confidence is a number between 0 and 1"),
        ("data =", "#", "lacks data"),
        ("data =", "data", "not valid TOML"),
    ):
        assert before in text
        path.write_text(text.replace(before, after))
        with pytest.raises(InvalidBoard, match=words):
            open_holdout_folder(tmp_path / "people")
    with pytest.raises(UnknownBoard, match="unworn holdout new"):
        open_holdout_folder(tmp_path)
    with pytest.raises(InvalidBoard, match="no file"):
        create_holdout_folder(tmp_path / "none", tmp_path / "none.csv")
