from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.boards.small_boards import make_board, right_so_often
from unworn.boards.board_promise import BoardPromise


def promise(rows: int, submissions: int = 1000, surprises: int = 5) -> BoardPromise:
    return BoardPromise.of(rows, rows, submissions, surprises, 0.95, 1, "practice-and-check")


def test_more_rows_promise_more_and_more_surprises_less() -> None:
    few, many = promise(1000), promise(100_000)
    assert many.width < few.width
    assert few.width < few.width_with_surprises
    assert few.fresh < promise(1000, surprises=0).final < few.final
    assert promise(1000, submissions=100_000).width < 1.2 * few.width  # agreement is nearly free


def test_it_is_said_in_words_with_its_numbers() -> None:
    told = promise(5000)
    words = str(told)
    for number in ("5,000 rows check", "1,000 submissions", f"± {told.width:.3f}", f"± {told.fresh:.3f}", "95 %"):
        assert number in words
    assert "That is wide" in str(promise(300))
    assert told.to_json()["words"] == told.words


def test_a_board_promises_by_its_own_rows(tmp_path: Path) -> None:
    board, _ = make_board(tmp_path / "bench", metric="f1_macro")
    with board:
        told = board.promise(submissions=100, surprises=2)
        assert (told.rows, told.practice_rows, told.submissions, told.surprises, told.parts) == (1000, 1000, 100, 2, 2)
        assert "made of 2 questions" in str(told)
        assert "after 2 of them" in str(told)
        assert "of them" not in board.promise(submissions=100, surprises=0).words[2]  # after none of them
    loss, _ = make_board(tmp_path / "loss", metric="mae", range=(0, 50), seed=2)
    with loss:
        told = loss.promise()
        assert told.span == 50.0
        assert f"± {told.width * 50:.3g} at most" in str(told)
    ladder, _ = make_board(tmp_path / "ladder", rule="ladder", seed=1)
    with ladder:
        assert "no practice rows" in str(ladder.promise())


def test_surprises_of_many_parts_cost_what_they_count() -> None:
    """One per 20 nats: five of them are not a surprise of every part each."""
    few, many = (
        BoardPromise.of(10_000, 10_000, 1000, 5, 0.95, parts, "practice-and-check", is_mean=False) for parts in (1, 50)
    )
    assert few.width_with_surprises < many.width_with_surprises < 2 * few.width_with_surprises


@pytest.mark.parametrize("is_told", [True, False])
def test_a_lead_that_a_ladder_promises_to_tell_is_told_and_a_smaller_one_is_not(is_told: bool, tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "ladder", rule="ladder", seed=int(is_told))
    with board:
        told = board.promise(submissions=1, surprises=0)
        assert told.lead is not None
        assert f"a lead of {told.lead:.3f} is announced" in str(told)
        assert told.lead < told.width < 1
        rows, differing = len(labels), len(labels) // 10
        wins = math.ceil((told.lead * rows + differing) / 2) - 3 * (not is_told)  # promises round down
        place = np.arange(rows)
        first = np.where(place < wins, 1 - labels, labels)
        second = np.where((wins <= place) & (place < differing), 1 - labels, labels)
        board.submit({"id": place, "prediction": first}, team="a")
        answer = board.submit({"id": place, "prediction": second}, team="b")
        assert answer.source == ("better" if is_told else "not better")


@pytest.mark.parametrize(
    "settings",
    [
        {"rule": "ladder", "step": 0.02},
        {"rule": "ladder", "step": 0.02, "metric": "mae", "range": (0, 10)},
        {"rule": "mechanism", "mechanism": {"name": "BoundedNoise"}, "asks": 50},
        {"rule": "mechanism", "mechanism": {"name": "Rounding"}},
    ],
)
def test_other_rules_promise_as_wide_as_they_answer(settings: dict[str, Any], tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", **settings)
    with board:
        told = board.promise(submissions=1, surprises=0)
        near = right_so_often(labels, 0.5, seed=1)
        if told.span > 1:
            near["prediction"] = near["prediction"] * 10.0
        answer = board.submit(near, team="a")
        assert answer.low is not None
        assert answer.high is not None
        assert told.final is None
        assert (answer.high - answer.low) / 2 / told.span == pytest.approx(told.width, rel=0.15)
        assert "near one half" in str(told)


def test_no_more_submissions_are_reckoned_with_than_may_be_asked(tmp_path: Path) -> None:
    board, _ = make_board(tmp_path / "bench", asks=100)
    with board:
        assert board.promise(1000).submissions == 100
        assert "After 100 submissions" in str(board.promise(1000))


@pytest.mark.parametrize(
    ("practice", "settings"),
    [(0.5, {}), (0.1, {}), (0.1, {"metric": "mae", "range": (0, 1)}), (0.5, {"metric": "brier", "positive": 1})],
)
def test_what_is_promised_is_not_narrower_than_what_is_told(
    tmp_path: Path, practice: float, settings: dict[str, Any]
) -> None:
    board, labels = make_board(tmp_path / "bench", practice=practice, **settings)
    with board:
        told = board.submit(right_so_often(labels, 0.5, seed=1), team="a")
        assert told.source == "guess"
        assert told.high is not None
        assert told.low is not None
        promised = board.promise(submissions=1, surprises=0).width
        assert 0.95 * promised < (told.high - told.low) / 2 < 1.005 * promised


def test_fewer_practice_rows_promise_less_and_losses_less_than_shares() -> None:
    def width(practice_rows: int, *, zero_one: bool = True) -> BoardPromise:
        return BoardPromise.of(2000, practice_rows, 100, 0, 0.95, 1, "practice-and-check", zero_one=zero_one)

    assert width(2000).width < width(500).width < width(100).width
    share, loss = width(2000), width(2000, zero_one=False)
    assert (share.width < loss.width, share.final < loss.final, share.fresh < loss.fresh) == (True, True, True)


def test_a_metric_that_is_no_mean_is_not_promised_the_width_of_one(tmp_path: Path) -> None:
    for place, metric in enumerate(("f1", "precision", "roc_auc")):
        board, _ = make_board(tmp_path / metric, metric=metric, positive=1, seed=place)
        with board:
            told = board.promise()
            assert not told.is_mean
            assert "its own intervals are usually wider" in str(told)
            assert "a score near one half" not in str(told)
