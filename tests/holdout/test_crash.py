"""Killed at any moment: every answer somebody saw is in the ledger, and none is in it twice.

SIGKILL stands in for a crash of the process. The workers are forked from here, so that they need not import anything.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.ledger.stores.crash import run_and_kill
from unworn import Holdout, col, share
from unworn.ledger import Entry, verify
from unworn.ledger.stores import entry_table, sqlite_store
from unworn.ledger.stores.sqlite_store import SQLiteStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

ROWS = 2_000
Work = Callable[[Callable[[str], None]], None]


def asker(folder: Path, seed: int, threads: int) -> Work:
    """Ask until killed: alone and in batches, new questions and old ones; say each answer once it is there."""

    def work(acknowledge: Callable[[str], None]) -> None:
        holdout = Holdout(folder / "rows.parquet", ledger=folder / "ledger.db")

        def loop(number: int) -> None:
            rng = random.Random(f"{seed} {number}")
            while True:
                cuts = [rng.randrange(100_000) / 1e5 for _ in range(rng.choice([1, 1, 1, 2, 7]))]
                if rng.random() < 0.2:
                    cuts[0] = rng.randrange(20) / 20  # one that others ask too
                questions = [share(col("x") > cut) for cut in cuts]
                guesses = [min(max(1 - cut + rng.choice([0, 0, 0, 0.4]), 0), 1) for cut in cuts]
                answers = (
                    [holdout.ask(questions[0], guesses[0])] if len(cuts) == 1 else holdout.ask_many(questions, guesses)
                )
                for answer in answers:
                    acknowledge(
                        f"{answer.index} {answer.certificate.head} {answer.value!r} {answer.low!r} {answer.high!r}"
                    )

        others = [threading.Thread(target=loop, args=(number,), daemon=True) for number in range(1, threads)]
        for other in others:
            other.start()
        loop(0)

    return work


class Survivor:
    """What was acknowledged so far, and the ledger it must all be in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        pl.DataFrame({"x": np.random.default_rng(0).random(ROWS)}).write_parquet(folder / "rows.parquet")
        self.seen: dict[int, tuple[str, ...]] = {}
        self.chain: list[Entry] = []
        holdout = Holdout(folder / "rows.parquet", ledger=folder / "ledger.db")
        self.id, self.public = holdout.id, holdout.terms.public
        holdout.close()

    def hear(self, lines: list[str]) -> None:
        for line in lines:
            index, *answer = line.split()
            # A repeat may show an answer again, never another one in its place.
            assert self.seen.setdefault(int(index), tuple(answer)) == tuple(answer)

    def check(self) -> None:
        """The chain has only grown; everything seen is in it, word for word."""
        store = SQLiteStore(self.folder / "ledger.db")
        entries = store.read(self.id, len(self.chain))
        store.close()
        verify(entries, after=self.chain[-1] if self.chain else None, public=self.public, signatures="last")
        self.chain += entries
        for index, (head, value, low, high) in self.seen.items():
            assert self.chain[index].hash == head
            assert self.chain[index].body["published"][:3] == [float(value), float(low), float(high)]

    def check_all(self) -> None:
        """Every question once, every batch whole, every price right."""
        holdout = Holdout(self.folder / "rows.parquet", ledger=self.folder / "ledger.db")
        holdout.verify()
        assert holdout.meter.asked == len(self.chain) - 1
        holdout.close()
        bodies = [entry.body for entry in self.chain[1:]]
        assert len({body["fingerprint"] for body in bodies}) == len(bodies)
        assert [body["offer"][0] for body in bodies] == list(range(1, len(bodies) + 1))
        for place, body in enumerate(bodies):
            position, size = body["batch"]
            together = bodies[place - position : place - position + size]
            assert [each["batch"] for each in together] == [[at, size] for at in range(size)]


def kill_often(folder: Path, kills: int, seed: int) -> Survivor:
    rng = random.Random(seed)
    survivor = Survivor(folder)
    killed = rounds = 0
    while killed < kills:
        workers = rng.choice([1, 2, 3])
        works = [asker(folder, rng.randrange(10**9), rng.choice([1, 1, 3])) for _ in range(workers)]
        for lines in run_and_kill(works, after=rng.uniform(0, 0.06)):
            survivor.hear(lines)
        survivor.check()
        killed += workers
        rounds += 1
    survivor.check_all()
    assert len(survivor.seen) >= rounds  # each round somebody had seen something before the kill
    return survivor


def test_ten_kills(tmp_path: Path) -> None:
    kill_often(tmp_path, kills=10, seed=3)


@pytest.mark.slow
def test_two_hundred_kills(tmp_path: Path) -> None:
    started = time.monotonic()
    survivor = kill_often(tmp_path, kills=200, seed=5)
    assert len(survivor.chain) > 500
    assert time.monotonic() - started < 600


@pytest.mark.parametrize("place", ["before append", "before commit", "after append"])
def test_killed_at_each_step(tmp_path: Path, place: str) -> None:
    """Before its commit an ask leaves no trace; after it the charge stays, though nobody saw the answer."""
    survivor = Survivor(tmp_path)

    def work(acknowledge: Callable[[str], None]) -> None:
        holdout = Holdout(tmp_path / "rows.parquet", ledger=tmp_path / "ledger.db")
        store: Any = holdout._desk.store
        append = store.append

        def stop() -> None:
            acknowledge(place)
            threading.Event().wait()

        def slow(entries: Any, expect: str) -> None:
            if place == "before append":
                stop()
            append(entries, expect)
            stop()

        def stopped(connection: Any, *args: Any) -> None:
            connection.execute("BEGIN IMMEDIATE")
            entry_table.insert_entries(connection, args[0])
            stop()

        store.append = slow
        if place == "before commit":
            sqlite_store.add_entries = stopped  # type: ignore[assignment]
        holdout.ask(share(col("x") > 0.5), 0.5)

    assert run_and_kill([work], after=0.01) == [[place]]
    holdout = Holdout(tmp_path / "rows.parquet", ledger=tmp_path / "ledger.db")
    assert holdout.id == survivor.id
    charged = place == "after append"
    assert holdout.meter.asked == charged
    assert holdout.ask(share(col("x") > 0.5), 0.9).certificate.record.guess.value == (0.5 if charged else 0.9)  # type: ignore[union-attr]
    assert holdout.meter.asked == 1
    holdout.verify()
    holdout.close()
