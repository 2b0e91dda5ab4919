"""What exact noise costs: beside NumPy's float noise, which must not be released, and one draw at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from table import Row, compared, microseconds, run
from unworn.noise import Stream
from unworn.noise.samplers import coins, discrete_gaussian, gaussian, indices, laplace, raised_cosine

SCALE = 100.0
ONE = 20.0
"""Microseconds that one draw may take."""


def against_numpy(size: int, rounds: int) -> Iterator[Row]:
    stream, rng = Stream(bytes(32), "benchmark"), np.random.default_rng(0)
    chances = rng.random(size)
    turns = {
        "laplace": partial(laplace, stream, SCALE, size),
        "gaussian": partial(gaussian, stream, SCALE, size),
        "discrete gaussian": partial(discrete_gaussian, stream, SCALE, size),
        "raised cosine": partial(raised_cosine, stream, int(SCALE), size),
        "raised cosine, N = 2**40": partial(raised_cosine, stream, 2**40, size),
        "coins": partial(coins, stream, chances),
        "numpy laplace": partial(rng.laplace, 0.0, SCALE, size),
        "numpy normal": partial(rng.normal, 0.0, SCALE, size),
        "numpy coins": lambda: rng.random(size) < chances,
    }
    times = microseconds(turns, rounds)
    for name, peer, goal in (
        ("laplace", "numpy laplace", 5.0),
        ("gaussian", "numpy normal", 10.0),
        ("discrete gaussian", "numpy normal", 10.0),
        ("raised cosine", "numpy normal", 10.0),
        ("raised cosine, N = 2**40", "numpy normal", 10.0),
        ("coins", "numpy coins", None),
    ):
        yield compared(f"{size:,} of {name}, against {peer}", times[name], times[peer], goal)


def one_at_a_time(rounds: int) -> Iterator[Row]:
    stream = Stream(bytes(32), "benchmark")
    turns = {
        "laplace": partial(laplace, stream, SCALE, 1),
        "gaussian": partial(gaussian, stream, SCALE, 1),
        "raised cosine": partial(raised_cosine, stream, int(SCALE), 1),
        "discrete gaussian": partial(discrete_gaussian, stream, SCALE, 1),
    }
    for name, spent in microseconds(turns, rounds, warm=50).items():
        yield compared(f"one draw of {name}", spent, ONE, None if name == "discrete gaussian" else 1.0)
    many = microseconds({"many": partial(discrete_gaussian, stream, SCALE, 1_000)}, max(rounds // 10, 5))["many"]
    yield compared("a draw of discrete gaussian, of 1,000 at once", many / 1_000, ONE, 1.0)
    wide = microseconds({"wide": partial(laplace, stream, 2.0**52, 20)}, max(rounds // 100, 3))["wide"]
    yield Row("a draw of laplace of scale 2**52, where every draw is settled", wide / 20, None, None, None, None)


def rows_drawn(count: int, rounds: int) -> Iterator[Row]:
    stream, rng = Stream(bytes(32), "benchmark"), np.random.default_rng(0)
    n = 10**8
    turns = {
        "with": partial(indices, stream, n, count, True),
        "without": partial(indices, stream, n, count, False),
        "numpy": partial(rng.integers, 0, n, count),
    }
    times = microseconds(turns, rounds)
    for way in ("with", "without"):
        what = f"{count:,} indices of {n:,}, {way} replacement, against numpy integers"
        yield compared(what, times[way], times["numpy"])


def rows(quick: bool) -> Iterator[Row]:
    yield from against_numpy(50_000 if quick else 1_000_000, rounds=3 if quick else 15)
    yield from one_at_a_time(rounds=50 if quick else 2_000)
    yield from rows_drawn(10_000, rounds=10 if quick else 300)


if __name__ == "__main__":
    run(__doc__, "What exact noise costs, in µs", rows)
