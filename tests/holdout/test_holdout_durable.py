"""Charge before answering: nothing leaves before its entry is durable, whoever else is writing."""

from __future__ import annotations

import multiprocessing
import sqlite3
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Holdout, col, share
from unworn.errors import Conflict, LedgerError, Tampered
from unworn.holdout.ask_queue import Job
from unworn.holdout.asks import NO_LABEL, Ask, put_into_words
from unworn.ledger import Entry, Key, MemoryStore, verify
from unworn.ledger.checkpoint import Checkpoint
from unworn.ledger.stores.sqlite_store import SQLiteStore

X = {"x": np.random.default_rng(0).normal(size=1_000)}


def above(cut: float) -> Any:
    return share(col("x") > cut)


class Wrapped:
    """A store around another one, whose appending a test may spoil, delay or overtake."""

    url: str | None = None

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.before_append: Callable[[], None] = lambda: None
        self.refuse_with: LedgerError | None = None

    def append(self, entries: Sequence[Entry], expect: str) -> None:
        if self.refuse_with is not None and entries[0].index > 0:
            raise self.refuse_with
        self.before_append()
        self.inner.append(entries, expect)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def holdouts(self) -> dict[str, Entry]:
        return self.inner.holdouts()  # type: ignore[no-any-return]

    def read(self, holdout: str, start: int = 0, stop: int | None = None) -> list[Entry]:
        return self.inner.read(holdout, start, stop)  # type: ignore[no-any-return]

    def length(self, holdout: str) -> int:
        return self.inner.length(holdout)  # type: ignore[no-any-return]

    def checkpoints(self, holdout: str) -> list[Checkpoint]:
        return self.inner.checkpoints(holdout)  # type: ignore[no-any-return]

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        self.inner.keep_checkpoint(checkpoint)

    def create(self, terms: Entry, key: Key, among: Collection[str] | None = None) -> None:
        self.inner.create(terms, key, among)

    def key(self, holdout: str) -> Key | None:
        return self.inner.key(holdout)  # type: ignore[no-any-return]

    def keep_key(self, holdout: str, key: Key) -> None:
        self.inner.keep_key(holdout, key)

    def close(self) -> None:
        self.inner.close()


def test_a_failed_write_answers_nothing_and_charges_nothing() -> None:
    store = Wrapped(MemoryStore())
    holdout = Holdout(X, ledger=store)
    first = holdout.ask(above(0), 0.5)
    before = holdout.meter
    store.refuse_with = LedgerError("the disk is full. Nothing was charged.")
    for _ in range(2):
        with pytest.raises(LedgerError, match="disk is full"):
            holdout.ask(above(0.5), 0.3)
        with pytest.raises(LedgerError, match="disk is full"):
            holdout.ask_many([above(0.6), above(0.7)])
    assert holdout.meter == before
    assert len(holdout.answers) == 1
    assert holdout.ask(above(0)) == first
    store.refuse_with = None
    assert holdout.ask(above(0.5), 0.3).index == 2
    holdout.verify()


