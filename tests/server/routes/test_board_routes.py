"""Boards over HTTP: submitting, standings, what belongs to a team, and closing."""

from __future__ import annotations

import csv
import io

import pytest

from tests.server.served_site import ROWS, Site, predictions_csv
from unworn.boards.standings import Standings
from unworn.boards.submission import Submission
from unworn.record.certificate import Certificate

BENCH = "/api/boards/bench"
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}"


def submit(site: Site, name: str, wrong: int, **headers: str) -> Submission:
    reply = site.send(name, f"{BENCH}/submissions", predictions_csv(site.truth["bench"], wrong), **headers)
    assert reply.status_code == 201, reply.text
    return Submission.from_json(reply.json())


def test_what_is_public_about_a_board(site: Site) -> None:
    told = site.get("vic", BENCH).json()
    assert (told["name"], told["metric"], told["ids"]) == ("bench", "accuracy", ROWS)
    assert told["size"] + told["practice_size"] == ROWS
    assert told["promise"]["words"]
    rows = list(csv.reader(io.StringIO(site.get("vic", f"{BENCH}/ids.csv").text)))
    assert rows[0] == ["id", "prediction"]
    assert {row[0] for row in rows[1:]} == {f"r{row}" for row in range(ROWS)}
    assert "label" not in site.get("vic", f"{BENCH}/ids.csv").text


def test_the_list_of_boards(site: Site) -> None:
    (told,) = site.get("vic", "/api/boards").json()
    assert set(told) == {"name", "title", "metric", "size", "practice_size", "closed", "submissions"}
    assert (told["name"], told["closed"]) == ("bench", False)


def test_submissions_stand_and_have_cards(site: Site) -> None:
    submission = submit(site, "ann", 40)
    assert submission.team == "ann"
    assert submission.status == "checked"
    assert submission.low is not None
    assert submission.high is not None
    assert submission.low < 0.9 < submission.high
    standings = Standings.from_json(site.get("vic", f"{BENCH}/standings").json())
    assert standings.rows[0].team == "ann"
    cards = site.get("ann", f"{BENCH}/submissions/{submission.id}/cards").json()
    for card in cards:
        Certificate.from_json(card).verify()
    mine = site.get("ann", f"{BENCH}/submissions").json()
    assert submission.id in [each["id"] for each in mine]
    assert site.get("ann", f"{BENCH}/submissions/{submission.id}").json() == submission.to_json()


def test_a_team_sees_its_own_and_what_the_standings_show(site: Site) -> None:
    best, worse = submit(site, "una", 30), submit(site, "una", 60)
    assert site.get("ann", f"{BENCH}/submissions/{best.id}").status_code == 200
    hidden = site.get("ann", f"{BENCH}/submissions/{worse.id}")
    missing = site.get("ann", f"{BENCH}/submissions/0123456789abcdef")
    assert (hidden.status_code, hidden.text) == (404, missing.text)
    assert site.get("ann", f"{BENCH}/submissions/{worse.id}/cards").status_code == 404
    assert worse.id not in site.get("ann", f"{BENCH}/submissions").text
    assert worse.id in site.get("owner", f"{BENCH}/submissions").text
    assert worse.id not in site.get("owner", f"{BENCH}/submissions", mine="true").text


def test_the_same_file_and_the_same_key_are_one_submission(site: Site) -> None:
    first, again = submit(site, "ann", 50), submit(site, "ann", 50)
    assert again == first
    keyed = submit(site, "ann", 51, Idempotency_Key="s1")
    assert submit(site, "ann", 51, Idempotency_Key="s1") == keyed
    other = site.send("ann", f"{BENCH}/submissions", predictions_csv(site.truth["bench"], 52), Idempotency_Key="s1")
    assert other.status_code == 422


def test_a_file_that_cannot_be_scored_is_told_line_by_line(site: Site) -> None:
    text = (
        predictions_csv(site.truth["bench"])
        .replace("r3,", "r4,")
        .replace("\nr5,1", "\nr5,maybe")
        .replace("\nr5,0", "\nr5,maybe")
    )
    for path in ("validate", "submissions"):
        reply = site.send("ann", f"{BENCH}/{path}", text)
        assert (reply.status_code, reply.json()["title"]) == (422, "InvalidSubmission")
        assert any("line" in problem for problem in reply.json()["numbers"]["problems"])
    for body in (
        b"",
        b"\n",
        b"id\n",
        b"id,prediction\nr0",
        b'id,prediction\n"r0',
        b"\xff\xfe\x00",
        b"id,prediction\n" * 9,
    ):
        assert site.send("ann", f"{BENCH}/validate", body).status_code in (400, 422)


def test_words_of_strangers_stay_words(site: Site) -> None:
    text = predictions_csv(site.truth["bench"], 70)
    reply = site.client.post(
        f"{BENCH}/submissions",
        params={"name": HOSTILE, "message": HOSTILE},
        headers={**site.headers("ann"), "Content-Type": "text/csv"},
        content=text,
    )
    assert reply.json()["name"] == HOSTILE
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["x-content-type-options"] == "nosniff"
    for long in ("a" * 3_000, "\x00"):
        reply = site.client.post(
            f"{BENCH}/submissions",
            params={"name": long},
            headers={**site.headers("ann"), "Content-Type": "text/csv"},
            content=text,
        )
        assert reply.status_code == 422


def test_a_message_is_for_its_own_team(site: Site) -> None:
    reply = site.client.post(
        f"{BENCH}/submissions",
        params={"message": "our secret recipe"},
        headers={**site.headers("una"), "Content-Type": "text/csv"},
        content=predictions_csv(site.truth["bench"], 5),
    )
    id = reply.json()["id"]
    one = f"{BENCH}/submissions/{id}"
    assert site.get("una", one).json()["message"] == site.get("owner", one).json()["message"] == "our secret recipe"
    assert site.get("ann", one).json()["message"] is None
    standings = site.get("ann", f"{BENCH}/standings").text
    assert id in standings
    assert "secret" not in standings


def test_the_owner_sees_who_spent_what(site: Site) -> None:
    told = site.get("owner", f"{BENCH}/spending").json()
    assert {"team", "submissions", "surprises", "nats"} <= set(told[0])


def test_a_closed_board_takes_nothing_more(site: Site) -> None:
    rival = "/api/boards/rival"
    site.send("bob", f"{rival}/submissions", predictions_csv(site.truth["rival"], 20))
    assert site.post("bob", f"{rival}/close").status_code == 403
    assert site.post("owner", f"{rival}/close", {"top": 3}).status_code == 200
    assert site.get("bob", rival).json()["closed"] is True
    reply = site.send("bob", f"{rival}/submissions", predictions_csv(site.truth["rival"], 21))
    assert (reply.status_code, reply.json()["title"]) == (409, "BoardClosed")


@pytest.mark.parametrize("rest", ["", "/standings", "/submissions", "/ids.csv", "/spending"])
def test_a_board_that_is_not_there(site: Site, rest: str) -> None:
    reply = site.get("owner", f"/api/boards/nowhere{rest}")
    assert (reply.status_code, reply.json()["title"]) == (404, "NotThere")
