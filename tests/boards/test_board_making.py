"""A board is made only if it can be submitted to, answered and climbed: else it says so in words, and seals nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.boards.small_boards import make_board
from unworn.boards.board import Board
from unworn.boards.board_errors import InvalidBoard

IDS = [f"r{place}" for place in range(400)]
RNG = np.random.default_rng(3)
WORDS = np.where(RNG.random(400) < 0.5, "yes", "no")
COINS, THREE, SHARES = RNG.integers(0, 2, 400), RNG.integers(0, 3, 400), RNG.random(400)


def mechanism(name: str, **parameters: Any) -> dict[str, Any]:
    return {"rule": "mechanism", "mechanism": {"name": name, **parameters}, "asks": 50}


@pytest.mark.parametrize(
    ("labels", "settings", "words"),
    [
        (SHARES, {"metric": "accuracy"}, "the right answers could not be submitted: accuracy counts labels"),
        (THREE, {"metric": "f1_macro", "classes": [0, 1]}, "labels that are none of the classes 0, 1: 2"),
        (THREE, {"metric": "top_k_accuracy", "k": 1, "classes": ["0", "1"]}, "none of the classes 0, 1: 2"),
        (THREE, {"metric": "log_loss", "range": [0, 5], "classes": [1, 2]}, "none of the classes 1, 2: 0"),
        (COINS, {"metric": "f1", "positive": 7}, "positive is 7, and no label is: they are 0, 1"),
        (WORDS, {"metric": "f1", "positive": "Yes"}, "positive is 'Yes', and no label is: did you mean yes"),
        (WORDS, {"metric": "f1"}, r"f1 is about one class against the rest: say which by positive= \('no', 'yes'\)"),
        (WORDS, {"metric": "log_loss"}, "log_loss is about one class against the rest"),
        (2 * COINS, {"metric": "recall"}, r"recall is about one class against the rest: .*\(0, 2\)"),
        (["nan", *map(str, COINS[1:])], {}, "row 1: column label: 'nan' is not a finite number"),
        (["N/A", *map(str, COINS[1:])], {}, "row 1: column label: 'N/A' is not a number"),
        (COINS, {"tolerance": 1.0}, "tolerance is for the grader 'numeric'"),
        (COINS, {"step": 0.1}, "step is for the rule 'ladder'"),
        (COINS, {"metric": "accuracy", "pools": 3}, "200 practice rows cannot be in 3 pools"),
        (COINS, {"rule": "ladder", "pools": 2}, "0 practice rows cannot be in 2 pools"),
        (COINS, mechanism("Thresholdout"), "checks a guess against the rows"),
        (COINS, mechanism("PrivateGuessAndCheck"), "checks a guess against the rows"),
        (THREE, {"metric": "f1_macro", **mechanism("AboveThreshold", threshold=0.6)}, "only 1 of 1 tops"),
        (THREE, {"metric": "f1_macro", **mechanism("Ladder", step=0.01)}, "one submission at a time"),
        (COINS, {"metric": "accuracy", "surprise_per_team": 3}, "no setting 'surprise_per_team'; did you mean surp"),
        (COINS, {"metric": "f1", "positve": 1}, "no setting 'positve'; did you mean positive"),
        (["0,5"] * 400, {"metric": "mae", "range": [0, 1]}, "row 1: column label: '0,5' is not a number"),
    ],
)
def test_what_could_not_work_is_not_made(labels: Any, settings: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidBoard, match=words):
        Board.create(tmp_path / "bench", {"id": IDS, "label": labels}, id="id", target="label", **settings)
    home = tmp_path / "bench"
    assert not (home / "board.toml").exists()
    assert not (home / "labels.sealed").exists()
    assert not (home / "ledger.db").exists()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def score(p, r): return 1.0", "there is no function nosuch in it"),
        ("def nosuch(p, r): raise KeyError(r)", "exit code 1: KeyError: "),
        ("def nosuch(p, r): return 2", "a score outside of"),
    ],
)
def test_a_grader_is_tried_on_right_answers_before_anything_is_sealed(code: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "grade.py").write_text(code)
    frame = {"id": IDS, "label": [f"text {place}" for place in range(400)]}
    named = f"{tmp_path}/grade.py:nosuch"
    with pytest.raises(InvalidBoard, match=words):
        Board.create(tmp_path / "bench", frame, id="id", target="label", grader=named)
    assert not (tmp_path / "bench" / "ledger.db").exists()


def test_classes_are_named_as_they_are_typed_and_meant_as_the_labels_have_them(tmp_path: Path) -> None:
    truths = np.where(RNG.random(400) < 0.5, "True", "False")
    for place, (labels, typed, meant) in enumerate(
        [(1 - COINS, "1", 1), (truths, "true", True), (WORDS, "yes", "yes")]
    ):
        frame = {"id": IDS, "label": labels}
        made = Board.create(tmp_path / str(place), frame, id="id", target="label", metric="f1", positive=typed)
        with made as board:
            assert board.config.options["positive"] == meant
            assert board.submit({"id": IDS, "prediction": labels}, team="red").practice == 1.0
            assert board.label_words.endswith("(2 different)")


def test_a_board_keeps_its_name(tmp_path: Path) -> None:
    Board.create(tmp_path / "bench", {"id": IDS, "label": COINS}, id="id", target="label").release()
    settings = tmp_path / "bench" / "board.toml"
    settings.write_text(settings.read_text().replace('name = "bench"', 'name = "other"'))
    with pytest.raises(InvalidBoard, match="name is 'other', and the board was made with 'bench'"):
        Board(tmp_path / "bench")


def test_a_folder_that_is_a_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "bench").write_text("")
    with pytest.raises(InvalidBoard, match="bench is a file: a board is a folder"):
        Board.create(tmp_path / "bench", {"id": IDS, "label": COINS}, id="id", target="label")


def test_a_second_board_of_the_same_labels_is_told_where_the_first_is(tmp_path: Path) -> None:
    frame = {"id": IDS, "label": COINS}
    Board.create(tmp_path / "one", frame, id="id", target="label").release()
    with pytest.raises(InvalidBoard, match=r"one/ledger.db.\n  A board of its own would be a second budget"):
        Board.create(tmp_path / "two", frame, id="id", target="label")


@pytest.mark.parametrize("name", ["Thresholdout", "PrivateGuessAndCheck"])
def test_with_practice_rows_mechanisms_that_need_a_guess_have_one(name: str, tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", practice=0.5, **mechanism(name))
    with board:
        assert board.submit({"id": np.arange(len(labels)), "prediction": labels}, team="red").status == "checked"


def test_a_log_loss_of_many_classes_has_a_column_for_each(tmp_path: Path) -> None:
    frame = {"id": IDS, "label": THREE}
    with Board.create(tmp_path / "bench", frame, id="id", target="label", metric="log_loss", range=[0, 5]) as board:
        assert board.config.options["classes"] == [0, 1, 2]
        near = 0.8 * np.eye(3)[THREE] + 0.2 / 3
        sent = {"id": IDS, **{str(label): near[:, label] for label in range(3)}}
        assert board.submit(sent, team="red").practice == pytest.approx(-np.log(0.8 + 0.2 / 3), abs=1e-9)


def test_a_log_loss_of_two_classes_has_one_probability(tmp_path: Path) -> None:
    frame = {"id": IDS, "label": COINS}
    with Board.create(tmp_path / "bench", frame, id="id", target="label", metric="log_loss", range=[0, 5]) as board:
        assert "classes" not in board.config.options
        assert board.submit({"id": IDS, "prediction": [0.5] * 400}, team="red").practice == pytest.approx(np.log(2))