def test_what_could_be_neither_written_nor_forgotten_is_not_told_to_who_asks_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The disk fails twice: first the entry is not written, then the ledger cannot be read to forget it."""
    store = Wrapped(MemoryStore())
    holdout = Holdout(X, ledger=store)
    holdout.ask(above(0), 0.5)
    store.refuse_with = LedgerError("the disk is full. Nothing was charged.")

    def unreadable(holdout: str, start: int = 0, stop: int | None = None) -> list[Entry]:
        raise LedgerError("the disk failed")

    with monkeypatch.context() as broken:
        broken.setattr(store, "read", unreadable)
        for _ in range(2):
            with pytest.raises(LedgerError, match="disk failed"):
                holdout.ask(above(0.5), 0.3)
    with pytest.raises(LedgerError, match="disk is full"):
        holdout.ask(above(0.5), 0.3)
    store.refuse_with = None
    assert holdout.ask(above(0.5), 0.3).index == 2
    assert len(store.read(holdout._desk.transcript.first.holdout)) == 3
    holdout.verify()


@pytest.mark.parametrize("torn", ["_tail", "_steps", "_asked"])
def test_an_interrupt_between_two_steps_of_the_fold_is_mended_and_the_answer_entered(torn: str) -> None:
    holdout = Holdout(X, ledger=Wrapped(MemoryStore()))
    first = holdout.ask(above(0), 0.5)
    transcript = holdout._desk.transcript
    kept = getattr(transcript, torn)

    class Interrupted(type(kept)):  # type: ignore[misc]
        def append(self, value: Any) -> None:
            super().append(value)
            raise KeyboardInterrupt

        def setdefault(self, key: Any, value: Any) -> Any:
            raise KeyboardInterrupt

    setattr(transcript, torn, Interrupted(kept))
    with pytest.raises(KeyboardInterrupt) as caught:
        holdout.ask(above(0.5), 0.3)
    assert "Answer 2 is entered and charged" in caught.value.__notes__[0]  # rows had been read for it
    assert holdout.meter.asked == 2
    assert holdout.ask(above(0)) == first
    assert holdout.ask(above(0.5), 0.3).index == 2
    assert holdout.meter.asked == 2
    assert transcript.length == len(transcript.entries) == len(transcript.records) + 1 == 3
    holdout.verify()


def test_another_writer_is_taken_in_and_the_ask_goes_on() -> None:
    inner = MemoryStore()
    store = Wrapped(inner)
    holdout, other = Holdout(X, ledger=store), Holdout(X, ledger=inner)
    overtaken = iter([lambda: other.ask(above(0), 0.5), lambda: other.ask_many([above(0.1), above(0.2)])])
    store.before_append = lambda: next(overtaken, lambda: None)() and None  # type: ignore[func-returns-value]
    answer = holdout.ask(above(0.5), 0.3)
    assert answer.index == 4
    assert answer.certificate.record.offer.index == 4  # priced where it ended up, not where it was first tried
    assert other.meter == holdout.meter
    assert holdout.meter.asked == 4
    holdout.verify()


def test_overtaken_by_its_own_question() -> None:
    inner = MemoryStore()
    store = Wrapped(inner)
    holdout, other = Holdout(X, ledger=store), Holdout(X, ledger=inner)
    overtaken = iter([lambda: other.ask(above(0.5), 0.31)])
    store.before_append = lambda: next(overtaken, lambda: None)() and None  # type: ignore[func-returns-value]
    assert holdout.ask(above(0.5), 0.3).certificate.record.guess.value == 0.31  # type: ignore[union-attr]
    assert holdout.meter.asked == 1


def test_a_model_runs_once_however_often_it_is_overtaken() -> None:
    inner = MemoryStore()
    store = Wrapped(inner)
    rows = X["x"].reshape(-1, 1), (X["x"] > 0).astype(int)
    holdout, other = Holdout(*rows, ledger=store, practice=0), Holdout(*rows, ledger=inner, practice=0)
    runs = []

    class Counting:
        def predict(self, features: Any) -> Any:
            runs.append(1)
            return np.ones(len(features), dtype=int)

    cuts = iter([0.1, 0.2, 0.3])

    def overtake() -> None:
        cut = next(cuts, None)
        if cut is not None:
            other.ask(share(col("x0") > cut), 0.4)

    store.before_append = overtake
    assert holdout.score(Counting(), 0.5, name="ones").index == 4
    assert len(runs) == 1


def test_a_repeat_waits_for_the_first_to_be_durable() -> None:
    store = Wrapped(MemoryStore())
    holdout = Holdout(X, ledger=store)
    at_disk, go_on, order = threading.Event(), threading.Event(), []

    def slow() -> None:
        at_disk.set()
        assert go_on.wait(20)
        order.append("durable")

    store.before_append = slow

    def ask(name: str) -> None:
        holdout.ask(above(0), 0.5)
        order.append(name)

    first = threading.Thread(target=ask, args=("first",))
    first.start()
    assert at_disk.wait(20)
    second = threading.Thread(target=ask, args=("second",))
    second.start()
    second.join(0.2)
    assert second.is_alive()  # the entry is queued, not durable: the repeat must not answer yet
    assert order == []
    # Nor is anything else shown of it: whoever looks waits too.
    looks = [lambda: holdout.answers, lambda: holdout.meter, lambda: holdout.head, lambda: holdout.quote(above(0))]
    lookers = [threading.Thread(target=lambda look=look: (look(), order.append("looked"))) for look in looks]
    for looker in lookers:
        looker.start()
    lookers[0].join(0.1)
    assert all(looker.is_alive() for looker in lookers)
    go_on.set()
    for thread in (first, second, *lookers):
        thread.join(20)
    assert order[0] == "durable"
    assert sorted(order[1:]) == ["first", *["looked"] * 4, "second"]
    assert holdout.meter.asked == 1
    holdout.verify()


def queued(holdout: Holdout, callers: int) -> None:
    """Return when so many wait to be served."""
    for _ in range(2_000):
        if len(holdout._desk._queue.waiting) < callers:
            threading.Event().wait(0.01)


@pytest.mark.parametrize(("together", "commits"), [(64, [4, 1]), (2, [2, 3]), (1, [1, 4])])
def test_who_comes_while_another_is_served_is_entered_with_it(
    monkeypatch: pytest.MonkeyPatch, together: int, commits: list[int]
) -> None:
    """Up to a number of callers, and a model none has to wait for; the next turn takes up all who wait."""
    monkeypatch.setattr("unworn.holdout.ask_queue._TOGETHER", together)
    monkeypatch.setattr("unworn.holdout.ask_queue._LATE", 60.0)
    store = Wrapped(MemoryStore())
    holdout = Holdout(X["x"].reshape(-1, 1), (X["x"] > 0).astype(int), ledger=store, practice=0)
    entered, append = [], store.append
    store.append = lambda entries, expect: (entered.append(len(entries)), append(entries, expect))[1]  # type: ignore
    at_rows, go_on, answers = threading.Event(), threading.Event(), []

    class Waiting:
        def predict(self, features: Any) -> Any:
            at_rows.set()
            assert go_on.wait(20)
            return np.ones(len(features), dtype=int)

    def ask(cut: float) -> None:
        answers.append(holdout.ask(share(col("x0") > cut), 0.4))

    first = threading.Thread(target=lambda: answers.append(holdout.score(Waiting(), 0.5, name="waits")))
    first.start()
    assert at_rows.wait(20)
    late = [threading.Thread(target=ask, args=(cut,)) for cut in (0.1, 0.2, 0.3)]
    for thread in late:
        thread.start()
    queued(holdout, 3)
    late.append(threading.Thread(target=lambda: answers.append(holdout.score(Waiting(), 0.5, name="too"))))
    late[-1].start()
    queued(holdout, 4)
    go_on.set()
    for thread in (first, *late):
        thread.join(20)
    assert entered == commits
    assert sorted(answer.index for answer in answers) == [1, 2, 3, 4, 5]
    assert holdout.meter.asked == 5
    holdout.verify()


def test_who_was_being_taken_up_when_its_server_was_interrupted_is_served_by_itself() -> None:
    holdout = Holdout(X["x"].reshape(-1, 1), (X["x"] > 0).astype(int), ledger=Wrapped(MemoryStore()), practice=0)
    at_rows, go_on, answers, errors = threading.Event(), threading.Event(), [], []

    class Waiting:
        def predict(self, features: Any) -> Any:
            at_rows.set()
            assert go_on.wait(20)
            return np.ones(len(features), dtype=int)

    class Jobs(deque[Any]):
        """The interrupt comes when a late one was taken from the queue, and is in nobody's hands."""

        def popleft(self) -> Any:
            job = super().popleft()
            if at_rows.is_set() and not errors:
                errors.append("interrupted")
                raise KeyboardInterrupt
            return job

    def lead() -> None:
        with pytest.raises(KeyboardInterrupt):
            holdout.score(Waiting(), 0.5, name="waits")

    holdout._desk._queue.waiting = Jobs()
    threads = [threading.Thread(target=lead)]
    threads[0].start()
    assert at_rows.wait(20)
    threads.append(threading.Thread(target=lambda: answers.append(holdout.ask(share(col("x0") > 0.1), 0.4))))
    threads[1].start()
    queued(holdout, 1)
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert errors == ["interrupted"]
    # The code of the one that was interrupted had run on the rows: it is entered too, whoever comes first.
    assert len(answers) == 1
    assert holdout.meter.asked == 2
    holdout.verify()


