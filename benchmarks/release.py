"""Releasing all 2-way and 3-way tables of an Adult-like table: errors, time and memory, beside others; then theory.

Every method runs in a process of its own (``releasing.py``), several seeds each, in pure (epsilon = 1) and approximate
privacy, (1, 1e-9), for one row that is replaced. Errors are judged by their median. Seconds are the processor's, so
that whoever else uses the machine does not count; the first run of a process is among them.

Beside ours run MWEM as textbooks have it, and Private-PGM with its defaults on tables whose noise reveals as much:
``pip install mbi`` (under a minute), here or in an environment of its own that ``PEER`` names, as in
``PEER=path/to/python python benchmarks/release.py``. They run on fewer of the tables, and ours is then set beside
them on the same ones, its slower first run included.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import adult
import against_theory
import peers
from table import Row, as_json, compared, options, show
from unworn.bounds.budget import gaussian_mu

HERE = Path(__file__).parent
DELTA = 1e-9
GOALS = {
    ("mwem", DELTA): (0.015, 1.0),
    ("mwem", 0.0): (0.015, 1.0),
    ("auto", DELTA): (0.0035, 5.0),
    ("auto", 0.0): (0.009, 5.0),
}
"""The largest error, and the seconds, that a method may take."""
METHODS = (*GOALS, ("gaussian", DELTA), ("laplace", 0.0), ("averaged-mwem", DELTA))
PUBLISHED = {
    "SmartNoise's MWEM": (0.0079, 440.0),
    "MWEM+PGM": (0.0156, 245.0),
    "dp-query-release": (0.023, 2.4),
    "a MWEM of 40 lines": (0.016, 0.4),
}
"""Largest errors and seconds that were measured elsewhere, on such a table at epsilon = 1."""


@dataclass(frozen=True)
class Measured:
    """What one process said: for every quantity a number a seed."""

    name: str
    runs: dict[str, list[float]]
    megabytes: float
    version: str = ""

    @classmethod
    def said(cls, name: str, text: str) -> Measured:
        data: dict[str, Any] = json.loads(text.splitlines()[-1])
        every = {key: [run[key] for run in data["runs"]] for key in (data["runs"] or [{}])[0]}
        chosen = data.get("chosen", "")
        named = f"{name} ({chosen})" if name.startswith("auto") else name
        return cls(named, every, data["megabytes"], data.get("version", ""))

    def median(self, what: str, seeds: int | None = None) -> float:
        """Over all tables, or the first so many."""
        return statistics.median(self.runs[what][:seeds])


def ours(method: str, delta: float, rows: int, seeds: int) -> Measured:
    command = [sys.executable, str(HERE / "releasing.py"), method, str(delta), str(rows), str(seeds)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Measured.said(f"{method}, {'pure' if delta == 0 else '(1, 1e-9)'}", done.stdout)


def theirs(which: str, spent: float, rows: int, seeds: int) -> Measured | None:
    """A peer in its process; None where it is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{seed}.npy" for seed in range(seeds)]
        for seed, file in enumerate(files):
            np.save(file, adult.codes(seed, rows))
        python = os.environ.get("PEER", sys.executable) if which == "pgm" else sys.executable
        shape = json.dumps(adult.domain().shape)
        command = [python, str(HERE / "peers.py"), which, str(spent), shape, *map(str, files)]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode == peers.MISSING:
        return None
    done.check_returncode()
    names = {"textbook": "textbook MWEM, pure", "pgm": "Private-PGM, (1, 1e-9)"}
    return Measured.said(names[which], done.stdout)


def judged(what: str, found: float, goal: float | None) -> Row:
    return Row(what, found, None, None, goal, None if goal is None else found <= goal)


def error_rows(each: Measured, goal: float | None) -> Iterator[Row]:
    seeds = len(each.runs["largest"])
    yield judged(f"{each.name}: largest error, median of {seeds}", each.median("largest"), goal)
    yield judged(f"{each.name}: largest error, worst of {seeds}", max(each.runs["largest"]), None)
    yield judged(f"{each.name}: mean error", each.median("mean"), None)
    if "bound" in each.runs:
        bound = max(each.runs["bound"])
        yield compared(f"{each.name}: worst, against what it promises", max(each.runs["largest"]), bound, 1.0)


def cost_rows(each: Measured, goal: float | None, idle: float) -> Iterator[Row]:
    yield judged(f"{each.name}: seconds, median", each.median("seconds"), goal)
    yield judged(f"{each.name}: seconds, most", max(each.runs["seconds"]), None)
    yield judged(f"{each.name}: seconds on the wall, median", each.median("wall"), None)
    if "fit" in each.runs:
        yield judged(f"{each.name}: seconds of all of fit, median", each.median("fit"), None)
    yield compared(f"{each.name}: MB of the process, against one that reads the rows", each.megabytes, idle)


def peer_rows(found: dict[tuple[str, float], Measured], others: list[tuple[Measured, Measured]]) -> Iterator[Row]:
    for mine, other in others:
        who = f"{other.name}{other.version and ', mbi '}{other.version}"
        seeds = len(other.runs["largest"])
        for what in ("largest", "mean", "seconds", "wall"):
            name = f"{what} error" if what in ("largest", "mean") else what
            yield compared(
                f"{mine.name}: {name}, against {who}; tables: {seeds}", mine.median(what, seeds), other.median(what)
            )
        yield compared(f"{mine.name}: MB, against {who}", mine.megabytes, other.megabytes)
    for mine in (found["mwem", 0.0], found["auto", 0.0]):
        for who, (error, seconds) in PUBLISHED.items():
            yield compared(f"{mine.name}: largest error, against {who}, published", mine.median("largest"), error)
            yield compared(f"{mine.name}: seconds, against {who}, published", mine.median("seconds"), seconds)


def main() -> None:
    started, chosen = time.perf_counter(), options(__doc__.partition("\n")[0])
    rows, seeds = (6_000, 1) if chosen.quick else (adult.ROWS, 7)
    idle = ours("none", 0.0, rows, 1).megabytes
    found = {(method, delta): ours(method, delta, rows, seeds) for method, delta in METHODS}
    others = []
    textbook = theirs("textbook", 1.0, rows, min(seeds, 3))
    pgm = None if chosen.quick else theirs("pgm", gaussian_mu(1.0, DELTA), rows, 1)
    if textbook is not None:
        others.append((found["mwem", 0.0], textbook))
    if pgm is not None:
        others.append((found["auto", DELTA], pgm))
    # Goals are for the whole table; a small one is only there to see that all of this runs.
    goals = {key: (None, None) if chosen.quick else GOALS.get(key, (None, None)) for key in METHODS}
    tables = {
        "Largest and mean errors": [row for key, each in found.items() for row in error_rows(each, goals[key][0])],
        "Time and memory": [row for key, each in found.items() for row in cost_rows(each, goals[key][1], idle)],
        "Beside others": list(peer_rows(found, others)),
        "Against theory": list(against_theory.rows(chosen.quick)),
    }
    if chosen.json:
        print(as_json([row for rows in tables.values() for row in rows]))
        return
    for title, measured in tables.items():
        show(title, measured, 2 if title.startswith("Time") else 5)
    if pgm is None and not chosen.quick:
        print("Private-PGM is not installed: pip install mbi, here or where PEER=… points to a Python that has it")
    print(f"measured in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
