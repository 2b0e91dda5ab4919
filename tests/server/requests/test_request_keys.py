"""A request that is sent again under its key is answered once and charged once, whatever happened in between."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Holdout
from unworn.database import open_database
from unworn.errors import Exhausted
from unworn.server.account import Account
from unworn.server.requests.json_reply import ReplyText
from unworn.server.requests.request_keys import RequestKeys, check_key, is_gone, name_process, tag_of
from unworn.server.routes.holdout_verbs import AskBody, answer_once, ask_question
from unworn.server.server_errors import KeyUsedOtherwise, Malformed, StillBusy

ANA = Account("ana", "ana", "analyst", ("*",))


@pytest.fixture
def holdout(tmp_path: Path) -> Holdout:
    rng = np.random.default_rng(5)
    return Holdout({"age": rng.integers(18, 90, 2_000)}, ledger=tmp_path / "ledger.db", name="people")


def open_keys(folder: Path) -> RequestKeys:
    return RequestKeys(open_database(folder / "server.db"))


def ask_anew(keys: RequestKeys, holdout: Holdout, key: str, digest: str = "d", question: str = "age > 65") -> int:
    told = ask_question(holdout, ANA, AskBody(question, 0.3, again=True), keys, key, digest)
    return int(json.loads(told.text)["entries"][0]["index"])


def test_an_ask_anew_is_charged_once_for_its_key(holdout: Holdout, tmp_path: Path) -> None:
    keys = open_keys(tmp_path)
    first = ask_question(holdout, ANA, AskBody("age > 65", 0.3, again=True), keys, "k1", "d")
    again = ask_question(holdout, ANA, AskBody("age > 65", 0.3, again=True), keys, "k1", "d")
    assert again.text == first.text
    assert holdout.meter.asked == 1
    ask_question(holdout, ANA, AskBody("age > 65", 0.3, again=True), keys, "k2", "d")
    assert holdout.meter.asked == 2


def test_a_composite_is_told_again_whole(holdout: Holdout, tmp_path: Path) -> None:
    from unworn import col, share

    keys = open_keys(tmp_path)
    body = AskBody((share(col("age") > 65) - share(col("age") > 70)).to_json(), again=True)
    first = ask_question(holdout, ANA, body, keys, "k1", "d")
    assert ask_question(holdout, ANA, body, keys, "k1", "d").text == first.text
    assert holdout.meter.asked == 2


@pytest.mark.parametrize("again", [False, True])
def test_a_key_is_for_one_request(holdout: Holdout, tmp_path: Path, again: bool) -> None:
    keys = open_keys(tmp_path)
    ask_question(holdout, ANA, AskBody("age > 65", again=again), keys, "k1", "one body")
    keys.flush()
    for known in (keys, open_keys(tmp_path)):  # here, and after a restart
        with pytest.raises(KeyUsedOtherwise):
            ask_question(holdout, ANA, AskBody("age > 70", again=again), known, "k1", "another")
    assert holdout.meter.asked == 1
    other = Account("bob", "bob", "analyst", ("*",))  # whose keys are his own
    ask_question(holdout, other, AskBody("age > 70", again=again), keys, "k1", "another")
    assert holdout.meter.asked == 2


def test_a_refusal_frees_its_key(holdout: Holdout, tmp_path: Path) -> None:
    keys = open_keys(tmp_path)

    def refuse(_: dict[str, Any]) -> ReplyText:
        raise Exhausted("no asks left")

    with pytest.raises(Exhausted):
        answer_once(keys, holdout, ANA, "k1", "d", refuse)
    assert ask_anew(keys, holdout, "k1") == 1


@pytest.mark.parametrize("crash", ["before the entry", "after the entry"])
def test_a_crash_between_ledger_and_table_charges_nothing_twice(holdout: Holdout, tmp_path: Path, crash: str) -> None:
    """The process that noted the key is gone; whoever sends it again gets the entry, or asks for the first time."""
    gone = subprocess.Popen(["true"])
    owner = name_process(gone.pid)
    gone.wait()
    keys = open_keys(tmp_path)
    keys.owner = owner
    keys.begin("ana", "k1", "d", 1)
    if crash == "after the entry":
        holdout.ask("age > 65", 0.3, again=True, tags={"request": tag_of("ana", "k1")})
    anew = open_keys(tmp_path)
    assert ask_anew(anew, holdout, "k1") == 1
    assert ask_anew(anew, holdout, "k1") == 1
    assert holdout.meter.asked == 1


def test_a_process_that_still_works_is_waited_for(tmp_path: Path) -> None:
    theirs, ours = open_keys(tmp_path), open_keys(tmp_path)
    theirs.owner = name_process(os.getppid())
    theirs.begin("ana", "k1", "d", 1)
    with pytest.raises(StillBusy):
        ours.begin("ana", "k1", "d", 1)
    theirs.finish("ana", "k1", [3])
    assert ours.begin("ana", "k1", "d", 1) == (1, [3], True)


def test_the_same_key_from_many_threads_is_one_request(holdout: Holdout, tmp_path: Path) -> None:
    keys, ready = open_keys(tmp_path), threading.Barrier(8)

    def ask(_: int) -> int:
        ready.wait()
        return ask_anew(keys, holdout, "k1")

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {1}
    assert holdout.meter.asked == 1
    assert len(keys.turns) == 0


def test_keys_are_short_and_visible() -> None:
    assert check_key("0f8e-1") == "0f8e-1"
    for key in ("", "a" * 201, "a\nb", "ü"):
        with pytest.raises(Malformed):
            check_key(key)


def test_a_number_that_another_process_got_is_not_the_same_process() -> None:
    here = name_process(os.getpid())
    assert not is_gone(here, 1e9)
    assert is_gone(here.rpartition(":")[0] + ":1", 0.0)


def test_keys_are_forgotten_while_the_server_runs(tmp_path: Path) -> None:
    now, database = [1e9], open_database(tmp_path / "server.db")
    keys = RequestKeys(database, clock=lambda: now[0])

    def count() -> int:
        return int(database.select("SELECT COUNT(*) FROM request_keys")[0][0])

    keys.begin("ana", "old", "d", 1)
    for days, left in ((6, 1), (8, 0)):
        now[0] = 1e9 + days * 24 * 3600
        keys.flush()
        assert count() == left
    database.close()


def test_of_two_that_come_at_once_with_one_key_one_is_refused(tmp_path: Path) -> None:
    """Both find that the key is new, and only then note it."""
    keys, meet = open_keys(tmp_path), threading.Barrier(2)
    select = keys._database.select

    def select_together(*arguments: Any, **values: Any) -> Any:
        found = select(*arguments, **values)
        meet.wait(30)
        return found

    keys._database.select = select_together  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as pool:
        tries = [pool.submit(keys.note, "ana", "key", digest) for digest in ("one", "another")]
        failures = [each.exception() for each in tries]
    assert sorted(failure is None for failure in failures) == [False, True]
    assert any(isinstance(failure, KeyUsedOtherwise) for failure in failures)
