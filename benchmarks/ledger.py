"""What a long ledger costs: memory to write it, time and memory to open it, to ask and to verify.

Everything is done twice, with a short ledger and a long one, in a process of its own where memory is measured.
``--short`` and ``--long`` are their sizes. A ledger of a million answers takes 5 GB of disk, for as long as this runs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from table import Row, as_json, compared, show, timed, use_own_registry
from unworn import Holdout, col, share

ROWS, BATCH = 1_000, 100
MOST_WRITING, MOST_OPENING = 300.0, 400.0
"""Megabytes that writing and opening a long ledger may take."""
BEFORE = 36.0 / 1e5
"""Seconds per entry that verifying took before there were checkpoints, on the machine this was developed on."""


def opened(path: Path, seed: int) -> Holdout:
    """The holdout of a ledger; each has rows of its own."""
    data = {"x": np.random.default_rng(seed).random(ROWS)}
    return Holdout(data, practice=0, ledger=path, name=path.stem)


def memory() -> float:
    """Megabytes that this process has now."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak(who: int = resource.RUSAGE_SELF) -> float:
    """Megabytes that this process, or the largest of its children, had at most."""
    return resource.getrusage(who).ru_maxrss / 2**10


def write(path: Path, answers: int, seed: int) -> dict[str, float]:
    holdout = opened(path, seed)
    cuts = np.random.default_rng(seed + 1)
    asked, before = 0, 0.0
    start = time.perf_counter()
    while asked < answers:
        some = [float(cut) for cut in cuts.random(min(BATCH, answers - asked))]
        holdout.ask_many([share(col("x") > cut) for cut in some], guesses=[1 - cut for cut in some])
        before = before or memory()  # once all that asking loads is loaded
        asked += len(some)
    spent = time.perf_counter() - start
    after = memory()
    holdout.close()
    return {"memory": after - before, "seconds": spent}


def open_again(path: Path, answers: int, seed: int) -> dict[str, float]:
    short = opened(path.with_name(f"warm-{path.name}"), seed + 10)  # so that what is loaded once is not counted
    short.ask(share(col("x") > 0.5), guess=0.5)
    short.close()
    before, start = peak(), time.perf_counter()
    holdout = opened(path, seed)
    spent = time.perf_counter() - start
    after = peak()
    assert holdout.meter.asked >= answers
    holdout.close()
    return {"memory": after - before, "seconds": spent}


def verify(path: Path, answers: int, seed: int) -> dict[str, float]:
    holdout = opened(path, seed)
    start = time.perf_counter()
    holdout.verify()
    spent = time.perf_counter() - start
    return {"memory": max(peak(), peak(resource.RUSAGE_CHILDREN)), "seconds": spent}


STEPS = {"write": write, "open": open_again, "verify": verify}


def apart(step: str, path: Path, answers: int, seed: int) -> dict[str, float]:
    """A step in a process of its own."""
    command = [sys.executable, __file__, "--step", step, str(path), str(answers), str(seed)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    measured: dict[str, float] = json.loads(output.splitlines()[-1])
    return measured


def asking(holdout: Holdout) -> Any:
    """One more ask, of a question that was never asked, in no earlier run either."""
    cuts, turn = np.random.default_rng(), count()
    return lambda: holdout.ask(share(col("x") > float(cuts.random()) + 2 * next(turn)), guess=0.5)


def rows(folder: Path, sizes: dict[str, int], repeats: int) -> Iterator[Row]:
    seeds = {name: 100 * place for place, name in enumerate(sizes, 1)}
    paths = {name: folder / f"{name}.db" for name in sizes}
    long, short = sizes["long"], sizes["short"]
    for name, answers in sizes.items():
        if not paths[name].exists():
            written = apart("write", paths[name], answers, seeds[name])
            what = f"MB taken by writing {answers:,} answers"
            yield compared(what, written["memory"], MOST_WRITING, 1.0 if name == "long" else None)
            yield Row(
                f"µs per answer of {answers:,}, written {BATCH} at a time",
                1e6 * written["seconds"] / answers,
                *[None] * 4,
            )
    opening: dict[str, list[dict[str, float]]] = {name: [] for name in sizes}
    for _ in range(repeats):
        for name, answers in sizes.items():
            opening[name].append(apart("open", paths[name], answers, seeds[name]))
    times = {name: statistics.median(each["seconds"] for each in opening[name]) for name in sizes}
    yield compared(f"ms to open {long:,} answers, against {short:,}", 1e3 * times["long"], 1e3 * times["short"], 20.0)
    most = max(each["memory"] for each in opening["long"])
    yield compared(f"MB taken by opening {long:,} answers", most, MOST_OPENING, 1.0)
    holdouts = {name: opened(paths[name], seeds[name]) for name in sizes}
    turns = {name: asking(holdout) for name, holdout in holdouts.items()}
    asks = {name: statistics.median(spent) for name, spent in timed(turns, 100 * repeats, warm=20).items()}
    yield compared(f"µs to ask after {long:,} answers, against {short:,}", asks["long"], asks["short"], 1.2)
    for holdout in holdouts.values():
        holdout.close()
    checks = {name: apart("verify", paths[name], sizes[name], seeds[name]) for name in ("short", "long")}
    entries = long + 1
    yield compared(
        f"s to verify {long:,} answers, against one process before", checks["long"]["seconds"], BEFORE * entries, 1 / 3
    )
    what = f"MB of a process that verifies {long:,} answers"
    yield compared(what, checks["long"]["memory"], MOST_OPENING, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON, and nothing else")
    parser.add_argument("--quick", action="store_true", help="a small version, in seconds")
    parser.add_argument("--short", type=int, default=1_000, help="answers in the short ledger")
    parser.add_argument("--long", type=int, help="answers in the long ledger (a million)")
    parser.add_argument("--folder", type=Path, help="where the ledgers stay, and are found by the next run")
    parser.add_argument("--step", nargs=4, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.step is not None:
        step, path, answers, seed = chosen.step
        print(json.dumps(STEPS[step](Path(path), int(answers), int(seed))))
        return
    started = time.perf_counter()
    sizes = {"short": chosen.short, "long": chosen.long or (6_000 if chosen.quick else 1_000_000)}
    if chosen.folder is None:
        use_own_registry()
    else:
        os.environ["UNWORN_HOME"] = str(chosen.folder / "registry")
    with TemporaryDirectory() as folder:
        measured = list(rows(chosen.folder or Path(folder), sizes, repeats=1 if chosen.quick else 5))
    if chosen.json:
        print(as_json(measured))
        return
    show("What a long ledger costs", measured, 1)
    print(f"measured in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
