"""How easy it is to find one's way in: names, sizes of files and folders, and how much one ask passes through.

An ask is traced on rows in memory, after a few others, from the call to the answer: every function of this package that
is called, the files they are in, and how deep they are nested. The same for a ledger in memory and in SQLite. The goals
are those of CONTRIBUTING.md; a file with more lines than it allows is named.
"""

from __future__ import annotations

import ast
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import numpy as np

import unworn
from table import Row, run
from unworn import Holdout, col, share

PACKAGE = Path(unworn.__file__).parent
FILES, DEPTH, LINES, MEDIAN, FOLDER = 24, 13, 300, 120, 20
"""What an ask may cross, how deep it may go; lines of a file, at most and in the middle; files of a folder."""


def measured(quick: bool) -> Iterator[Row]:
    files = sorted(PACKAGE.rglob("*.py"))
    lines = {path.relative_to(PACKAGE).as_posix(): len(path.read_text().splitlines()) for path in files}
    yield at_most("file names that occur twice", len(repeated(p.name for p in files if p.name != "__init__.py")), 0)
    yield at_most("class names that occur twice", len(repeated(name for path in files for name in classes(path))), 0)
    yield at_most("files of the fullest folder", max(Counter(path.parent for path in files).values()), FOLDER)
    yield at_most("lines of a file, median", statistics.median(lines.values()), MEDIAN)
    yield at_most("files that are too long", sum(length > LINES for length in lines.values()), 0)
    for name, length in sorted(lines.items(), key=lambda item: -item[1]):
        if length > LINES:
            yield Row(f"lines of {name}", length, None, None, None, None)
    with tempfile.TemporaryDirectory() as folder:
        for where, ledger in (("memory", None), ("SQLite", f"sqlite:///{folder}/asks.db")):
            crossed, depth = trace_ask(ledger)
            yield at_most(f"files that an ask crosses, ledger in {where}", len(crossed), FILES)
            yield at_most(f"depth of an ask, ledger in {where}", depth, DEPTH)


def at_most(what: str, ours: float, goal: float) -> Row:
    return Row(what, ours, None, None, goal, ours <= goal)


def repeated(names: Iterator[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


def classes(path: Path) -> Iterator[str]:
    """The public classes of a module."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def trace_ask(ledger: str | None) -> tuple[set[str], int]:
    """The files whose functions one ask calls, and how many of their calls are nested at the deepest."""
    holdout = Holdout({"age": np.random.default_rng(0).integers(0, 100, 5_000)}, ledger=ledger)
    for age in range(30, 33):  # what is done once is done by now
        holdout.ask(share(col("age") > age), guess=0.7)
    question, crossed, depth, deepest = share(col("age") > 65), set[str](), 0, 0

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth, deepest
        if frame.f_code.co_filename.startswith(str(PACKAGE)) and event in ("call", "return"):
            crossed.add(frame.f_code.co_filename)
            depth += 1 if event == "call" else -1
            deepest = max(deepest, depth)

    sys.setprofile(look)
    try:
        holdout.ask(question, guess=0.34)
    finally:
        sys.setprofile(None)
    return crossed, deepest


if __name__ == "__main__":
    run(__doc__.partition("\n")[0], "The house", measured)
