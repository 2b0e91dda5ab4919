"""What a question put to a few fresh rows costs, as the sample grows: side by side, and beside reading all the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, pairwise

import numpy as np
from numpy.typing import DTypeLike

from table import Row, compared, microseconds, run
from unworn.noise import Stream
from unworn.queries import Query, col, mean, share
from unworn.rows import Sample

DRAWN = 10_000
GOALS = {(10**5, 10**7): 4.0, (10**7, 10**8): 1.3}
"""How much longer the larger sample may take: a cache holds the smallest, and in memory all rows are equally far."""

QUESTIONS: dict[str, Query] = {"share": share(col("x") > 60), "mean": mean(col("x"), range=(0, 100))}


def sample(rows: int, dtype: DTypeLike) -> Sample:
    """One column of whole numbers below 100: text, dates and further columns are gathered in the same way."""
    values = np.random.default_rng(rows).integers(0, 100, rows, dtype=np.int8)
    return Sample.read({"x": values.astype(dtype)}, schema={"x": "number"})


def drawing(rows: Sample, query: Query, replace: bool) -> Callable[[], object]:
    """One more draw, of other rows each time, like the ask of a holdout."""
    turn = count()
    return lambda: rows.drawn(query, DRAWN, Stream(bytes(32), next(turn)), replace)


def growing(dtype: DTypeLike, sizes: list[int], rounds: int) -> Iterator[Row]:
    samples = {rows: sample(rows, dtype) for rows in sizes}
    for name, query in QUESTIONS.items():
        for replace in (False, True):
            turns = {str(rows): drawing(samples[rows], query, replace) for rows in sizes}
            times = microseconds(turns, rounds, warm=10)
            how = f"{name} of {DRAWN:,} rows of {np.dtype(dtype)}, {'with' if replace else 'without'} replacement"
            for small, large in pairwise(sizes):
                what = f"{how}, drawn from {large:.0e} against {small:.0e}".replace("e+0", "e")
                yield compared(what, times[str(large)], times[str(small)], GOALS[small, large])
    largest = samples[sizes[-1]]
    whole = {"drawn": drawing(largest, QUESTIONS["share"], False), "all": lambda: largest.counts([QUESTIONS["share"]])}
    times = microseconds(whole, max(rounds // 20, 3), warm=1)
    what = f"share of {DRAWN:,} rows of {np.dtype(dtype)}, against all {sizes[-1]:.0e}".replace("e+0", "e")
    yield compared(what, times["drawn"], times["all"])


def rounding(rows: int, rounds: int) -> Iterator[Row]:
    """Rounding every row at random, against reading its mean."""
    turn, all_rows = count(), sample(rows, np.float32)
    query = QUESTIONS["mean"]
    times = microseconds(
        {
            "rounded": lambda: all_rows.rounded([query], [Stream(bytes(32), next(turn))]),
            "mean": lambda: all_rows.means([query]),
        },
        rounds,
    )
    yield compared(f"mean of {rows:,} rows, each rounded at random, against the mean", times["rounded"], times["mean"])


def rows(quick: bool) -> Iterator[Row]:
    sizes = [10**5, 10**7] if quick else [10**5, 10**7, 10**8]
    for dtype in (np.int8, np.float32):
        yield from growing(dtype, sizes, rounds=20 if quick else 200)
    yield from rounding(10**6, rounds=5 if quick else 50)


if __name__ == "__main__":
    run(__doc__, "What a draw costs, in µs", rows)
