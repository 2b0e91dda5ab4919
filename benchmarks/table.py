"""What the benchmarks share: a row that says whether a goal holds, timing side by side, and a table.

Times are only ever compared with times of the same run: what is compared is run in turns, in random order, and the
medians are set against each other. A machine that slows down for a while then slows both.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Column, Table


@dataclass(frozen=True)
class Row:
    """One comparison. Without a goal nothing is judged: ``goal`` and ``holds`` are None, and the row informs."""

    what: str
    ours: float
    against: float | None
    ratio: float | None
    goal: float | None
    holds: bool | None


def compared(what: str, ours: float, against: float, goal: float | None = None) -> Row:
    """A row whose ratio ours / against must not pass the goal."""
    ratio = ours / against
    return Row(what, ours, against, ratio, goal, None if goal is None else ratio <= goal)


def microseconds(turns: Mapping[str, Callable[[], object]], rounds: int, *, warm: int = 3) -> dict[str, float]:
    """The median time of each function, run in turns of random order."""
    return {name: statistics.median(spent) for name, spent in timed(turns, rounds, warm=warm).items()}


def timed(
    turns: Mapping[str, Callable[[], object]], rounds: int, *, warm: int = 3, seed: int = 0
) -> dict[str, list[float]]:
    """The microseconds of every call of each function, run in turns of random order."""
    order, shuffled = list(turns), random.Random(seed)
    times: dict[str, list[float]] = {name: [] for name in turns}
    for turn in range(warm + rounds):
        shuffled.shuffle(order)
        for name in order:
            function = turns[name]
            start = time.perf_counter()
            function()
            spent = time.perf_counter() - start
            if turn >= warm:
                times[name].append(1e6 * spent)
    return times


def options(description: str) -> argparse.Namespace:
    """The options all scripts have. Whoever asks for them measures from here on, with a registry of their own."""
    use_own_registry()
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON, and nothing else")
    parser.add_argument("--quick", action="store_true", help="a small version, in seconds")
    return parser.parse_args()


def use_own_registry() -> None:
    """An empty registry until the script ends: its ledgers are gone by then, and the user's would remember them."""
    home = tempfile.mkdtemp(prefix="unworn-benchmark-")
    os.environ["UNWORN_HOME"] = home
    atexit.register(shutil.rmtree, home, ignore_errors=True)


def as_json(rows: Sequence[Row]) -> str:
    return json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False)


def show(title: str, rows: Sequence[Row], digits: int) -> None:
    """Print rows as a table, with a line that counts the goals."""
    numbers = (Column(name, justify="right") for name in ("ours", "against", "ratio", "goal", "holds"))
    table = Table("what", *numbers, title=title)
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        goal = "" if row.goal is None else f"≤ {row.goal:g}"
        against = "" if row.against is None else f"{row.against:,.{digits}f}"
        table.add_row(row.what, f"{row.ours:,.{digits}f}", against, ratio, goal, verdict(row.holds))
    console().print(table)
    count(rows)


def count(rows: Sequence[Row]) -> None:
    judged = [row for row in rows if row.holds is not None]
    console().print(f"{sum(bool(row.holds) for row in judged)} of {len(judged)} goals hold\n")


def verdict(holds: bool | None) -> str:
    return "" if holds is None else "yes" if holds else "[red]no[/red]"


def console() -> Console:
    """As wide as the tables need, whether or not anyone watches."""
    return Console(width=150, highlight=False)


def run(about: str, title: str, rows: Callable[[bool], Iterable[Row]]) -> None:
    """What a script of timings does: measure, quickly if asked to, and show one table or JSON."""
    started = time.perf_counter()
    chosen = options(about)
    measured = list(rows(chosen.quick))
    if chosen.json:
        print(as_json(measured))
        return
    show(title, measured, 1)
    print(f"measured in {time.perf_counter() - started:.0f} s")
