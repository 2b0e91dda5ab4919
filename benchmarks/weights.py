"""What a distribution over many cells costs: beside the speed of the memory, and beside summing every table alone."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from table import Row, compared, microseconds, run
from unworn.universe.model import contraction, table_kernel
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.model import Axes

SHARE = 0.6
"""Of the memory's speed, what an update with its answers must reach at least."""
MOVED = 16
"""Bytes a cell: read once, written once."""
ADULT = (2, 5, 7, 6, 2, 8, 5, 3)


def step(model: Explicit, axes: Axes, exponents: NDArray[np.float64], many: Sequence[Axes]) -> list[NDArray]:
    """One update, the renormalisation, and the answers."""
    model.tilt(axes, exponents)
    return model.tables(many)


def by_numpy(work: Callable[[], object]) -> Callable[[], object]:
    """The same without the compiled kernel."""

    def alone() -> None:
        kept, table_kernel.COMPILED = table_kernel.COMPILED, 2**62
        try:
            work()
        finally:
            table_kernel.COMPILED = kept

    return alone


def bandwidth(columns: int, rounds: int) -> Iterator[Row]:
    """Against the best of three plain passes over as many numbers, on one thread like ours."""
    cells = 2**columns
    model, one, two = Explicit.uniform((2,) * columns), np.ones(cells), np.ones(cells)
    rng = np.random.default_rng(0)
    tilts = {axes: rng.normal(0.0, 0.1, (2,) * len(axes)) for axes in ((3, 14, 20), (5, 19), (0, 1, 2))}
    works = {
        "all 1-way marginals, 3-way update": ((3, 14, 20), [(axis,) for axis in range(columns)]),
        "a 3-way marginal, update of another": ((3, 14, 20), [(2, 15, columns - 1)]),
        "a 2-way marginal, the one updated": ((5, 19), [(5, 19)]),
        "a 3-way marginal of the first columns": ((0, 1, 2), [(0, 1, 2)]),
    }
    turns: dict[str, Callable[[], object]] = {
        "x *= c": lambda: np.multiply(one, 1.0000001, out=one),
        "y = x": lambda: np.copyto(two, one),
        "y = x * c": lambda: np.multiply(one, 1.0000001, out=two),
    }
    compiled = importlib.util.find_spec("numba") is not None
    for name, (axes, many) in works.items():
        turns[name] = partial(step, model, axes, tilts[axes], many)
        if compiled:
            turns[f"NumPy alone: {name}"] = by_numpy(turns[name])
    times = microseconds(turns, rounds)
    streams = {name: times[name] for name in ("x *= c", "y = x", "y = x * c")}
    best = min(streams, key=lambda name: streams[name])
    speed = MOVED * cells / streams[best] / 1e3
    with_what = "numba" if compiled else "NumPy alone"
    for name in works:
        what = f"2^{columns} cells, {with_what}: {name}"
        yield compared(f"{what}; µs, against {best}", times[name], streams[best], 1 / SHARE)
        yield compared(f"{what}; GB/s", MOVED * cells / times[name] / 1e3, speed)
        if compiled:
            alone = times[f"NumPy alone: {name}"]
            yield compared(f"2^{columns} cells, NumPy alone: {name}; µs, against {best}", alone, streams[best])


def conjunctions(columns: int, rounds: int) -> Iterator[Row]:
    """An update of one cell of a table of two columns touches a quarter of the cells."""
    model, one = Explicit.uniform((2,) * columns), np.ones(2**columns)
    table = np.array([[0.0, 0.0], [0.0, 1e-3]])
    turns: dict[str, Callable[[], object]] = {
        f"columns {axes}": partial(model.tilt, axes, table) for axes in ((0, 1), (4, 9), (columns - 2, columns - 1))
    }
    times = microseconds({**turns, "x *= c": lambda: np.multiply(one, 1.0000001, out=one)}, rounds)
    for name in turns:
        what = f"2^{columns} cells: update by a conjunction of {name}; µs, against x *= c"
        yield compared(what, times[name], times["x *= c"])


