from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from unworn.boards.board_config import BoardConfig
from unworn.boards.board_errors import InvalidBoard, UnknownBoard
from unworn.boards.files.board_toml import WORDS, parse_board_toml, read_board_toml, write_board_toml

CONFIG = BoardConfig(
    "bench", 'A "quoted" title\\ with ü', "id", "label", "f1", kind="text",
    options={"positive": "yes", "range": [0, 2.5], "shares": {"a b": 0.5}},
)  # fmt: skip


def test_what_is_written_is_read_back() -> None:
    assert parse_board_toml(write_board_toml(CONFIG)) == CONFIG
    full = BoardConfig(
        "b", "t", "i", "y", "accuracy", rule="mechanism", practice=0.0, mechanism={"name": "Ladder", "step": 0.01},
        asks=100, grader="grade.py:score", ledger="l.db", database="d.db",
    )  # fmt: skip
    assert parse_board_toml(write_board_toml(full)) == full
    numeric = BoardConfig("b", "t", "i", "y", "accuracy", rule="ladder", step=0.1, grader="numeric", tolerance=0.5)
    assert parse_board_toml(write_board_toml(numeric)) == numeric


def test_every_setting_has_a_line_of_words() -> None:
    text = write_board_toml(CONFIG)
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line and not line.startswith(("#", "[")) and not lines[number - 1].startswith("["):
            name = line.split(" = ")[0]
            if name in WORDS:
                assert lines[number - 1] == f"# {WORDS[name]}"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("practice = 0.5", "practise = 0.5", "line 29: there is no setting 'practise'; did you mean practice"),
        ("practice = 0.5", "practice = 5", "line 29: practice is a number"),
        ("practice = 0.5", 'practice = "half"', "line 29: practice is a number"),
        ("positive =", "positif =", r"line 42: there is no setting 'positif' of \[options\]; did you mean positive"),
        ('metric = "f1"', 'metric = "f11"', "line 23: metric: there is no metric 'f11'"),
        ('metric = "f1"', "", "lacks metric"),
        ('metric = "f1"', 'metric = "f1"\nstep = 0.1', "line 24: step is for the rule 'ladder'"),
        ('metric = "f1"', 'metric = "f1"\ntolerance = 0.1', "line 24: tolerance is for the grader 'numeric'"),
        ('metric = "f1"', "metric = f1", "is not valid TOML.*line 23"),
        ('metric = "f1"', 'metric = "f1"\nmetric = "f1"', "is not valid TOML"),
    ],
)
def test_a_mistake_is_told_with_its_line(before: str, after: str, words: str) -> None:
    text = write_board_toml(CONFIG)
    assert before in text
    with pytest.raises(InvalidBoard, match=words):
        parse_board_toml(text.replace(before, after))


def test_a_folder_without_the_file_is_no_board(tmp_path: Path) -> None:
    with pytest.raises(UnknownBoard, match="unworn board new"):
        read_board_toml(tmp_path)
    (tmp_path / "board.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidBoard, match="UTF-8"):
        read_board_toml(tmp_path)
    (tmp_path / "board.toml").write_bytes(b"#" * 2**21)
    with pytest.raises(InvalidBoard, match="larger"):
        read_board_toml(tmp_path)


def test_a_setting_of_a_table_has_its_line_where_it_is_written_with_a_dot() -> None:
    text = write_board_toml(replace(CONFIG, options={})).replace('metric = "f1"', 'options.positve = 1\nmetric = "f1"')
    with pytest.raises(InvalidBoard, match=r"line 23: there is no setting 'positve' of \[options\]; did you mean"):
        parse_board_toml(text)
