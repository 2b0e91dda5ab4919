"""Ledgers that are opened from their checkpoints tell what the whole of their entries tells."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.long_ledgers import EVERY, X, above, asked, chain_of, opened, short_checkpoints
from tests.postgres_server import postgres_server, postgres_url
from unworn import Holdout, accuracy
from unworn.errors import Exhausted, LedgerError, Tampered
from unworn.ledger import Entry, MemoryStore
from unworn.ledger.checkpoint import Checkpoint
from unworn.ledger.stores.sqlite_store import SQLiteStore
from unworn.mechanisms import Gaussian, GuessAndCheck, Ladder, SparseVector
from unworn.record.certificate import replay
from unworn.record.chain_views import source_in
from unworn.record.replay.store_check import check_stored_chain
from unworn.record.transcript import Transcript

__all__ = ["postgres_server", "postgres_url", "short_checkpoints"]
pytestmark = pytest.mark.usefixtures("short_checkpoints")


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return MemoryStore() if request.param == "memory" else tmp_path / "ledger.db"


class Counting(SQLiteStore):
    """Counts the entries that are read."""

    count = 0

    def read(self, holdout: str, start: int = 0, stop: int | None = None) -> list[Entry]:
        found = super().read(holdout, start, stop)
        self.count += len(found)
        return found


def test_a_ledger_opens_from_its_checkpoints_where_its_entries_left_off(ledger: Any) -> None:
    before = asked(ledger, 45)
    meter, head, answers = before.meter, before.head, before.answers
    state, chain = before._desk.transcript.state, chain_of(before)
    before.close()
    after = opened(ledger)
    transcript = after._desk.transcript
    assert transcript._base.index == 45 // EVERY * EVERY
    assert (after.meter, after.head, transcript.state) == (meter, head, state)
    assert (chain_of(after), list(transcript.entries)) == (chain, chain)
    assert after.answers.equals(answers)
    assert transcript.state == replay(chain).state
    assert after.ask(above(0.123), 0.8).index == 46
    after.verify()
    after.close()


def test_opening_reads_no_more_than_what_follows_the_last_checkpoint(tmp_path: Path) -> None:
    asked(tmp_path / "ledger.db", 75).close()
    store = Counting(tmp_path / "ledger.db")
    holdout = opened(store)
    assert store.count <= 2 * (75 // EVERY) + EVERY  # one per checkpoint, and what follows the last
    store.count = 0
    assert holdout.ask(above(0.321), 0.7).index == 76
    assert store.count <= 1  # a new question reads no old answer
    store.close()


def test_a_transcript_keeps_no_more_of_a_long_ledger_than_of_a_short_one(ledger: Any) -> None:
    holdout = asked(ledger, 100)
    transcript = holdout._desk.transcript
    assert transcript.length == 101
    for kept in (transcript._steps, transcript._asked, transcript._tail, transcript._remembered):
        assert len(kept) < EVERY
    holdout.close()


def test_a_repeat_of_an_old_question_is_told_what_was_recorded(ledger: Any) -> None:
    holdout = opened(ledger)
    told = [holdout.ask(above(place / 50), guess=1 - place / 50) for place in range(1, 40)]
    for again in (holdout, opened(ledger)):
        for answer in (told[0], told[6], told[20], told[-1]):
            assert again.ask(above(answer.index / 50)) == answer
        assert again.meter.asked == 39
        assert again.ask(above(0.02), again=True, guess=0.98).index == 40 if again is not holdout else True


def test_old_answers_are_sharpened_once_and_made_final(ledger: Any) -> None:
    holdout = asked(ledger, 20)
    coarse = holdout.ask(above(0.777))
    fine = holdout.sharpen(coarse)
    for place in range(30):
        holdout.ask(above(place / 31 + 0.001), guess=1 - place / 31)
    holdout.close()
    after = opened(ledger)
    assert after.sharpen(coarse).index == fine.index
    final = after.final(coarse)
    assert final.certificate.record.parent == fine.index  # the narrowest of what was told
    assert after.final(above(0.777)).index == final.index
    after.verify()
    again = opened(ledger)
    assert again.final(above(0.777)).index == final.index
    again.close()


def test_a_ledger_of_before_there_were_checkpoints_gets_them_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    holdout = asked(path, 45)
    meter = holdout.meter
    holdout.close()
    forget_checkpoints(path)
    after = opened(path)
    assert after.meter == meter
    kept = after._desk.store.checkpoints(after.id)
    assert [each.index for each in kept] == list(range(EVERY, 45, EVERY))
    after.verify()
    after.close()


def test_a_short_ledger_is_the_file_that_it_always_was(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    asked(path, EVERY - 1).close()
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (1,)
        assert file.execute("SELECT count(*) FROM sqlite_master WHERE name = 'checkpoints'").fetchone() == (0,)


def test_another_writer_finds_and_makes_the_same_checkpoints(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "ledger.db"), opened(tmp_path / "ledger.db")
    for place in range(40):
        (one if place % 3 else other).ask(above(place / 41 + 0.002), guess=1 - place / 41)
    kept = one._desk.store.checkpoints(one.id)
    assert [each.index for each in kept] == [8, 16, 24, 32, 40]
    assert one.meter == other.meter
    other.close()
    forget_checkpoints(tmp_path / "ledger.db", also_open=one)
    again = opened(tmp_path / "ledger.db")
    assert again._desk.store.checkpoints(one.id) == kept
    again.close()
    one.close()


def test_batches_that_lie_across_checkpoints_are_priced_from_where_they_begin(ledger: Any) -> None:
    holdout = opened(ledger)
    for start in (0, 20, 40):
        cuts = [(start + place) / 70 for place in range(20)]
        holdout.ask_many([above(cut) for cut in cuts], guesses=[0.9 if cut == cuts[7] else 1 - cut for cut in cuts])
    holdout.verify()
    state = holdout._desk.transcript.state
    assert opened(ledger)._desk.transcript.state == state == replay(chain_of(holdout)).state
    holdout.close()


@pytest.mark.parametrize("processes", [1, 2])
def test_processes_check_pieces_and_find_what_one_finds(processes: int, tmp_path: Path) -> None:
    """The state that a checkpoint claims is the one thing that a piece takes from another."""
    path = tmp_path / "ledger.db"
    asked(path, 50).close()
    with closing(SQLiteStore(path)) as store:
        (first,) = store.holdouts().values()
        done: list[int] = []
        checked = check_stored_chain(store, first, 51, processes=processes, progress=done.append)
        assert (checked.index, done) == (50, [*range(EVERY + 1, 50, EVERY), 51])
        head = store.read(first.holdout, 33, 34)[0].hash
        assert check_stored_chain(store, first, 51, heads=[head, "no head"], processes=processes).heads == {head}
        spoil_entry(path, store, 43)
        with pytest.raises(Tampered, match="entry 43"):
            check_stored_chain(store, first, 51, processes=processes)


MECHANISMS = {
    "guess and check": GuessAndCheck(),
    "theorem C": GuessAndCheck(law="C"),
    "ladder": Ladder.for_(rows=400, asks=40),
    "gaussian": Gaussian.for_(rows=400, asks=40),
    "sparse vector": SparseVector.for_(rows=400, asks=40),
}


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_every_mechanism_goes_on_from_a_checkpoint_as_from_its_entries(mechanism: Any, ledger: Any) -> None:
    labels = np.arange(400) % 2
    rng = np.random.default_rng(3)
    right = 0.2 if isinstance(mechanism, SparseVector) else 0.8  # below its threshold nothing is used up
    models = [np.where(rng.random(400) < right, labels, 1 - labels) for _ in range(30)]
    options: dict[str, Any] = {"mechanism": mechanism, "asks": 40, "practice": 0, "ledger": ledger, "name": "long"}
    holdout = Holdout(None, labels, **options)
    told = []
    for model in models:
        try:
            told.append(holdout.ask(accuracy(model)))
        except Exhausted:
            break
    chain, meter = chain_of(holdout), holdout.meter
    holdout.close()
    after = Holdout(None, labels, **options)
    assert len(told) > 2 * EVERY
    assert after.meter == meter
    assert after._desk.transcript.state == replay(chain).state
    assert [after.ask(accuracy(model)) for model, _ in zip(models, told, strict=False)] == told
    after.verify()
    after.close()


def test_the_latest_answer_to_a_metric_is_found_where_it_was_long_ago(ledger: Any) -> None:
    labels = np.arange(400) % 2
    options: dict[str, Any] = {"mechanism": GuessAndCheck(law="C"), "practice": 0, "ledger": ledger, "name": "long"}
    holdout = Holdout({"x": X["x"]}, labels, **options)
    score = holdout.ask(accuracy(labels), guess=1.0)
    for place in range(2 * EVERY):
        holdout.ask(above(place / 20 + 0.01), guess=1 - place / 20)
    holdout.close()
    after = Holdout({"x": X["x"]}, labels, **options)
    other = after.ask(accuracy(1 - labels))
    assert other.certificate.record.guess is not None
    assert other.certificate.record.guess.value == score.value
    after.close()


def test_draws_are_known_from_before_the_last_checkpoint() -> None:
    store = MemoryStore()
    holdout = asked(store, 5)
    transcript = Transcript(holdout._desk.transcript.first)
    record = holdout._desk.transcript.record(1)
    for number in range(2 * EVERY):
        entry = Entry.seal(holdout.id, number + 1, transcript.head, {"n": number}, holdout._desk.writable())
        transcript.extend(entry, replace(record, draw=("pool", number)))
        transcript.settle()
    assert all(transcript.drew(("pool", number)) for number in range(2 * EVERY))
    assert not transcript.drew(("pool", 2 * EVERY))
    entry = Entry.seal(holdout.id, 2 * EVERY + 1, transcript.head, {}, holdout._desk.writable())
    with pytest.raises(Tampered, match="drawn for another answer"):
        transcript.extend(entry, replace(record, draw=("pool", 1)))


def test_what_cannot_be_kept_is_nobody_elses_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: SQLiteStore, checkpoint: Checkpoint) -> None:
        raise LedgerError("the disk is full")

    monkeypatch.setattr(SQLiteStore, "keep_checkpoint", full)
    holdout = asked(tmp_path / "ledger.db", 20)
    assert holdout._desk.store.checkpoints(holdout.id) == []
    holdout.verify()
    holdout.close()


def test_a_reader_without_a_key_makes_no_checkpoints_and_uses_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    asked(path, 45).close()
    with closing(SQLiteStore(path, write=False)) as store:
        (first,) = store.holdouts().values()
        kept = store.checkpoints(first.holdout)
        transcript = Transcript.load(first, source_in(store, first.holdout), kept)
        assert transcript._base.index == 40
        whole = Transcript.load(first, source_in(store, first.holdout))
        assert (whole.state, whole.head, whole.take_checkpoints()) == (transcript.state, transcript.head, [])


def forget_checkpoints(path: Path, also_open: Holdout | None = None) -> None:
    """Make a file what it was before there were checkpoints."""
    with sqlite3.connect(path) as file:
        file.execute("DELETE FROM checkpoints" if also_open else "DROP TABLE checkpoints")
        if also_open is None:
            file.execute("PRAGMA user_version=1")
    file.close()


def spoil_entry(path: Path, store: SQLiteStore, index: int) -> None:
    with sqlite3.connect(path) as file:
        rule = file.execute("SELECT sql FROM sqlite_master WHERE name = 'no_update'").fetchone()[0]
        file.execute("DROP TRIGGER no_update")
        file.execute("UPDATE entries SET body = replace(body, 'share of', 'shore of') WHERE idx = ?", (index,))
        file.execute(rule)
    file.close()
