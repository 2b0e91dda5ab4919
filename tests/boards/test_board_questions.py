"""Graders of text on whole boards: what is right, and what a grader that fails costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn.boards.board import Board
from unworn.boards.board_errors import InvalidBoard
from unworn.boards.graders.own_grader import OwnGrader
from unworn.errors import Exhausted

ROWS = 600
ANSWERS = [f"The Answer {k % 7}!" for k in range(ROWS)]


def board_of(folder: Path, answers: list[str], **settings: Any) -> Board:
    return Board.create(folder, {"id": np.arange(ROWS), "answer": answers}, id="id", target="answer", **settings)


def score(board: Board, texts: list[str], team: str = "a") -> Any:
    return board.submit({"id": np.arange(ROWS), "prediction": texts}, team=team)


def test_exact_and_normalised(tmp_path: Path) -> None:
    lower = [text.lower() for text in ANSWERS]
    with board_of(tmp_path / "exact", ANSWERS, grader="exact") as board:
        assert score(board, ANSWERS).practice == 1.0
        assert score(board, lower).practice == 0.0
        assert score(board, [""] * ROWS).practice == 0.0
    with board_of(tmp_path / "normalised", [f"{text} " for text in ANSWERS], grader="normalised") as board:
        assert score(board, [text.replace("the ", "") for text in lower]).practice == 1.0


def test_multiple_choice(tmp_path: Path) -> None:
    choices = ["A", "B", "C"] * (ROWS // 3)
    with board_of(tmp_path / "quiz", choices, grader="multiple choice") as board:
        assert score(board, [f"The answer is ({letter.lower()})." for letter in choices]).practice == 1.0
        assert score(board, ["no idea"] * ROWS).practice == 0.0
    with pytest.raises(InvalidBoard, match="say nothing to the grader"):
        board_of(tmp_path / "other", ["none"] * ROWS, grader="multiple choice")


def test_numbers_within_a_tolerance(tmp_path: Path) -> None:
    numbers = [str(100 + k) for k in range(ROWS)]
    with board_of(tmp_path / "numbers", numbers, grader="numeric", tolerance=0.5) as board:
        assert score(board, [f"about ${int(text)}.40" for text in numbers]).practice == 1.0
        assert score(board, [f"{int(text)}.60" for text in numbers]).practice == 0.0
        assert score(board, ["none"] * ROWS).practice == 0.0
        board.holdout.verify()
    with board_of(tmp_path / "shares", numbers, grader="numeric", relative_tolerance=0.1) as board:
        assert score(board, [str(1.05 * int(text)) for text in numbers]).practice == 1.0
    with pytest.raises(InvalidBoard, match="say nothing to the grader"):
        board_of(tmp_path / "none", ["none", *numbers[1:]], grader="numeric")


GRADER = """
def score(prediction, reference):
    if prediction == "crash":
        raise SystemExit(1)
    if prediction == "hang":
        while True:
            pass
    return 0.5 * (prediction == reference) + 0.25 * (prediction[:3] == reference[:3])
"""


def test_a_grader_of_ones_own_and_what_its_failures_cost(tmp_path: Path) -> None:
    (tmp_path / "grade.py").write_text(GRADER)
    settings = {"grader": f"{tmp_path / 'grade.py'}:score", "grader_seconds": 5.0}
    with board_of(tmp_path / "own", ANSWERS, **settings) as board:
        assert board.config.grader == "grade.py:score"
        whole = score(board, ANSWERS)
        assert (whole.practice, whole.status) == (0.75, "checked")
        for texts, words in ((["crash"] * ROWS, "exit code 1"), (["hang"] * ROWS, "longer than 5 s")):
            failed = score(board, texts)
            assert (failed.status, failed.indexes, failed.practice) == ("failed", (), None)
            assert words in failed.why
        assert board.holdout.meter.asked == 1
        # On check rows alone: an entry like any other, which does not say what failed.
        practice = set(board.holdout._practice_rows.origin.tolist())  # type: ignore[union-attr]
        checks = [int(name) for place, name in enumerate(board.ids) if place not in practice]
        texts = list(ANSWERS)
        texts[checks[0]] = "crash"
        failed = score(board, texts)
        assert (failed.status, failed.value, failed.surprise) == ("failed", None, True)
        assert len(failed.indexes) == 1
        assert "exit code" not in str(failed.to_json())
        assert score(board, texts) == failed
        assert board.holdout.meter.asked == 2
        assert board.spending()[0].surprises == 1
        assert score(board, [f"{text}x" for text in ANSWERS]).status == "checked"
        board.holdout.verify()
    (tmp_path / "own" / "grade.py").write_text(GRADER.replace("0.25", "0.5"))
    with pytest.raises(InvalidBoard, match="grader_code"):
        Board(tmp_path / "own")


@pytest.mark.parametrize("settings", [{"surprises_per_team": 0}, {"asks": 1}])
def test_where_no_entry_follows_the_grader_sees_no_check_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    """How long it took, or that it hung, would tell of them, and nobody would have paid."""
    (tmp_path / "grade.py").write_text(GRADER)
    settings = {"grader": f"{tmp_path / 'grade.py'}:score", "practice": 0.25, **settings}
    with board_of(tmp_path / "own", ANSWERS, **settings) as board:
        if "asks" in settings:
            assert score(board, ANSWERS).status == "checked"
        graded: list[int] = []
        grade = OwnGrader.grade

        def watch(self: OwnGrader, predictions: list[Any], references: list[Any]) -> Any:
            graded.append(len(references))
            return grade(self, predictions, references)

        monkeypatch.setattr(OwnGrader, "grade", watch)
        others = [f"{text}x" for text in ANSWERS]
        if "asks" in settings:
            with pytest.raises(Exhausted):
                score(board, others)
        else:
            assert score(board, others).status == "unchecked"
        assert max(graded) == board.practice_size  # and a few of the practice rows, on which code is tried


def test_a_graded_question_is_known_by_predictions_and_code_alone(tmp_path: Path) -> None:
    prints = set()
    for place, answers in enumerate((ANSWERS, ANSWERS[::-1])):
        (tmp_path / "grade.py").write_text(GRADER)
        with board_of(tmp_path / f"own{place}", answers, grader=f"{tmp_path / 'grade.py'}:score") as board:
            question = board.question(board.validate({"id": np.arange(ROWS), "prediction": ["x"] * ROWS}))
            before = question.fingerprint  # type: ignore[union-attr]
            board.practice(question)
            assert question.fingerprint == before  # type: ignore[union-attr]
            prints.add(before)
    assert len(prints) == 1


def test_a_grader_that_was_mended_after_a_failed_attempt_is_not_the_old_one(tmp_path: Path) -> None:
    grader, home = tmp_path / "grade.py", tmp_path / "own"
    grader.write_text(GRADER)
    home.mkdir()
    (home / "grade.py").write_text(GRADER.replace("0.25", "0.5"))
    with pytest.raises(InvalidBoard, match=r"there is another grade\.py"):
        board_of(home, ANSWERS, grader=f"{grader}:score")
    (home / "grade.py").write_text(GRADER)
    with board_of(home, ANSWERS, grader=f"{grader}:score") as board:
        assert board.config.grader == "grade.py:score"
