"""A checkpoint is never trusted over the entries: whatever is done to it, no charge is lost, added or changed.

Each class of attack ends in one of two ways: the holdout stands where its entries say, or it is refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.long_ledgers import EVERY, X, above, asked, chain_of, opened, short_checkpoints
from unworn import Holdout
from unworn.basics.json_text import canonical
from unworn.errors import LedgerError, Tampered
from unworn.ledger import Key
from unworn.ledger.checkpoint import Checkpoint
from unworn.mechanisms.contract.mechanism import State
from unworn.record.certificate import replay

__all__ = ["short_checkpoints"]
pytestmark = pytest.mark.usefixtures("short_checkpoints")
ANSWERS = 45
Change = Callable[[list[Checkpoint], Key], list[Checkpoint]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    asked(path, ANSWERS).close()
    return path


def stand(holdout: Holdout) -> tuple[State, str, int]:
    transcript = holdout._desk.transcript
    return transcript.state, transcript.head, transcript.length


def expected(path: Path) -> tuple[State, str, int]:
    """Where the entries say that the holdout stands."""
    holdout = opened(path)
    transcript = replay(chain_of(holdout))
    holdout.close()
    return transcript.state, transcript.head, transcript.length


def kept_in(path: Path) -> list[Checkpoint]:
    with sqlite3.connect(path) as file:
        rows = file.execute("SELECT holdout, idx, text, questions, signature FROM checkpoints ORDER BY idx").fetchall()
    file.close()
    return [Checkpoint(*row) for row in rows]


def put(path: Path, checkpoints: list[Checkpoint]) -> None:
    with sqlite3.connect(path) as file:
        file.execute("DELETE FROM checkpoints")
        for each in checkpoints:
            values = (each.holdout, each.index, each.text, each.questions, each.signature)
            file.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?)", values)
    file.close()


def key_of(path: Path) -> Key:
    holdout = opened(path)
    key = holdout._desk.writable()
    holdout.close()
    return key


def cheaper(told: dict[str, Any]) -> None:
    """A state in which nothing has been spent."""
    told["state"].update(asked=0, surprises=0, nats=0.0)


def retold(checkpoint: Checkpoint, change: Callable[[dict[str, Any]], None], key: Key | None = None) -> Checkpoint:
    told = json.loads(checkpoint.text)
    change(told)
    text = canonical(told)
    if key is None:
        return replace(checkpoint, text=text)
    rest = {name: told[name] for name in told if name not in ("checkpoint", "holdout", "questions")}
    return Checkpoint.seal(checkpoint.holdout, checkpoint.index, rest, checkpoint.questions, key)


STRANGER = Key(bytes(range(32)))
HARMLESS: dict[str, Change] = {
    "missing": lambda kept, key: [],
    "first missing": lambda kept, key: kept[1:],
    "one missing": lambda kept, key: kept[:2] + kept[3:],
    "stale": lambda kept, key: kept[:1],
    "cheaper, under the old signature": lambda kept, key: [*kept[:-1], retold(kept[-1], cheaper)],
    "cheaper, signed by a stranger": lambda kept, key: [*kept[:-1], retold(kept[-1], cheaper, STRANGER)],
    "all signed by a stranger": lambda kept, key: [retold(each, cheaper, STRANGER) for each in kept],
    "moved to a later entry": lambda kept, key: [*kept[:-1], replace(kept[-1], index=kept[-1].index + 3)],
    "an early one in the last one's place": lambda kept, key: [*kept[:-1], replace(kept[0], index=kept[-1].index)],
    "of a later entry than there is": lambda kept, key: [*kept, replace(kept[-1], index=1000)],
    "signature cut": lambda kept, key: [*kept[:-1], replace(kept[-1], signature=kept[-1].signature[:-2])],
    "no signature": lambda kept, key: [*kept[:-1], replace(kept[-1], signature="")],
    "questions of another": lambda kept, key: [*kept[:-1], replace(kept[-1], questions=kept[0].questions)],
    "no questions": lambda kept, key: [replace(each, questions=b"") for each in kept],
    "not JSON": lambda kept, key: [*kept[:-1], replace(kept[-1], text="{")],
    "a number for a text": lambda kept, key: [*kept[:-1], replace(kept[-1], text=7)],  # type: ignore[arg-type]
    "of another fold": lambda kept, key: [retold(each, lambda told: told.update(fold=0), key) for each in kept],
    "a state of the wrong type": lambda kept, key: [
        retold(each, lambda told: told["state"].update(asked="8"), key) for each in kept
    ],
    "a state that lacks a field": lambda kept, key: [
        retold(each, lambda told: told["state"].pop("pattern"), key) for each in kept
    ],
}


@pytest.mark.parametrize("attack", HARMLESS)
def test_a_checkpoint_that_does_not_count_changes_nothing(attack: str, path: Path) -> None:
    true = expected(path)
    put(path, HARMLESS[attack](kept_in(path), key_of(path)))
    holdout = opened(path)
    assert stand(holdout) == true
    assert holdout.ask(above(1 / (ANSWERS + 2))).index == 1  # and old questions are known
    assert holdout.meter.asked == ANSWERS
    holdout.verify()
    assert [each.index for each in kept_in(path)][: ANSWERS // EVERY] == list(range(EVERY, ANSWERS, EVERY))  # made anew
    holdout.close()


@pytest.mark.parametrize("column", ["text", "questions", "signature"])
def test_one_changed_byte_anywhere_in_a_checkpoint_changes_nothing(column: str, path: Path) -> None:
    true, kept = expected(path), kept_in(path)
    whole = getattr(kept[-1], column)
    raw = whole.encode() if isinstance(whole, str) else whole
    for place in range(0, len(raw), max(len(raw) // 25, 1)):
        changed = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]
        value = changed.decode("latin-1") if isinstance(whole, str) else changed
        put(path, [*kept[:-1], replace(kept[-1], **{column: value})])
        holdout = opened(path)
        assert stand(holdout) == true
        holdout.close()


def test_another_holdouts_checkpoints_do_not_count_here(path: Path, tmp_path: Path) -> None:
    """Cheap ones, rightly signed by a key: but by that of other rows."""
    other = Holdout({"x": X["x"] + 1}, ledger=tmp_path / "other.db", practice=0, name="other")
    for place in range(ANSWERS):
        other.ask(above(1 + place / 50), guess=1 - place / 50)
    other.close()
    true, mine = expected(path), kept_in(path)[0].holdout
    put(path, [replace(each, holdout=mine) for each in kept_in(tmp_path / "other.db")])
    holdout = opened(path)
    assert stand(holdout) == true
    holdout.close()


def test_a_ledger_that_is_shorter_than_its_checkpoint_is_refused(path: Path) -> None:
    """Without the note of its length, which lies beside the keys: the checkpoint alone says that there was more."""
    for note in path.with_name("ledger.db.keys").glob("*.head"):
        note.unlink()
    cut(path, "DELETE FROM entries WHERE idx > 37")
    with pytest.raises(Tampered, match=r"entry 40 .* is gone"):
        opened(path)
    put(path, kept_in(path)[:4])  # with the ones that are of more, the proof is gone too: as it always was
    holdout = opened(path)
    assert holdout.meter.asked == 37
    holdout.close()


def test_a_checkpoint_of_another_history_is_refused(path: Path) -> None:
    """An old copy was put back and went on otherwise: the checkpoints of what was told before do not go with it."""
    copy, told = path.read_bytes(), list[Checkpoint]()
    for guess in (0.3, 0.9):
        path.write_bytes(copy)
        for note in path.with_name("ledger.db.keys").glob("*.head"):
            note.unlink()
        holdout = opened(path)
        for place in range(EVERY):
            holdout.ask(above(0.5 + place / 100), guess=guess)
        holdout.close()
        told = told or kept_in(path)
    put(path, told)
    with pytest.raises(Tampered, match=r"entry 48 .* is gone from the ledger or replaced"):
        opened(path)


def test_a_wrong_state_under_the_right_key_is_found_by_verifying(path: Path) -> None:
    """Only who has the key can do this, and they could sign other entries too; but not without being found out."""
    kept, key = kept_in(path), key_of(path)
    for place in range(len(kept)):
        put(path, [*kept[:place], retold(kept[place], cheaper, key), *kept[place + 1 :]])
        holdout = opened(path)
        with pytest.raises(Tampered, match=f"checkpoint {kept[place].index} says what does not follow"):
            holdout.verify()
        holdout.close()


def test_questions_left_out_under_the_right_key_are_found_by_verifying(path: Path) -> None:
    kept, key = kept_in(path), key_of(path)
    told = {name: value for name, value in json.loads(kept[1].text).items() if name not in ("checkpoint", "holdout")}
    told.pop("questions")
    forged = Checkpoint.seal(kept[1].holdout, kept[1].index, told, b"", key)
    put(path, [kept[0], forged, *kept[2:]])
    holdout = opened(path)
    with pytest.raises(Tampered, match="checkpoint 16 says what does not follow"):
        holdout.verify()
    holdout.close()


@pytest.mark.parametrize(
    "planted",
    [
        "CREATE TRIGGER t AFTER INSERT ON checkpoints BEGIN DELETE FROM checkpoints; END",
        "CREATE TABLE more (x)",
        "CREATE INDEX i ON checkpoints (text)",
        "DROP TABLE checkpoints",
    ],
)
def test_other_rules_than_a_ledgers_are_refused_with_checkpoints_too(planted: str, path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute(planted)
    file.close()
    with pytest.raises(LedgerError, match="not a whole ledger"):
        opened(path)


class TestOfALargeFile:
    """One whose pages are not all read when it is opened."""

    @pytest.fixture(autouse=True)
    def _large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("unworn.ledger.stores.wholeness._AT_ONCE", 0)

    @pytest.mark.parametrize("index", [1, 7, 20, 39])
    def test_an_old_entry_that_was_changed_is_not_told_and_nothing_is_refunded(self, index: int, path: Path) -> None:
        true = expected(path)
        cut(path, f"UPDATE entries SET body = replace(body, 'share of', 'shore of') WHERE idx = {index}")
        holdout = opened(path)
        assert stand(holdout) == true
        with pytest.raises(Tampered, match=f"entry {index} was changed"):
            holdout.ask(above(index / (ANSWERS + 2)))
        with pytest.raises(Tampered, match=f"entry {index} was changed"):
            holdout.verify()
        holdout.close()

    @pytest.mark.parametrize("index", [1, 20, 39])
    def test_an_old_entry_that_is_gone_is_missed_by_whoever_asks_for_it(self, index: int, path: Path) -> None:
        true = expected(path)
        cut(path, f"DELETE FROM entries WHERE idx = {index}")
        holdout = opened(path)
        assert stand(holdout) == true
        with pytest.raises(Tampered):
            holdout.ask(above(index / (ANSWERS + 2)))
        with pytest.raises(Tampered, match=f"entry {index} is missing"):
            holdout.verify()
        holdout.close()

    def test_an_entry_beyond_a_gap_is_missed_at_once(self, path: Path) -> None:
        cut(path, "UPDATE entries SET idx = 100000 WHERE idx = 45")
        for note in path.with_name("ledger.db.keys").glob("*.head"):
            note.unlink()
        with pytest.raises(Tampered, match="entry 45 is missing, and the ledger has entries up to 100000"):
            opened(path)

    @pytest.mark.parametrize("index", [0, 40, 41, 44, 45])
    def test_what_the_state_is_read_from_is_refused_at_once(self, index: int, path: Path) -> None:
        """Entry 0, the last checkpoint's own entry, and all that follow it."""
        for change in ("DELETE FROM entries WHERE idx = {}", "UPDATE entries SET body = '{{}}' WHERE idx = {}"):
            spoiled = path.with_name("ledger.db")
            before = spoiled.read_bytes()
            cut(path, change.format(index))
            with pytest.raises(LedgerError):
                opened(path)
            spoiled.write_bytes(before)

    def test_without_checkpoints_every_entry_is_read_and_a_gap_refused(self, path: Path) -> None:
        put(path, [])
        cut(path, "DELETE FROM entries WHERE idx = 20")
        with pytest.raises(Tampered, match="entry 20 is missing"):
            opened(path)

    def test_a_name_that_is_no_holdouts_is_refused(self, path: Path) -> None:
        cut(path, "UPDATE entries SET holdout = 'x' || holdout WHERE idx > 42")
        with pytest.raises(LedgerError, match=r"not a whole chain|lacks answers"):
            opened(path)


def cut(path: Path, change: str) -> None:
    """Change entries as only somebody outside can: with the rules out of the way for a moment."""
    with sqlite3.connect(path) as file:
        rules = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in rules:
            file.execute(f"DROP TRIGGER {name}")
        file.execute(change)
        for _, sql in rules:
            file.execute(sql)
    file.close()
