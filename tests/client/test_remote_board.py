"""A board behind a wall: the verbs of a board, its types, its errors; and nothing believed without its signature."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

from tests.client.real_server import RunningServer, make_labels, predict, serve_folder
from unworn import Mismatch, connect
from unworn.boards.board import Board
from unworn.boards.board_errors import InvalidSubmission, RequestReused
from unworn.boards.submission import Submission
from unworn.client.connecting import open_connection
from unworn.client.remote_board import RemoteBoard
from unworn.client.transport.problem_errors import AccountRefused, SignInNeeded, UnknownAddress
from unworn.errors import Tampered, UnwornError

LABELS = make_labels()


def board_of(server: RunningServer, team: str = "blue") -> RemoteBoard:
    board = connect(server.board, server.tokens[team])
    assert isinstance(board, RemoteBoard)
    return board


def test_submit_standings_cards(server: RunningServer, tmp_path: Path) -> None:
    board = board_of(server)
    assert (board.team, board.name, board.closed) == ("blue", "bench", False)
    assert sorted(board.ids) == sorted(LABELS["id"])
    assert (board.size, board.practice_size) == (2_000, 2_000)
    predictions = predict(LABELS, 0.8, seed=3)
    path = tmp_path / "preds.csv"
    pd.DataFrame(predictions).to_csv(path, index=False)
    assert board.validate(path).rows == 4_000
    first = board.submit(path, name="first", message="eight in ten")
    assert first.status == "checked"
    assert first.low is not None
    assert first.high is not None
    assert first.low < 0.8 < first.high
    again = [board.submit(predictions), board.submit(pd.DataFrame(predictions)), board.submit(path.read_bytes())]
    assert {each.id for each in again} == {first.id}  # the same predictions, however they come, are free
    assert board.submission(first.id) == first
    assert board.submissions() == [first]
    other = board_of(server, "red").submit(predict(LABELS, 0.6, seed=4))
    assert board.submissions() == [first]
    standings = board.standings()
    assert [row.team for row in standings.rows] == ["blue", "red"]
    assert [row.rank for row in standings.rows] == [1, 2]
    cards = board.cards(first.id)
    assert [card.entry.index for card in cards] == list(first.indexes)
    assert cards[0].record.published.value == first.value
    cards[0].save(tmp_path / "card.json")
    spent = board.own_spending()
    assert (spent.team, spent.submissions, spent.surprises) == ("blue", 1, 0)
    assert len(board_of(server, "olga").submissions()) == 2
    assert board_of(server, "olga").submissions("red") == [other]
    assert {each.team for each in board_of(server, "olga").spending()} == {"blue", "red"}
    assert board.promise().rows == 2_000
    board.release()


def test_the_same_predictions_of_two_teams_share_an_entry(server: RunningServer) -> None:
    predictions = predict(LABELS, 0.7, seed=11)
    one, other = (board_of(server, team).submit(predictions) for team in ("blue", "red"))
    assert one.indexes == other.indexes
    assert one.id != other.id


def test_errors_are_those_of_a_board(server: RunningServer) -> None:
    board = board_of(server)
    with pytest.raises(InvalidSubmission, match="line 3") as refusal:
        board.submit(b"id,prediction\nr0,1\nr0,1\n")
    assert refusal.value.numbers["problems"]
    with pytest.raises(InvalidSubmission):
        board.validate(b"id,wrong\nr0,1\n")
    with pytest.raises(UnwornError):
        board.submission("0" * 16)
    with pytest.raises(Mismatch, match="speaks for the team"):
        board.submit(predict(LABELS, 0.6, seed=5), team="red")
    with pytest.raises(AccountRefused):
        board.spending()
    with pytest.raises(AccountRefused):
        board.close_board()


def test_who_may_not_come_in(server: RunningServer) -> None:
    with pytest.raises(SignInNeeded, match="unworn login"):
        connect(server.board).standings()
    token = "unw_" + "0" * 40
    with pytest.raises(SignInNeeded) as refusal:
        connect(server.board, token).standings()
    assert token not in str(refusal.value)
    with pytest.raises((AccountRefused, UnknownAddress)):
        connect(f"{server.url}/boards/other", server.tokens["blue"]).standings()
    with pytest.raises((AccountRefused, UnknownAddress)):
        connect(server.holdout, server.tokens["blue"]).ask("age > 65")


def test_a_request_of_ones_own_is_answered_once(server: RunningServer) -> None:
    board = board_of(server)
    first = board.submit(predict(LABELS, 0.65, seed=6), request="loop-7")
    assert board.submit(predict(LABELS, 0.65, seed=6), request="loop-7") == first
    with pytest.raises(RequestReused):
        board.submit(predict(LABELS, 0.65, seed=7), request="loop-7")


class Meddler(httpx.BaseTransport):
    """Passes everything on, and changes what comes back from some path."""

    def __init__(self, ending: str, change: Any) -> None:
        self.inner, self.ending, self.change = httpx.HTTPTransport(), ending, change

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reply = self.inner.handle_request(request)
        reply.read()
        if not request.url.path.endswith(self.ending):
            return reply
        return httpx.Response(reply.status_code, json=self.change(json.loads(reply.content)))

    def close(self) -> None:
        self.inner.close()


def test_a_better_score_on_the_way_is_found_out(server: RunningServer) -> None:
    def improve(told: dict[str, Any]) -> dict[str, Any]:
        return {**told, "value": told["value"] + 0.1, "high": told["high"] + 0.1}

    board = open_connection(server.board, server.tokens["blue"], transport=Meddler("/submissions", improve))
    assert isinstance(board, RemoteBoard)
    with pytest.raises(Tampered, match="the entries behind it"):
        board.submit(predict(LABELS, 0.62, seed=8))
    board.release()


def test_a_milestone_is_what_its_signed_entry_says(server: RunningServer) -> None:
    def improve(told: dict[str, Any]) -> dict[str, Any]:
        milestone = told["milestone"]
        return {**told, "milestone": milestone and {**milestone, "low": milestone["low"] + 0.1}}

    start, better = predict(LABELS, 0.6, seed=31), predict(LABELS, 0.9, seed=32)
    for team in ("blue", "red"):  # whoever proposes the same later is told of the same entry
        board = board_of(server, team)
        assert board.gate(start, lane="signed").milestone is None
        milestone = board.gate(better, lane="signed", check=True).milestone
        assert milestone is not None
        assert milestone.is_confirmed
    meddled = open_connection(server.board, server.tokens["blue"], transport=Meddler("/gate", improve))
    assert isinstance(meddled, RemoteBoard)
    meddled.gate(start, lane="meddled")
    with pytest.raises(Tampered, match="the entry behind it"):
        meddled.gate(better, lane="meddled", check=True)
    meddled.release()


def test_a_claim_is_what_its_signed_entries_say(server: RunningServer) -> None:
    start, better = predict(LABELS, 0.6, seed=41), predict(LABELS, 0.9, seed=42)

    def lane(name: str, change: Callable[[Any], Any]) -> RemoteBoard:
        board = open_connection(server.board, server.tokens["blue"], transport=Meddler("/gate/finish", change))
        assert isinstance(board, RemoteBoard)
        board.gate(start, lane=name)
        board.gate(better, lane=name)
        return board

    board = lane("claimed", lambda told: told)
    claim = board.gate_finish("claimed")
    assert claim.gain_low is not None
    assert claim.gain_low > 0.1
    assert [card.entry.index for card in board.gate_cards(claim.indexes, "claimed")] == list(claim.indexes)
    changes: list[tuple[str, Callable[[Any], Any], str]] = [
        ("gain", lambda told: {**told, "gain_low": told["gain_low"] + 0.01}, "a gain of"),
        ("score", lambda told: {**told, "score_high": told["score_high"] + 0.01}, "a score of"),
        ("indexes", lambda told: {**told, "indexes": told["indexes"][::-1]}, "not those of a gain and a score"),
    ]
    for name, change, words in changes:
        with pytest.raises(Tampered, match=words):
            lane(name, change).gate_finish(name)


def test_a_changed_card_is_found_out(server: RunningServer) -> None:
    def improve(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
        told[0]["entry"]["body"]["published"][0] = 0.99
        return told

    board = open_connection(server.board, server.tokens["blue"], transport=Meddler("/cards", improve))
    assert isinstance(board, RemoteBoard)
    with pytest.raises(Tampered):
        board.submit(predict(LABELS, 0.61, seed=9))
    board.release()


def test_a_pickle_names_the_server_and_not_the_token(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    board = board_of(server)
    text = pickle.dumps(board)
    assert server.tokens["blue"].encode() not in text
    assert pickle.loads(text).team == "blue"
    red = board_of(server, "red")
    assert pickle.loads(text).team == "blue"  # not whoever connected last
    assert red.team == "red"
    monkeypatch.setattr("unworn.client.connecting._live", {})  # another process
    with pytest.raises(SignInNeeded):
        _ = pickle.loads(text).team
    monkeypatch.setenv("UNWORN_TOKEN", server.tokens["red"])
    assert pickle.loads(text).team == "red"


def test_tokens_are_in_no_repr(server: RunningServer) -> None:
    board = board_of(server)
    shown = f"{board!r} {board.__dict__} {board._wire!r} {board._wire.__dict__}"
    assert server.tokens["blue"] not in shown


@pytest.mark.parametrize("metric", ["f1", "f1_macro", "rmse", "neg_log_loss", "matthews_corrcoef"])
def test_scores_made_of_several_entries_are_checked_against_them(metric: str, tmp_path: Path) -> None:
    labels = make_labels(seed=11)
    options = {"rmse": {"range": (0.0, 1.0)}, "neg_log_loss": {}}.get(metric, {})
    Board.create(tmp_path / "bench", labels, id="id", target="label", metric=metric, **options).release()
    with serve_folder(tmp_path) as running:
        board = board_of(running)
        columns = predict(labels, 0.8, seed=5)
        if metric in ("rmse", "neg_log_loss"):
            columns["prediction"] = [0.1 + 0.8 * each for each in columns["prediction"]]
        made = board.submit(columns)
        assert made.status == "checked"
        board.gate(columns)
        assert board.gate(predict(labels, 0.9, seed=6), check=True).proposal == 2
        told_wrong = Submission.from_json({**made.to_json(), "value": (made.value or 0.0) + 0.01})
        with pytest.raises(Tampered):
            board._check_against_cards(told_wrong)
