"""What one ask costs: beside the bare NumPy expression, beside a bare commit, and beside importing NumPy."""

from __future__ import annotations

import os
import sqlite3
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import DTypeLike, NDArray

from table import Row, compared, microseconds, run, timed
from unworn import Composite, Holdout, Query, accuracy, f1, roc_auc
from unworn.ledger import Entry

GUESS = 0.9
OVERHEAD = 150.0
"""Microseconds an ask may take beside reading the rows and beside one commit."""
THREADS = 8
EARLY = 200
HEAVY = ("scipy", "narwhals", "cryptography", "nacl")

Bare = Callable[[], object]


def world(rows: int, dtype: DTypeLike, models: int) -> tuple[NDArray, list[NDArray]]:
    """Labels, and models that are right nine times out of ten."""
    rng = np.random.default_rng(rows)
    labels = rng.integers(0, 2, rows).astype(dtype)
    return labels, [np.where(rng.random(rows) < GUESS, labels, 1 - labels).astype(dtype) for _ in range(models)]


def asking(holdout: Holdout, queries: Sequence[Query | Composite]) -> Bare:
    """One more ask, of the next model; asked again it is a new ask, read and entered like the first."""
    turn = cycle(queries)
    return lambda: holdout.ask(next(turn), guess=GUESS, again=True)


