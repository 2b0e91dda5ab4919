"""Opening: the same rows meet the same ledger, on the same terms; without the key, read-only."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unworn import Holdout, col, mean, share
from unworn.errors import LedgerError, Mismatch, ReadOnly, Unaskable
from unworn.ledger import Key, MemoryStore
from unworn.ledger.stores.sqlite_store import SQLiteStore
from unworn.mechanisms import GuessAndCheck, Naive, SampleSplitting

ROWS = 400


def numbers(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.normal(size=ROWS), "y": rng.integers(0, 2, ROWS)})


def bits(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.integers(0, 2, size=(ROWS, 6)), columns=list("pqrsty"))


QUESTION = share(col("y") == 1)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


# ---------------------------------------------------------------- the same rows


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame,
        lambda frame: frame.sample(frac=1, random_state=1),
        lambda frame: frame[["y", "b", "a"]],
        lambda frame: frame.sample(frac=1, random_state=2)[["b", "y", "a"]],
    ],
)
def test_known_rows_meet_their_ledger(store: MemoryStore, change: Any) -> None:
    first = Holdout(numbers(), "y", ledger=store)
    told = first.ask(QUESTION, 0.5)
    again = Holdout(change(numbers()), "y", ledger=store)
    assert again.id == first.id
    assert again.ask(QUESTION, 0.9) == told
    assert len(store.holdouts()) == 1


def test_other_rows_get_their_own(store: MemoryStore) -> None:
    first, second = Holdout(numbers(0), "y", ledger=store), Holdout(numbers(1), "y", ledger=store)
    assert first.id != second.id
    first.ask(QUESTION, 0.5)
    assert (first.meter.asked, second.meter.asked) == (1, 0)
    first.verify()
    second.verify()


@pytest.mark.parametrize(
    ("terms", "named"),
    [
        ({"mechanism": GuessAndCheck(z=3.0)}, "mechanism"),
        ({"mechanism": Naive()}, "mechanism"),
        ({"confidence": 0.9}, "confidence"),
        ({"asks": 11}, "asks"),
        ({"asks": None}, "asks"),
        ({"schema": {"a": "number"}}, "schema"),
        ({"name": "other"}, "name"),
    ],
)
def test_known_rows_on_other_terms(store: MemoryStore, terms: dict[str, Any], named: str) -> None:
    sealed: dict[str, Any] = {"name": "churn", "asks": 10}
    holdout = Holdout(numbers(), "y", ledger=store, **sealed)
    holdout.ask(QUESTION, 0.5)
    with pytest.raises(Mismatch, match=f"{named}: sealed with .*, opened with ") as caught:
        Holdout(numbers(), "y", ledger=store, **{**sealed, **terms})
    assert caught.value.numbers["differing"] == [named]
    assert "Open the rows on the sealed terms" in str(caught.value)
    assert len(store.holdouts()) == 1
    assert Holdout(numbers(), "y", ledger=store, **sealed).meter.asked == 1


def test_known_rows_keep_their_schema_with_train_or_without(store: MemoryStore) -> None:
    """Whoever follows the advice to give ``train=`` must not be refused for it."""
    unfilled = mean(col("a"), range=(0, 1))
    with_train = Holdout(numbers(), "y", ledger=store, train=numbers(1))
    assert Holdout(numbers(), "y", ledger=store).ask(unfilled, 0.5) == with_train.ask(unfilled)
    Holdout(numbers(2), "y", ledger=store)
    with pytest.raises(Unaskable, match="may be missing"):
        Holdout(numbers(2), "y", ledger=store, train=numbers(1)).ask(unfilled)


def test_a_schema_that_is_declared_otherwise_is_told_in_words(store: MemoryStore) -> None:
    Holdout(numbers(), "y", ledger=store, train=numbers(1))
    with pytest.raises(Mismatch) as caught:
        Holdout(numbers(), "y", ledger=store, schema={"a": "number?"})
    assert "sealed with {'a': 'number'" in str(caught.value)
    assert "opened with {'a': 'number?'" in str(caught.value)
    assert "give those that the rows were sealed with" in str(caught.value)


def test_another_target_or_other_groups(store: MemoryStore) -> None:
    frame = numbers().assign(who=np.repeat(np.arange(ROWS // 4), 4))
    Holdout(frame, "y", groups="who", ledger=store)
    with pytest.raises(Mismatch, match="schema"):
        Holdout(frame, "y", ledger=store)
    with pytest.raises(Mismatch, match=r"in other groups|schema"):
        Holdout(frame, "y", groups=np.repeat(np.arange(ROWS // 2), 2), ledger=store)
    with pytest.raises(Mismatch, match="schema"):
        Holdout(frame, groups="who", ledger=store)
    assert len(store.holdouts()) == 1


@pytest.mark.parametrize("make", [numbers, bits])
@pytest.mark.parametrize("shuffled", [False, True])
def test_added_predictions_do_not_refill_the_budget(store: MemoryStore, make: Any, shuffled: bool) -> None:
    Holdout(make(), "y", ledger=store, name="churn")
    more = make().assign(prediction=np.random.default_rng(9).integers(0, 2, ROWS))
    if shuffled:
        more = more.sample(frac=1, random_state=3)
    for terms in ({}, {"name": "churn"}, {"name": "fresh"}, {"asks": 3}):
        with pytest.raises(Mismatch, match="second budget") as caught:
            Holdout(more, "y", ledger=store, **terms)
        assert "score()" in str(caught.value)
    with pytest.raises(Mismatch, match="second budget"):
        Holdout(more, "prediction", ledger=store)
    assert len(store.holdouts()) == 1


@pytest.mark.parametrize("shuffled", [False, True])
def test_renamed_columns_do_not_refill_the_budget(store: MemoryStore, shuffled: bool) -> None:
    Holdout(numbers(), "y", ledger=store)
    renamed = numbers().rename(columns={"a": "alpha", "b": "beta", "y": "label"})
    if shuffled:
        renamed = renamed.sample(frac=1, random_state=3)
    for frame in (
        renamed,
        renamed.assign(prediction=1),
        renamed[["beta", "label"]],
        renamed.rename(columns={"beta": "a"}),
    ):
        with pytest.raises(Mismatch, match="second budget"):
            Holdout(frame, "label", ledger=store)
    assert len(store.holdouts()) == 1


def test_another_dtype_is_the_same_rows(store: MemoryStore) -> None:
    sealed = Holdout(numbers(), "y", ledger=store)
    sealed.ask(QUESTION, 0.5)
    for same in (numbers().astype({"y": float}), pl.from_pandas(numbers())):  # a polars integer may be missing
        again = Holdout(same, "y", ledger=store)
        assert again.ask(QUESTION, 0.9).index == 1
        assert again.verify() is None
    with pytest.raises(Mismatch, match="schema"):
        Holdout(pl.from_pandas(numbers()), "y", ledger=store, schema={"y": "number?"})
    assert len(store.holdouts()) == 1


def test_a_taken_name(store: MemoryStore) -> None:
    Holdout(numbers(0), "y", ledger=store, name="churn")
    with pytest.raises(Mismatch, match="belongs to other rows"):
        Holdout(numbers(1), "y", ledger=store, name="churn")
    assert Holdout(numbers(1), "y", ledger=store, name="other").name == "other"


def test_a_plan_that_cannot_be_kept_seals_nothing(store: MemoryStore) -> None:
    with pytest.raises(ValueError, match="cannot be cut into"):
        Holdout(numbers(), "y", ledger=store, mechanism=SampleSplitting(), asks=ROWS + 1)
    with pytest.raises(ValueError, match="give Holdout"):
        Holdout(numbers(), "y", ledger=store, mechanism=SampleSplitting())
    assert store.holdouts() == {}
    Holdout(numbers(), "y", ledger=store, mechanism=SampleSplitting(), asks=10)


def test_the_name_of_rows_by_path(tmp_path: Path) -> None:
    numbers().to_csv(tmp_path / "churn.csv", index=False)
    holdout = Holdout(str(tmp_path / "churn.csv"), "y", ledger=tmp_path / "ledger.db")
    assert holdout.name == "churn"
    assert holdout.path == tmp_path / "churn.csv"
    assert holdout.terms.kept == "sqlite"
    holdout.close()


def test_spoiled_is_marked() -> None:
    assert Holdout(numbers(), mechanism=Naive(), ledger=None)._desk.transcript.first.body["spoiled"] is True
    assert Holdout(numbers(), ledger=None)._desk.transcript.first.body["spoiled"] is False


# ---------------------------------------------------------------- without the key


def test_without_the_key_it_can_be_read_and_checked(tmp_path: Path) -> None:
    ledger, keys = tmp_path / "ledger.db", tmp_path / "ledger.db.keys"
    holdout = Holdout(numbers(), "y", ledger=ledger, name="churn")
    answer = holdout.ask(QUESTION, 0.5)
    card = answer.certificate.save(tmp_path / "card.json")
    holdout.close()
    shutil.move(keys, tmp_path / "safe")

    reading = Holdout(numbers(), "y", ledger=ledger, name="churn")
    assert reading.read_only
    assert reading.meter.asked == 1
    assert reading.answers["value"].tolist() == [answer.value]
    reading.verify()
    reading.verify(card)
    assert reading.quote(QUESTION).repeat
    assert reading.ask(QUESTION) == answer  # a repeat is free, and needs no key
    assert reading.ask_many([QUESTION]) == [answer]
    for attempt in (
        lambda: reading.ask(share(col("a") > 0), 0.5),
        lambda: reading.ask_many([QUESTION, share(col("a") > 0)]),
        lambda: reading.score(np.zeros(ROWS, dtype=int)),
        lambda: reading.sharpen(answer),
    ):
        with pytest.raises(ReadOnly, match="Bring the key back"):
            attempt()
    assert reading.meter.asked == 1
    reading.close()

    for frame in (numbers(), numbers().assign(more=1.0), numbers().sample(frac=1, random_state=1)):
        with pytest.raises(Mismatch, match="name='churn'"):
            Holdout(frame, "y", ledger=ledger)
    with pytest.raises(Mismatch, match="confidence"):
        Holdout(numbers(), "y", ledger=ledger, name="churn", confidence=0.9)
    assert not keys.exists()  # nothing was sealed anew

    shutil.move(tmp_path / "safe", keys)
    back = Holdout(numbers(), "y", ledger=ledger)
    assert not back.read_only
    assert back.ask(share(col("a") > 0), 0.5).index == 2
    back.verify(card)
    back.close()


def test_the_wrong_key_is_no_key(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    holdout = Holdout(numbers(), "y", ledger=ledger, name="churn")
    holdout.ask(QUESTION, 0.5)
    holdout.close()
    (file,) = (tmp_path / "ledger.db.keys").glob("*.key")
    right = file.read_text()
    file.write_text(Key.new().hex() + "\n")
    with pytest.raises(Mismatch, match="key of holdout 'churn' is missing"):
        Holdout(numbers(), "y", ledger=ledger)
    reading = Holdout(numbers(), "y", ledger=ledger, name="churn")
    assert reading.read_only
    with pytest.raises(ReadOnly):
        reading.ask(share(col("a") > 0), 0.5)
    reading.close()
    file.write_text("not a key")
    with pytest.raises(LedgerError, match="cannot be read"):
        Holdout(numbers(), "y", ledger=ledger)
    file.write_text(right)
    again = Holdout(numbers(), "y", ledger=ledger)
    assert again.meter.asked == 1
    again.close()


def test_other_rows_beside_a_lost_key(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    Holdout(numbers(), "y", ledger=ledger, name="churn").close()
    shutil.rmtree(tmp_path / "ledger.db.keys")
    other = Holdout(numbers(1).iloc[:-1], "y", ledger=ledger)  # another number of rows: cannot be the same ones
    assert not other.read_only
    other.close()


# ---------------------------------------------------------------- two at once

RACER = """
import sys
import numpy as np
import unworn.holdout.opening as opening
from unworn import Holdout, col, share
path, ledger, digit = sys.argv[1:]
seal = opening._seal
def wait_and_seal(*args):
    print("ready", flush=True)
    sys.stdin.readline()
    opening._seal = seal
    return seal(*args)
