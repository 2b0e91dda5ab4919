"""One thread that asks for several callers: as if each had come by themselves, and one commit for all of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Holdout, col, share
from unworn.errors import LedgerError, Unaskable
from unworn.holdout.asking.several_callers import answer_several, prepare_several
from unworn.ledger import Entry, verify
from unworn.ledger.stores.sqlite_store import SQLiteStore
from unworn.record.answer import Answer

X = {"x": np.arange(800) / 800, "y": np.arange(800) % 5}


class CountingStore(SQLiteStore):
    """Counts commits, and fails when told to."""

    commits, fails = 0, False

    def append(self, entries: Any, expect: str) -> None:
        if self.fails:
            raise LedgerError("the disk is full")
        self.commits += 1
        super().append(entries, expect)


def ask_for_several(holdout: Holdout, told: list[dict[str, Any]]) -> list[Any]:
    return answer_several(holdout, prepare_several(holdout, told))


def above(cut: float, **more: Any) -> dict[str, Any]:
    return {"question": f"x > {cut}", "guess": 1 - cut, **more}


def test_each_gets_what_it_would_have_got_alone_in_one_commit(tmp_path: Path) -> None:
    alone = Holdout(X, ledger=None, practice=0)
    store = CountingStore(tmp_path / "ledger.db")
    holdout = Holdout(X, ledger=store, practice=0)
    told = [above(number / 10, by=f"caller {number}", tags={"n": number}) for number in range(1, 9)]
    told[4] = {"question": "nothing > 1", "guess": 0.5}
    told[6] = {"question": share(col("x") > 0.2) - share(col("x") > 0.4), "guess": 0.2}
    found = ask_for_several(holdout, told)
    assert store.commits == 1
    assert isinstance(found[4], Unaskable)
    for each, got in zip(told, found, strict=True):
        if not isinstance(got, Exception):
            one = alone.ask(**each)
            assert (got.value, got.low, got.high) == (one.value, one.low, one.high)
    entries = store.read(holdout.id)
    verify(entries, public=entries[0].body["public"])
    holdout.verify()
    again = ask_for_several(holdout, [above(0.1), above(0.1)])  # asked before: free
    assert [answer.index for answer in again if isinstance(answer, Answer)] == [1, 1]
    assert store.commits == 1
    holdout.close()
    store.close()


def test_what_cannot_be_entered_is_an_error_for_all_of_them(tmp_path: Path) -> None:
    store = CountingStore(tmp_path / "ledger.db")
    holdout = Holdout(X, ledger=store, practice=0)
    store.fails = True
    found = ask_for_several(holdout, [above(0.3), above(0.6)])
    assert [type(each) for each in found] == [LedgerError, LedgerError]
    assert len(store.read(holdout.id)) == 1
    store.fails = False
    assert [each.index for each in ask_for_several(holdout, [above(0.3), above(0.6)])] == [1, 2]  # type: ignore[union-attr]
    holdout.close()
    store.close()


def test_threads_and_other_processes_ask_meanwhile(tmp_path: Path) -> None:
    """Two holdouts stand for two processes, each with threads that ask for several and for one."""
    two = [Holdout(X, ledger=tmp_path / "ledger.db", practice=0, name="rows") for _ in range(2)]
    answered: list[int] = []
    failures: list[object] = []

    def work(worker: int) -> None:
        holdout = two[worker % 2]
        for turn in range(8):
            cuts = [(1 + worker * 100 + turn * 5 + each) / 1000 for each in range(5)]
            if worker < 4:
                found = ask_for_several(holdout, [above(cut) for cut in cuts])
                failures.extend(each for each in found if isinstance(each, Exception))
                answered.extend(each.index for each in found if isinstance(each, Answer))
            else:
                answered.extend(holdout.ask(**above(cut)).index for cut in cuts)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    assert sorted(answered) == list(range(1, 241))
    for holdout in two:
        holdout.verify()
        holdout.close()


def test_an_interrupt_goes_on_when_what_it_interrupted_is_entered(tmp_path: Path) -> None:
    store = CountingStore(tmp_path / "ledger.db")
    holdout = Holdout(X, ledger=store, practice=0)
    append, struck = store.append, list[int]()

    def interrupted(entries: list[Entry], expect: str) -> None:
        if not struck:
            struck.append(1)
            raise KeyboardInterrupt
        append(entries, expect)

    store.append = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        ask_for_several(holdout, [above(0.3), above(0.6)])
    assert len(store.read(holdout.id)) == 3  # rows had been read: both are entered
    holdout.verify()
    holdout.close()
    store.close()
