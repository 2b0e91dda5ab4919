"""A holdout behind a wall: the verbs of a holdout, its types and its errors, and every answer checked here."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.client.real_server import RunningServer, make_labels, make_people, predict
from unworn import Answer, DerivedAnswer, Mismatch, Refused, Unaskable, Verdict, col, connect, function, mean, share
from unworn.boards.board_errors import BoardClosed
from unworn.client.connected_holdout import ConnectedHoldout
from unworn.client.connecting import open_connection
from unworn.client.transport.problem_errors import AccountRefused, SignInNeeded
from unworn.client.transport.server_address import BadAddress
from unworn.errors import Tampered
from unworn.queries import accuracy

PEOPLE = make_people()


def holdout_of(server: RunningServer, **settings: Any) -> ConnectedHoldout:
    holdout = open_connection(server.holdout, server.tokens["ann"], **settings)
    assert isinstance(holdout, ConnectedHoldout)
    return holdout


def test_ask_in_every_way(server: RunningServer) -> None:
    holdout = holdout_of(server)
    truth = float((PEOPLE["age"] > 65).mean())
    answer = holdout.ask("age > 65", guess=round(truth, 2), name="pensioners", tags={"year": 2026})
    assert isinstance(answer, Answer)
    assert answer.source == "guess"
    assert answer.low < truth < answer.high
    assert (answer.name, answer.tags) == ("pensioners", {"year": 2026})
    assert answer.certificate.record.by == "ann"
    asked = holdout.meter.asked
    again = holdout.ask(share(col("age") > 65), guess=0.9)
    assert isinstance(again, Answer)
    assert again.index == answer.index
    assert holdout.meter.asked == asked  # free, whatever the guess
    number = holdout.ask(mean(col("age").fill(0), range=(0, 100)), guess=53)
    assert number.low < PEOPLE["age"].mean() < number.high
    assert holdout.practice.ask("age > 65").rows == holdout.practice.size == 1_000


def test_composites_batches_and_tests(server: RunningServer) -> None:
    holdout = holdout_of(server)
    lift = share(col("y") == 1, given=col("plan") == "basic") - share(col("y") == 1, given=col("plan") == "full")
    made = holdout.ask(lift)
    assert isinstance(made, DerivedAnswer)
    assert made.low <= 0.05
    assert made.high >= -0.05
    assert len(made.parts) == 2
    questions = [share(col("age") > age) for age in (30, 40, 50)]
    truths = [float((PEOPLE["age"] > age).mean()) for age in (30, 40, 50)]
    answers = holdout.ask_many(questions, [round(truth, 2) for truth in truths], name=["a", "b", "c"])
    assert [answer.name for answer in answers] == ["a", "b", "c"]
    assert all(answer.low < truth < answer.high for answer, truth in zip(answers, truths, strict=True))
    verdict = holdout.test("age > 30", above=0.5)
    assert isinstance(verdict, Verdict)
    assert verdict.rejected


def test_quotes_are_free(server: RunningServer) -> None:
    holdout = holdout_of(server)
    asked = holdout.meter.asked
    price = holdout.quote("age > 20", guess=0.95)
    assert price.cost >= 0
    assert price.width > 0
    assert not price.repeat  # type: ignore[union-attr]
    derived = holdout.quote(share(col("age") > 20) - share(col("age") > 80), guess=[0.95, 0.13])
    assert derived.width > 0
    assert holdout.meter.asked == asked


def test_sharpen(server: RunningServer) -> None:
    holdout = holdout_of(server)
    coarse = holdout.ask("x > 1.5")
    assert isinstance(coarse, Answer)
    sharp = holdout.sharpen(coarse)
    assert sharp.index > coarse.index
    assert sharp.width < coarse.width
    assert sharp.label == coarse.label


def test_what_does_not_travel_is_refused_here(server: RunningServer) -> None:
    holdout = holdout_of(server)
    asked = holdout.meter.asked
    for question, words in [
        (function(lambda rows: rows["age"] > 3, name="code", range=(0, 1)), "code does not travel"),
        (accuracy([1, 0]), "score"),
        (3, "SQL text or a question"),
    ]:
        with pytest.raises(Unaskable, match=words):
            holdout.ask(question)  # type: ignore[arg-type]
    with pytest.raises(Unaskable, match="no column"):
        holdout.ask("height > 3")
    with pytest.raises(Unaskable, match="leave by= out"):
        holdout.ask("age > 65", by="somebody")
    with pytest.raises(Unaskable, match="finite"):
        holdout.ask("age > 66", guess=float("nan"))
    with pytest.raises(Unaskable, match="outside the question's range"):
        holdout.ask("age > 66", guess=7)
    assert holdout.meter.asked == asked


def test_the_ledger_can_be_checked_from_here(server: RunningServer, tmp_path: Path) -> None:
    holdout = holdout_of(server)
    answer = holdout.ask("age > 77", guess=0.18)
    assert isinstance(answer, Answer)
    answer.certificate.save(tmp_path / "card.json")
    holdout.verify()
    holdout.verify(tmp_path / "card.json")
    assert holdout.card(answer.index) == answer.certificate
    table = holdout.answers
    assert len(table) == holdout.meter.asked
    assert table["question"].to_list()[-1] == answer.label
    assert holdout.report(tmp_path / "report.html").read_text().lower().startswith("<!doctype html>")
    with pytest.raises(Unaskable, match="HTML"):
        holdout.report(tmp_path / "report.md")


class Meddler(httpx.BaseTransport):
    """Passes everything on, and changes what comes back from asks."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.inner, self.change = httpx.HTTPTransport(), change

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reply = self.inner.handle_request(request)
        reply.read()
        if not request.url.path.endswith("/asks"):
            return reply
        return httpx.Response(reply.status_code, json=self.change(json.loads(reply.content)))

    def close(self) -> None:
        self.inner.close()