def test_far_rows_are_not_read_for_late_ones_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """One late question takes longer than there is time for late ones: the next waits for its own turn."""
    monkeypatch.setattr("unworn.holdout.ask_queue._LATE", 0.0)
    desk = Holdout(X, ledger=MemoryStore())._desk
    words = put_into_words(above(0), None, NO_LABEL, None)
    ask = Ask(above(0), above(0).facts(desk.transcript.terms.schema, 1_000), words)
    for _ in range(3):
        desk._queue.waiting.append(Job([ask], desk.rows))
    taken = desk._queue.take_up([])
    assert len([next(taken) for _ in range(3)]) == 3  # those who waited at the beginning are all served
    desk._queue.waiting.append(Job([ask], desk.rows))
    assert next(taken, None) is None
    assert len(desk._queue.waiting) == 1


def test_eight_threads(tmp_path: Path) -> None:
    holdout = Holdout(X, ledger=tmp_path / "ledger.db")
    answers: list[dict[float, Any]] = [{} for _ in range(8)]

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        for cut in rng.permutation(40)[:30] / 10:
            answers[number][float(cut)] = holdout.ask(above(float(cut)), 0.5)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked = set().union(*answers)
    assert holdout.meter.asked == len(asked)
    for cut in asked:
        assert len({answer[cut].index for answer in answers if cut in answer}) == 1
    holdout.verify()
    holdout.close()


