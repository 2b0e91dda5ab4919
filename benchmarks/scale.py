"""Whether an ask costs the same however many rows there are: in memory, in a mapped file, from rows drawn ahead.

Asks are whole asks of a holdout: offer, rows, noise, signed entry, answer. Every one is of another question, since a
repeat would be free. The mapped file is written for the run, and is gone after it. Peers use all the cores
there are, and so do scans here, whatever is set for other numeric work.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import combinations, count
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import DTypeLike

from table import Row, compared, microseconds, run
from unworn import Holdout, col, mean, share
from unworn.mechanisms import Subsampled
from unworn.rows import Sample
from unworn.rows.mapped.mapped_writing import write_mapped

os.environ.setdefault("UNWORN_THREADS", str(os.cpu_count()))
DRAWN = 10_000
ASKS = 3_000
BLOCK = 10**6
_THRESHOLDS = count(1)


def values(rows: int, dtype: DTypeLike) -> np.ndarray[Any, Any]:
    """Whole numbers below 100: one block again and again, because what the values are makes no difference."""
    block = np.random.default_rng(7).integers(0, 100, min(rows, BLOCK), dtype=np.int8).astype(dtype)
    return np.tile(block, -(-rows // len(block)))[:rows]


def subsampled(data: Any) -> Holdout:
    mechanism = Subsampled(0.02, DRAWN)
    return Holdout(data, asks=ASKS, mechanism=mechanism, schema={"x": "number"}, ledger=None)


def asking(holdout: Holdout) -> Callable[[], object]:
    """One more ask, of a question that nobody has asked."""
    return lambda: holdout.ask(share(col("x") > 50 + next(_THRESHOLDS) * 1e-6))


def title(rows: int) -> str:
    return f"1e{len(str(rows)) - 1}"


def inline(sizes: tuple[int, int], rounds: int) -> Iterator[Row]:
    """In memory, rows drawn when the question comes."""
    small, large = (subsampled({"x": values(rows, np.int8)}) for rows in sizes)
    times = microseconds({"large": asking(large), "small": asking(small)}, rounds, warm=20)
    what = f"ask of {DRAWN:,} fresh rows in memory, of {title(sizes[1])} against {title(sizes[0])}"
    yield compared(what, times["large"], times["small"], 1.3)


def mapped(sizes: tuple[int, int], rounds: int) -> Iterator[Row]:
    """In mapped files, warm: the pages are in memory, since sealing read them."""
    need = 2 * sizes[1]
    with tempfile.TemporaryDirectory(prefix="unworn-scale-") as folder:
        if shutil.disk_usage(folder).free < need:
            print(f"no room for {need:,} bytes in {folder}: mapped files are left out", file=sys.stderr)
            return
        holdouts = {}
        for rows in sizes:
            path, block = Path(folder) / f"{rows}.arrow", pa.record_batch({"x": values(min(rows, BLOCK), np.int8)})
            write_mapped(path, block.schema, rows, (block for _ in range(rows // block.num_rows)))
            started = time.perf_counter()
            holdouts[rows] = subsampled(path)
            print(f"sealed {title(rows)} mapped rows in {time.perf_counter() - started:.1f} s", file=sys.stderr)
        turns = {"large": asking(holdouts[sizes[1]]), "small": asking(holdouts[sizes[0]])}
        times = microseconds(turns, rounds, warm=100)
        what = f"ask of {DRAWN:,} fresh rows of a mapped file, of {title(sizes[1])} against {title(sizes[0])}, warm"
        yield compared(what, times["large"], times["small"], 2.0)
        for holdout in holdouts.values():
            holdout.close()


def pooled(sizes: tuple[int, int], rounds: int) -> Iterator[Row]:
    """Rows drawn ahead; beside an ordinary ask of a thousand rows; and beside the fastest scan of all rows."""
    x = values(sizes[1], np.float64)
    small, large = subsampled({"x": values(sizes[0], np.float64)}), subsampled({"x": x})
    tiny = Holdout({"x": values(1_000, np.float64)}, asks=ASKS, schema={"x": "number"}, ledger=None)
    for holdout in (small, large):
        holdout.gather(rounds + 20)
    turns = {"large": asking(large), "small": asking(small), "tiny": asking(tiny)}
    times = microseconds(turns, rounds, warm=20)
    what = f"ask of {DRAWN:,} rows drawn ahead, of {title(sizes[1])} against {title(sizes[0])}"
    yield compared(what, times["large"], times["small"], 1.2)
    more = times["large"] - times["tiny"]
    what = f"µs more for rows drawn ahead of {title(sizes[1])} than for an ask of 1e3 rows in memory"
    yield Row(what, more, None, None, 50.0, more <= 50.0)
    frame, table = pl.DataFrame({"x": x}), duckdb.connect()
    table.execute("create table t as select * from frame")
    scans = {
        "polars": lambda: frame.select((pl.col("x") > 50).sum()).item(),
        "duckdb": lambda: table.execute("select count(*) from t where x > 50").fetchone(),
        "ours": lambda: large._sample.counts([share(col("x") > 50)]),
        "between": asking(large),
    }
    times = microseconds(scans, max(rounds // 10, 5), warm=1)
    fastest = min(times[name] for name in ("polars", "duckdb", "ours"))
    goal = 0.01 if sizes[1] >= 10**8 else None
    # Asks come after asks. One that comes after a scan of everything finds nothing in cache, not even its own code.
    drawn = microseconds({"drawn": asking(large)}, rounds, warm=20)["drawn"]
    of, scan = f"of {title(sizes[1])} in memory", "the fastest scan of all (share, float64)"
    yield compared(f"ask of {DRAWN:,} fresh rows {of} against {scan}", drawn, fastest, goal)
    yield compared(f"the same, right after a scan of all, against {scan}", times["between"], fastest)
    large.gather(rounds)
    ahead = microseconds({"ahead": asking(large)}, rounds - 3)["ahead"]
    yield compared(f"ask of {DRAWN:,} rows drawn ahead {of} against {scan}", ahead, fastest, goal)


def scans(rows: int, dtype: DTypeLike, rounds: int) -> Iterator[Row]:
    """Reading every row, against the same by hand."""
    x = values(rows, dtype)
    sample, frame, table = Sample.read({"x": x}, schema={"x": "number"}), pl.DataFrame({"x": x}), duckdb.connect()
    table.execute("create table t as select * from frame")
    asked = {
        "share": (
            share(col("x") > 50),
            (pl.col("x") > 50).sum(),
            "select count(*) from t where x > 50",
        ),
        "mean": (
            mean(col("x"), range=(0, 90)),
            pl.col("x").clip(0, 90).mean(),
            "select avg(least(greatest(x, 0), 90)) from t",
        ),
    }
    for name, (query, expression, statement) in asked.items():
        turns: dict[str, Callable[[], object]] = {
            "ours": lambda query=query: sample.means([query]),
            "polars": lambda expression=expression: frame.select(expression).item(),
            "duckdb": lambda statement=statement: table.execute(statement).fetchone(),
        }
        times = microseconds(turns, rounds, warm=1)
        peer = min(("polars", "duckdb"), key=times.__getitem__)
        what = f"{name} of all {title(rows)} rows of {np.dtype(dtype)}, against {peer} by hand"
        yield compared(what, times["ours"], times[peer], 1.1)


def batches(rows: int, questions: int) -> Iterator[Row]:
    """Many questions in one pass: for each of them, against asking it alone; and the memory it takes."""
    rng = np.random.default_rng(7)
    data = {"x": values(rows, np.int8), "z": rng.random(rows, dtype=np.float32), "w": rng.random(rows)}
    schema = {"z": "number", "w": "number"}
    sample = Sample.read(data, schema=schema)
    cuts = np.linspace(0, 1, 75)
    tests = [col("z") > cut for cut in cuts] + [col("w") < cut for cut in cuts]
    several = {
        "thresholds beside a test": [
            share((col("z") > place / questions) & (col("x") < 70)) for place in range(questions)
        ],
        "pairs of 150 tests": [share(one | other) for one, other in combinations(tests, 2)][:questions],
        "means of products": [mean(col("z") * (1 + place), range=(0, 9)) for place in range(max(questions // 100, 10))],
    }
    for name, asked in several.items():
        alone = microseconds({"one": lambda asked=asked: sample.statistics(asked[1:2])}, 5)["one"]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        sample.statistics(asked)
        spent = 1e6 * (time.perf_counter() - started)
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        what = f"each of {len(asked):,} {name} in one pass over {title(rows)} rows, against one alone"
        yield compared(what, spent / len(asked), alone, 1.1 if questions > 1_000 else None)
        yield Row(f"MiB more at the peak for {len(asked):,} {name}", more, None, None, 256.0, more <= 256)
    holdout = Holdout(data, asks=questions, schema=schema, ledger=None)
    asked = several["thresholds beside a test"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    holdout.ask_many(asked)
    spent = 1e6 * (time.perf_counter() - started)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    yield Row(
        f"each of {len(asked):,} questions of one ask_many over {title(rows)} rows", spent / len(asked), *[None] * 4
    )
    yield Row(f"MiB more at the peak for one ask_many of {len(asked):,}", more, None, None, 256.0, more <= 256)


def rows(quick: bool) -> Iterator[Row]:
    yield from mapped((10**5, 10**7 if quick else 10**9), rounds=30 if quick else 300)
    yield from inline((10**6, 10**7) if quick else (10**7, 10**8), rounds=30 if quick else 300)
    yield from pooled((10**5, 10**6 if quick else 10**8), rounds=30 if quick else 300)
    for dtype in (np.int8, np.float64):
        yield from scans(10**6 if quick else 10**8, dtype, rounds=5 if quick else 11)
    yield from batches(10**5 if quick else 10**7, 100 if quick else 10_000)


if __name__ == "__main__":
    run(__doc__, "What an ask costs as rows grow, in µs", rows)