def against_numpy(rows: int, dtype: DTypeLike, goal: float | None, rounds: int) -> list[Row]:
    """Accuracy of predictions that are fingerprinted already; and, apart, the fingerprinting.

    Apart, because it frees large arrays: the allocator then gives memory back to the system, and in the same turns
    the bare expression would get its temporary array page by page, which doubles its time and flatters ours.
    """
    labels, predictions = world(rows, dtype, models=3)
    holdout = Holdout(None, labels, practice=0, ledger=None)
    turn, fresh = cycle(predictions), cycle(predictions)
    ask = asking(holdout, [accuracy(prediction) for prediction in predictions])
    times = microseconds({"ask": ask, "bare": lambda: np.count_nonzero(next(turn) == labels)}, rounds, warm=10)
    digest = microseconds({"digest": lambda: accuracy(next(fresh)).fingerprint}, max(rounds // 10, 5))["digest"]
    name = f"{rows:,} rows of {np.dtype(dtype)}"
    return [
        compared(f"ask accuracy of {name}, against count_nonzero(pred == y)", times["ask"], times["bare"], goal),
        Row(f"fingerprint of {name}, once a model", digest, None, None, None, None),
    ]


def against_f1(rows: int, rounds: int) -> Row:
    """F1 of predictions, beside counting true positives, false positives and false negatives."""
    labels, predictions = world(rows, np.int64, models=3)
    turn, holdout = cycle(predictions), Holdout(None, labels, practice=0, ledger=None)

    def bare() -> float:
        actual, called = labels == 1, next(turn) == 1
        hits = np.count_nonzero(actual & called)
        false_alarms, lost = np.count_nonzero(called & ~actual), np.count_nonzero(actual & ~called)
        return 2 * hits / (2 * hits + false_alarms + lost)

    ask = asking(holdout, [f1(prediction) for prediction in predictions])
    times = microseconds({"ask": ask, "bare": bare}, rounds, warm=10)
    return compared(f"ask F1 of {rows:,} rows, against counts in NumPy", times["ask"], times["bare"], 1.5)


def against_sklearn(rows: int, rounds: int) -> Row:
    """The area under the ROC curve of scores that hardly ever tie, beside scikit-learn's own function."""
    from sklearn.metrics import roc_auc_score

    labels, _ = world(rows, np.int64, models=0)
    scores = [labels + np.random.default_rng(model).normal(size=rows) for model in range(3)]
    turn, ask = cycle(scores), asking(Holdout(None, labels, practice=0, ledger=None), [roc_auc(s) for s in scores])
    times = microseconds({"ask": ask, "bare": lambda: roc_auc_score(labels, next(turn))}, rounds, warm=1)
    return compared(f"ask ROC AUC of {rows:,} rows, against roc_auc_score", times["ask"], times["bare"], 1.5)


def small(rounds: int) -> Row:
    labels, predictions = world(1_000, np.int64, models=20)
    ask = asking(Holdout(None, labels, practice=0, ledger=None), [accuracy(prediction) for prediction in predictions])
    return compared("ask accuracy of 1,000 rows", microseconds({"ask": ask}, rounds, warm=50)["ask"], OVERHEAD, 1.0)


def late(early: int, late: int, window: int) -> Row:
    """Two holdouts, one with a long ledger, asked in turns."""
    labels, predictions = world(1_000, np.int64, models=20)
    queries: list[Query] = [accuracy(prediction) for prediction in predictions]
    turns = {}
    for name, asks in (("early", early), ("late", late)):
        turns[name] = asking(Holdout(None, labels, practice=0, ledger=None), queries)
        for _ in range(asks - window // 2):
            turns[name]()
    times = microseconds(turns, window, warm=0)
    what = f"ask {late:,} against ask {early:,} (windows of {window})"
    return compared(what, times["late"], times["early"], 1.2)


class BareLedger:
    """The least a durable ledger could do: a row of the same bytes, committed alone."""

    def __init__(self, path: Path, entry: Entry) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute(
            "CREATE TABLE entries (holdout TEXT, idx INTEGER, previous TEXT, body TEXT, hash TEXT, signature TEXT, "
            "PRIMARY KEY (holdout, idx)) WITHOUT ROWID"
        )
        self._values = (entry.previous, entry.text, entry.hash, entry.signature)
        self._holdout, self._index = entry.holdout, count()

    def commit(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        row = (self._holdout, next(self._index), *self._values)
        self._connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


def durable(folder: Path, rounds: int, blocks: int) -> Iterator[Row]:
    """A ledger in SQLite, by one caller and by several threads at once."""
    labels, predictions = world(1_000, np.int64, models=20)
    queries: list[Query] = [accuracy(prediction) for prediction in predictions]
    memory = Holdout(None, labels, practice=0, ledger=None)  # first: beside a ledger of these rows it is warned of
    holdout = Holdout(None, labels, practice=0, ledger=folder / "ours.db")
    bare = BareLedger(folder / "bare.db", holdout.ask(queries[0], guess=GUESS).certificate.entry)
    calls = timed({"ask": asking(holdout, queries), "bare": bare.commit}, rounds, warm=20)
    ask, commit = (statistics.median(calls[name]) for name in ("ask", "bare"))
    first, _, third = statistics.quantiles(calls["bare"], n=4)
    # One signature per entry and the checks around a commit stay, for they are what is promised: hence the goals.
    yield compared(f"SQLite, one caller, against a bare commit + {OVERHEAD:.0f} µs", ask, commit + OVERHEAD, 1.5)
    yield compared("the same, against the bare commit alone", ask, commit)
    # The log of a bare ledger grows for its first few hundred commits, and each of them syncs its length too.
    early = {name: statistics.median(spent[:EARLY]) for name, spent in calls.items()}
    yield compared(
        f"the first {EARLY} of them, against a bare commit + {OVERHEAD:.0f} µs", early["ask"], early["bare"] + OVERHEAD
    )
    # On a busy disk commits differ by more than the overhead that is judged, and the verdict above says little.
    yield compared(f"spread of bare commits (quartiles), against {OVERHEAD:.0f} µs", third - first, OVERHEAD)

    share = 25
    with ThreadPoolExecutor(THREADS) as pool:
        times = microseconds(
            {
                "threads": partial(together, pool, holdout, queries, share),
                "memory": partial(together, pool, memory, queries, share),
                "bare": lambda: [bare.commit() for _ in range(THREADS * share)],
            },
            blocks,
        )
    each = {name: spent / (THREADS * share) for name, spent in times.items()}
    yield compared(f"SQLite, {THREADS} threads, time an ask, against a bare commit", each["threads"], each["bare"], 2.2)
    yield compared(f"memory, {THREADS} threads, time an ask, against a bare commit", each["memory"], each["bare"])
    holdout.close()
    bare.close()


def together(pool: ThreadPoolExecutor, holdout: Holdout, queries: list[Query], share: int) -> None:
    """Every thread asks ``share`` questions, starting at once."""
    gate = threading.Barrier(THREADS)

    def work() -> None:
        gate.wait()
        ask = asking(holdout, queries)
        for _ in range(share):
            ask()

    for done in [pool.submit(work) for _ in range(THREADS)]:
        done.result()


def imported(module: str) -> tuple[float, str]:
    """Microseconds to import a module in a fresh interpreter, and which of the heavy ones came with it."""
    code = (
        f"import sys, time; start = time.perf_counter(); import {module}; spent = time.perf_counter() - start; "
        f"print(1e6 * spent, *(name for name in {HEAVY!r} if name in sys.modules))"
    )
    # With compiled files, as where packages are installed: whatever this machine says of writing them.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=kept).stdout
    spent, _, heavy = output.strip().partition(" ")
    return float(spent), heavy


def importing(rounds: int) -> list[Row]:
    times: dict[str, list[float]] = {"unworn": [], "numpy": []}
    heavy = ""
    microseconds({name: partial(imported, name) for name in times}, 1, warm=0)  # compiled files are written once
    for turn in range(rounds):
        for name in sorted(times, reverse=turn % 2 == 0):
            spent, found = imported(name)
            times[name].append(spent)
            heavy = found if name == "unworn" else heavy
    ours, against = (statistics.median(times[name]) for name in times)
    many = len(heavy.split())
    return [
        compared("import unworn, against import numpy", ours, against, 2.5),
        Row(f"of {', '.join(HEAVY)}, imported by import unworn", many, None, None, 0, many == 0),
    ]


def rows(quick: bool) -> Iterator[Row]:
    yield from against_numpy(1_000_000, np.int64, 1.5, rounds=20 if quick else 300)
    yield from against_numpy(1_000_000, np.int8, None, rounds=20 if quick else 300)
    yield against_f1(1_000_000, rounds=20 if quick else 300)
    yield against_sklearn(1_000_000, rounds=2 if quick else 20)
    yield small(rounds=100 if quick else 3_000)
    yield late(50, 500, 40) if quick else late(100, 10_000, 100)
    with TemporaryDirectory() as folder:
        yield from durable(Path(folder), rounds=30 if quick else 1_000, blocks=2 if quick else 20)
    yield from importing(rounds=2 if quick else 15)


if __name__ == "__main__":
    run(__doc__, "What an ask costs, in µs", rows)