MEMORY = """
import sys, tracemalloc
import numpy as np
from unworn.noise import Stream
from unworn.universe.model import table_kernel as kernel
from unworn.universe.model.explicit_model import Explicit

columns = int(sys.argv[1])
small = [np.ones((2, 8)), np.ones((1, 8)), np.zeros(2, int), np.zeros((1, 8)), np.zeros(2, int), np.zeros(2)]
kernel.sweep(2**30)[0](*small)  # the compiler's own memory is not the weights'
Stream(bytes(32)).words(1)
tracemalloc.start()
model = Explicit.uniform((2,) * columns)
for axes in ((3, 14), (0, 1), (columns - 2, columns - 1)):
    model.tilt(axes, np.ones((2, 2)) * 0.1 - np.eye(2))
    model.tables([(axis,) for axis in range(columns)])
    model.table((1, 5, columns - 1))
model.tilt((3, 14), np.eye(2))
model.tables([(first, last) for last in range(columns) for first in range(last)])
model.draw(Stream(bytes(32)), 100_000)
print(tracemalloc.get_traced_memory()[1])
"""


def memory(columns: int) -> Row:
    """The most memory that is held while a process tilts, reads all kinds of tables and draws rows."""
    done = subprocess.run([sys.executable, "-c", MEMORY, str(columns)], check=True, capture_output=True, text=True)
    what = f"2^{columns} cells: most memory while working, MB, against the weights"
    return compared(what, int(done.stdout) / 1e6, 8 * 2**columns / 1e6, 3.0)


def alone(whole: NDArray, many: Sequence[Axes]) -> list[NDArray]:
    """Every table summed from the whole."""
    return [whole.sum(axis=tuple(axis for axis in range(whole.ndim) if axis not in axes)) for axes in many]


def added(small: Sequence[NDArray], many: Sequence[Axes], shape: tuple[int, ...]) -> NDArray:
    """Every table added to the whole."""
    whole = np.zeros(shape)
    for table, axes in zip(small, many, strict=True):
        whole += table.reshape([size if axis in axes else 1 for axis, size in enumerate(shape)])
    return whole


def shared(rounds: int) -> Iterator[Row]:
    many = tuple(axes for ways in (2, 3) for axes in combinations(range(8), ways))
    whole = np.random.default_rng(0).random(ADULT)
    counts = np.random.default_rng(0).integers(0, 9, ADULT)
    small = contraction.tables(whole, many)
    times = microseconds(
        {
            "tables": lambda: contraction.tables(whole, many),
            "counts": lambda: contraction.tables(counts, many),
            "alone": lambda: alone(whole, many),
            "spread": lambda: contraction.spread(small, many, ADULT),
            "added": lambda: added(small, many, ADULT),
        },
        rounds,
    )
    name = f"{math.prod(ADULT):,} cells, {len(many)} tables of 2 and 3 columns"
    yield compared(f"{name}; µs, against summing each from the whole", times["tables"], times["alone"], 0.2)
    yield compared(f"{name}, of whole numbers; µs, against the same", times["counts"], times["alone"], 0.2)
    yield compared(f"{name}, added up; µs, against adding each to the whole", times["spread"], times["added"], 0.5)


def transformed(columns: int, rounds: int) -> Iterator[Row]:
    shape, many = (2,) * columns, tuple(combinations(range(columns), 3))
    whole, natural = np.random.default_rng(0).random(shape), tuple(range(columns))
    tree = contraction.ContractionPlan(shape, many).grown(natural, frozenset(many), natural, False)
    chosen = contraction.plan_contraction(shape, many)
    times = microseconds({"chosen": lambda: chosen.tables(whole), "tree": lambda: tree.tables(whole)}, rounds)
    what = f"2^{columns} cells, all {len(many):,} tables of 3 columns, by transform; µs, against a tree of sums"
    yield compared(what, times["chosen"], times["tree"], 1.0)


def rows(quick: bool) -> Iterator[Row]:
    columns = 22 if quick else 24
    yield from bandwidth(columns, rounds=3 if quick else 41)
    yield from conjunctions(columns, rounds=3 if quick else 21)
    yield memory(columns)
    yield from shared(rounds=3 if quick else 31)
    yield from transformed(16 if quick else 20, rounds=3 if quick else 15)


if __name__ == "__main__":
    run(__doc__, "What a distribution over many cells costs", rows)