WORKER = """
import sys
import numpy as np
from unworn import Holdout, col, share
path, ledger, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
holdout = Holdout(path, ledger=ledger)
sys.stdin.readline()
for step in range(25):
    cut = step if step % 5 == 0 else 100 * (number + 1) + step  # every fifth question is everybody's
    answer = holdout.ask(share(col("x") > cut / 50), 0.5)
    print(cut, answer.index, answer.certificate.head, flush=True)
holdout.close()
"""


def test_three_processes(tmp_path: Path) -> None:
    import polars as pl

    pl.DataFrame(X).write_parquet(tmp_path / "rows.parquet")
    where = [str(tmp_path / "rows.parquet"), str(tmp_path / "ledger.db")]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, *where, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    lines = [worker.communicate("go\n", timeout=120)[0].splitlines() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    holdout = Holdout(where[0], ledger=where[1])
    entries = holdout._desk.store.read(holdout.id)
    assert holdout.meter.asked == 3 * 20 + 5 == len(entries) - 1
    told = {tuple(line.split()) for each in lines for line in each}
    assert len(told) == 65  # the questions everybody asked have one answer
    assert all(entries[int(index)].hash == head for _, index, head in told)
    assert len({entry.body["fingerprint"] for entry in entries[1:]}) == 65
    verify(entries)
    holdout.verify()
    holdout.close()


def test_spawned_workers_by_pickle(tmp_path: Path) -> None:
    """Rows in memory: the pickle is a ticket, and the workers' asks are in the parent's ledger."""
    holdout = Holdout(X, ledger=tmp_path / "ledger.db")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        indices = pool.starmap(ask_remotely, [(holdout, cut / 10) for cut in range(6)])
    assert sorted(indices) == [1, 2, 3, 4, 5, 6]
    holdout.verify()
    holdout.close()


def ask_remotely(holdout: Any, cut: float) -> int:
    return int(holdout.ask(above(cut), 0.5).index)


def test_a_cut_off_ledger_is_found_while_open(tmp_path: Path) -> None:
    holdout = Holdout(X, ledger=tmp_path / "ledger.db")
    for cut in (0.0, 0.5, 1.0):
        holdout.ask(above(cut), 0.3)
    raw = sqlite3.connect(tmp_path / "ledger.db")
    raw.execute("DROP TRIGGER no_delete")
    raw.execute("DELETE FROM entries WHERE idx = 3")
    raw.commit()
    raw.close()
    with pytest.raises(Tampered, match="entry 3"):
        holdout.verify()
    with pytest.raises(Tampered, match="cut off"):
        holdout.ask(above(2.0), 0.1)
    with pytest.raises(Tampered):
        _ = holdout.meter
    holdout.close()


def test_a_conflict_without_end_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Wrapped(MemoryStore())
    holdout = Holdout(X, ledger=store)
    monkeypatch.setattr("unworn.holdout.desk._TRIES", 5)
    store.refuse_with = Conflict("the ledger has moved on")
    with pytest.raises(LedgerError, match="5 times; nothing was charged"):
        holdout.ask(above(0), 0.5)
    store.refuse_with = None
    assert holdout.ask(above(0), 0.5).index == 1


def test_an_interrupt_in_user_code_is_charged_and_goes_on() -> None:
    from unworn import function

    holdout = Holdout(X, ledger=None)

    def interrupted(columns: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        holdout.ask(function(interrupted, range=(0, 1), name="long"))
    assert holdout.meter.asked == 1
    assert holdout.meter.spent > 3  # a word among those of the cells
    assert holdout.ask(above(0), 0.5).index == 2
    holdout.verify()


def test_interrupts_without_end_are_given_in_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted whenever it is tried again, before anything was written: no charge, no answer told."""
    monkeypatch.setattr("unworn.holdout.desk._TRIES", 20)
    holdout = Holdout(X, ledger=tmp_path / "ledger.db")
    transcript = holdout._desk.transcript
    with monkeypatch.context() as patch:
        patch.setattr(transcript, "extend", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            holdout.ask(above(0), 0.5)
    assert holdout.ask(above(1), 0.2).index == 1
    assert holdout.ask(above(0)).index == 2
    holdout.verify()
    holdout.close()


def test_the_store_is_let_go_when_opening_fails(tmp_path: Path) -> None:
    Holdout(X, ledger=tmp_path / "ledger.db").close()
    own = SQLiteStore(tmp_path / "ledger.db")
    for ledger in (tmp_path / "ledger.db", own):
        with pytest.raises(Exception, match="confidence"):
            Holdout(X, ledger=ledger, confidence=0.9)
    assert own.holdouts()  # the caller's own store stays open
    own.close()