def test_answers_that_were_changed_on_the_way_are_refused(server: RunningServer) -> None:
    def flatter(told: Any) -> Any:
        told["entries"][0]["body"]["published"][1] = 0.0
        return told

    with pytest.raises(Tampered):
        holdout_of(server, transport=Meddler(flatter)).ask("age > 41", guess=0.68)


def test_the_answer_to_another_question_is_refused(server: RunningServer) -> None:
    kept: list[Any] = []

    def replay(told: Any) -> Any:
        kept.append(told)
        return kept[0]

    holdout = holdout_of(server, transport=Meddler(replay))
    holdout.ask("age > 42", guess=0.67)
    with pytest.raises(Tampered, match="another question"):
        holdout.ask("age > 43", guess=0.65)


def test_another_key_than_at_first_contact_is_refused(server: RunningServer, home_of_its_own: Path) -> None:
    holdout = holdout_of(server)
    holdout.ask("age > 44", guess=0.64)
    keys = json.loads((home_of_its_own / "known_keys.json").read_text())
    assert list(keys) == [server.holdout]
    (home_of_its_own / "known_keys.json").write_text(json.dumps({server.holdout: "ab" * 32}))
    with pytest.raises(Mismatch, match="another key than at first contact"):
        holdout_of(server).ask("age > 44")


class Flaky(httpx.BaseTransport):
    """Passes requests on, and loses every reply but the last: the server has answered and charged."""

    def __init__(self, lost: int) -> None:
        self.inner, self.lost, self.sent = httpx.HTTPTransport(), lost, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reply = self.inner.handle_request(request)
        reply.read()
        self.sent += 1
        if self.sent <= self.lost:
            raise httpx.ReadError("the connection broke")
        return reply

    def close(self) -> None:
        self.inner.close()


def test_a_lost_reply_is_charged_once_even_when_asked_anew(server: RunningServer) -> None:
    steady = holdout_of(server)
    steady.ask("age > 45", guess=0.63)
    asked = steady.meter.asked
    flaky = Flaky(lost=3)
    holdout = holdout_of(server, transport=flaky, sleep=lambda seconds: None)
    answer = holdout.ask("age > 45", guess=0.63, again=True)
    assert flaky.sent == 4
    assert steady.meter.asked == asked + 1
    assert isinstance(answer, Answer)
    assert answer.index == asked + 1


def test_a_pickle_is_a_ticket(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    holdout = holdout_of(server)
    text = pickle.dumps(holdout)
    assert server.tokens["ann"].encode() not in text
    assert pickle.loads(text).size == holdout.size
    monkeypatch.setattr("unworn.client.connecting._live", {})
    with pytest.raises(SignInNeeded):
        _ = pickle.loads(text).size


def test_the_last_word_closes_the_holdout(tmp_path: Path) -> None:
    from tests.client.real_server import serve_everything

    with serve_everything(tmp_path / "closing", seeds=(3, 4)) as server:
        holdout = holdout_of(server)
        first, second = holdout.ask("age > 65", guess=0.33), holdout.ask("age > 30", guess=0.83)
        lift = holdout.ask(share(col("age") > 65) - share(col("age") > 80))
        with pytest.raises(AccountRefused):
            holdout.final(first)  # it would be closed for everybody
        owned: Any = connect(server.holdout, server.tokens["olga"])
        done = owned.final([first, second, lift])
        assert [type(each) for each in done] == [Answer, Answer, DerivedAnswer]
        assert all(after.width < before.width for after, before in zip(done, (first, second, lift), strict=True))
        assert done[0].source == "final"
        assert holdout.closed
        with pytest.raises(Refused):
            holdout.ask("age > 50")
        board: Any = connect(server.board, server.tokens["olga"])
        labels = make_labels(3)
        board.submit(predict(labels, 0.8, seed=1))
        summary = board.close_board(top=3)
        assert summary["finals"][0]["team"] == "olga"
        assert board.closed
        with pytest.raises(BoardClosed):
            board.submit(predict(labels, 0.8, seed=2))


def test_connect_says_what_is_there(server: RunningServer) -> None:
    whole: Any = connect(server.url, server.tokens["ann"])
    assert (whole.boards(), whole.holdouts()) == (["bench"], ["people"])
    assert whole.account["role"] == "analyst"
    assert whole.holdout("people").confidence == 0.95
    assert whole.board("bench").name == "bench"
    assert "people" in repr(whole.holdout("people"))
    assert whole.only_board().name == "bench"
    assert whole.only_holdout().name == "people"
    participant: Any = connect(server.url, server.tokens["blue"])
    with pytest.raises(BadAddress, match="no holdout that this account may see"):
        participant.only_holdout()
