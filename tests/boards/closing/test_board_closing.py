from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from tests.boards.small_boards import make_board, right_so_often
from unworn.boards.board import Board
from unworn.boards.board_errors import BoardClosed
from unworn.boards.closing import board_closing
from unworn.boards.closing.board_summary import load_summary, verify_summary
from unworn.errors import Refused, Tampered
from unworn.record.certificate import Certificate


def test_a_closed_board_leaves_final_numbers_cards_and_a_signed_summary(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", title="<b>Bench</b>")
    with board:
        told = [board.submit(right_so_often(labels, 0.6 + 0.1 * k, k), team=f"<i>{k}") for k in range(4)]
        summary = board.close_board(top=2)
        assert [each.team for each in summary.finals] == ["<i>3", "<i>2"]
        for final in summary.finals:
            own = next(each for each in told if each.id == final.submission)
            assert own.low is not None
            assert own.high is not None
            assert own.low <= final.low <= final.value <= final.high <= own.high
            assert final.high - final.low < own.high - own.low
        assert load_summary(summary.path) == summary.document
        cards = sorted((summary.folder / "cards").iterdir())
        assert len(cards) == 4 + 2
        for path in cards:
            Certificate.load(path).verify()
        page = summary.page.read_text()
        assert "<i>3" not in page
        assert "<b>" not in page
        assert "&lt;i&gt;3" in page
        assert "<script" not in page
        board.holdout.verify()
        board.standings()
        assert board.standings().closed


def test_nothing_is_taken_after_the_end(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench")
    sent = right_so_often(labels, 0.8, 1)
    with board:
        told = board.submit(sent, team="a")
        summary = board.close_board()
        asked = board.holdout.meter.asked
    with Board(tmp_path / "bench") as again:
        assert again.closed
        with pytest.raises(BoardClosed, match="retired"):
            again.submit(right_so_often(labels, 0.7, 2), team="a")
        assert again.submit(sent, team="a") == told  # what was told stays told
        assert again.close_board(top=5).document["finals"] == summary.document["finals"]
        assert again.holdout.meter.asked == asked
        assert again._table.drafts() == []


def test_a_board_without_submissions_can_be_closed(tmp_path: Path) -> None:
    board, _ = make_board(tmp_path / "bench")
    with board:
        assert board.close_board().finals == ()
        assert load_summary(board.folder / "final" / "summary.json")["submissions"] == 0
        with pytest.raises(Refused, match="at least 1"):
            board.close_board(top=0)


def test_closing_goes_on_where_it_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board, labels = make_board(tmp_path / "bench")
    with board, monkeypatch.context() as patched:
        board.submit(right_so_often(labels, 0.8, 1), team="a")

        def cut_off(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(board_closing, "_write", cut_off)
        with pytest.raises(KeyboardInterrupt):
            board.close_board()
    with Board(tmp_path / "bench") as again:
        assert again.closed
        assert len(again.close_board().finals) == 1
        assert again.holdout.meter.asked == 2


@pytest.mark.parametrize("settings", [{"rule": "ladder"}, {"rule": "ladder", "step": 0.01}, {"metric": "f1_macro"}])
def test_other_boards_close_too(tmp_path: Path, settings: dict[str, object]) -> None:
    board, labels = make_board(tmp_path / "bench", **settings)
    with board:
        for k, share in enumerate((0.6, 0.75, 0.9)):
            board.submit(right_so_often(labels, share, k), team=f"t{k}")
        summary = board.close_board()
        assert summary.finals
        assert all(each.is_difference == (settings == {"rule": "ladder"}) for each in summary.finals)
        if settings == {"rule": "ladder"}:
            assert all(each.value < 0 for each in summary.finals)  # less than the best
        board.holdout.verify()


def test_a_changed_summary_is_found_out(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench")
    with board:
        board.submit(right_so_often(labels, 0.8, 1), team="a")
        document = board.close_board().document
    for change in ("value", "team", "key", "terms", "signature"):
        forged = copy.deepcopy(document)
        if change == "value":
            forged["finals"][0]["value"] = 0.99
        elif change == "team":
            forged["standings"]["rows"][0]["team"] = "b"
        elif change == "key":
            forged["public_key"] = "00" * 32
        elif change == "terms":
            forged["terms"]["body"]["name"] = "other"
        else:
            forged["signature"] = "00" * 64
        with pytest.raises(Tampered):
            verify_summary(forged)
    path = tmp_path / "summary.json"
    path.write_text(json.dumps({"format": "something else"}))
    with pytest.raises(Tampered):
        load_summary(path)
