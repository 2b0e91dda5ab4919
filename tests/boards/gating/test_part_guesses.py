"""What a gate expects of the parts of an F1: the gain without its luck, so that luck is no surprise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.boards.small_boards import make_board, overfitted, right_so_often
from unworn.boards.board import Board
from unworn.boards.gate import Gate
from unworn.boards.gating.gate_climb import Climb
from unworn.boards.gating.gate_judge import HoldoutJudge
from unworn.boards.gating.gate_questions import GateQuestions
from unworn.boards.gating.part_guesses import guess_parts
from unworn.queries.composite import Composite
from unworn.record.derived_answer import DerivedAnswer

METRICS: list[tuple[str, dict[str, Any]]] = [
    ("f1", {"positive": 1}),
    ("recall", {"positive": 1}),
    ("f1_macro", {"classes": [0, 1]}),
    ("roc_auc", {"positive": 1}),
]


def judge_of(board: Board) -> tuple[HoldoutJudge, GateQuestions]:
    questions = GateQuestions(board)
    return HoldoutJudge(board.holdout, questions.score, questions.gain, by="blue"), questions


def guesses_of(board: Board) -> list[float | None]:
    """What each entry was compared with."""
    desk = board.holdout._desk
    records = [desk.answer(index).certificate.record for index in range(1, board.holdout.meter.asked + 1)]
    return [record.offer.payload.guess for record in records]


@pytest.mark.parametrize(("metric", "options"), METRICS)
def test_the_parts_make_the_gain_that_is_expected(tmp_path: Path, metric: str, options: dict[str, Any]) -> None:
    board, labels = make_board(tmp_path / "bench", metric=metric, **options)
    with board:
        _, questions = judge_of(board)
        before, after = (board.validate(right_so_often(labels, share, 3)) for share in (0.6, 0.7))
        gain = questions.gain(after, before)
        assert isinstance(gain, Composite)
        for expected in (0.0, 0.02):
            told = guess_parts(board.holdout, gain, gain, questions.score(after), questions.score(before), expected)
            assert gain.value(told["guess"]) == pytest.approx(expected, abs=0.005)


def test_luck_of_an_f1_is_no_guess_of_its_milestones(tmp_path: Path) -> None:
    """Whoever is right on every practice row by luck alone is expected to be where they began."""
    board, labels = make_board(tmp_path / "bench", metric="f1", positive=1)
    with board:
        judge, questions = judge_of(board)
        before, after = board.validate(right_so_often(labels, 0.5, 1)), board.validate(overfitted(board, labels, 2))
        assert board.practice(questions.score(after)).value == 1.0
        judge.check(after, before, 0.0, 2)
        start = board.holdout.practice.ask(questions.score(before).questions[0]).value  # type: ignore[union-attr]
        assert guesses_of(board) == pytest.approx([start, start])


def test_what_was_told_of_the_state_before_is_where_a_gain_is_expected_from(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", metric="f1", positive=1)
    with board:
        judge, questions = judge_of(board)
        before, after = board.validate(overfitted(board, labels, 2)), board.validate(right_so_often(labels, 0.9, 1))
        answer = board.holdout.ask(questions.score(before))  # a surprise: practice says 1
        assert isinstance(answer, DerivedAnswer)
        told = answer.parts[0]
        gain = questions.gain(before, after)
        assert isinstance(gain, Composite)
        seen = [board.holdout.practice.ask(part).value for part in gain.questions]
        found = guess_parts(board.holdout, gain, gain, questions.score(before), questions.score(after), 0.0)
        assert found["guess"] == pytest.approx([seen[1], seen[1]])
        up = questions.gain(after, before)  # by practice rows it is worse, so nothing is known to be luck
        assert isinstance(up, Composite)
        down = guess_parts(board.holdout, up, up, questions.score(after), questions.score(before), 0.1)
        assert down["guess"][0] == pytest.approx(told.value + seen[1] - 1.0)
        assert judge.check(after, before, 0.1, 2).high > 0.0


@pytest.mark.parametrize("metric", ["neg_mae", "mae"])
def test_luck_is_no_guess_of_a_score_whose_parts_are_not_those_of_its_gain(tmp_path: Path, metric: str) -> None:
    """A negative loss and a loss in a subgroup are compared row by row, and scored by parts of their own."""
    more: dict[str, Any] = {"where": "label >= 0"} if metric == "mae" else {}
    board, labels = make_board(tmp_path / "bench", metric=metric, range=(0, 1), **more)
    with board:
        _, questions = judge_of(board)
        before, after = (
            board.validate(each) for each in (right_so_often(labels, 0.5, 1), overfitted(board, labels, 2))
        )
        start, kept, gain = questions.score(before), questions.score(after), questions.gain(after, before)
        assert isinstance(kept, Composite)
        told = guess_parts(board.holdout, kept, gain, kept, start, 0.0)
        assert kept.value(told["guess"]) == pytest.approx(board.practice(start).value)


def test_a_lane_ends_where_its_score_is_expected_beyond_the_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is expected of a score is an estimate, and may be more than there can be."""
    board, labels = make_board(tmp_path / "bench", metric="accuracy")
    with board:
        gate = Gate(board, "blue")
        gate.propose(right_so_often(labels, 0.9, 1))
        gate.propose(right_so_often(labels, 0.98, 2))
        monkeypatch.setattr(Climb, "expected_gain", 0.2)
        claim = gate.finish()
        assert claim.score_low is not None
        assert 0.9 < claim.score_low < claim.score_high <= 1.0