opening._seal = wait_and_seal
opening.derive_id = lambda key: digit * 32
holdout = Holdout(dict(np.load(path)), ledger=ledger)
print(holdout.id, flush=True)
sys.stdin.readline()
print(holdout.ask(share(col("a") > 0), 0.5).index, holdout.id, flush=True)
holdout.close()
"""


class Racer:
    """A process that opens the rows, and stops between having looked for them and sealing them."""

    def __init__(self, folder: Path, digit: str) -> None:
        command = [sys.executable, "-c", RACER, str(folder / "rows.npz"), str(folder / "ledger.db"), digit]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def told(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()


@pytest.mark.parametrize("digits", ["f0", "0f"])
@pytest.mark.parametrize("at_once", [False, True])
def test_two_processes_seal_the_same_rows(tmp_path: Path, digits: str, at_once: bool) -> None:
    """Both looked, both found nothing; whoever seals second must end up with the holdout of the first."""
    rows = {name: column.to_numpy() for name, column in numbers().items()}
    np.savez(tmp_path / "rows.npz", **rows)  # a process that reads these imports no library of frames
    SQLiteStore(tmp_path / "ledger.db").close()
    first, second = (Racer(tmp_path, digit) for digit in digits)
    assert (first.told(), second.told()) == ("ready", "ready")
    first.go()
    if at_once:
        second.go()
        ids = first.told(), second.told()
    else:
        sealed = first.told()
        second.go()
        ids = sealed, second.told()
    first.go()
    second.go()
    answers = first.told(), second.told()
    for racer in (first, second):
        racer.process.communicate(timeout=60)
    assert ids[0] == ids[1]
    assert answers[0] == answers[1] == f"1 {ids[0]}"  # one budget: the second ask was a repeat
    again = Holdout(rows, ledger=tmp_path / "ledger.db")
    assert (again.id, again.meter.asked) == (ids[0], 1)
    assert len(again._desk.store.holdouts()) == 1
    again.close()
