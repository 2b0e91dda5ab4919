"""What others make of the same table: MWEM as textbooks have it, and Private-PGM; each in a process of its own.

Nothing of unworn is imported, so another interpreter can run this, as ``benchmarks/release.py`` says: with codes from a
file, ``python peers.py WHICH SPENT FILE ...`` prints errors, seconds and memory as JSON.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Axes = tuple[int, ...]
Tables = dict[Axes, NDArray[Any]]
MISSING = 3
"""What this exits with when the library asked for is not installed."""


def asked(columns: int) -> list[Axes]:
    """All tables of two and of three columns."""
    return [axes for ways in (2, 3) for axes in combinations(range(columns), ways)]


def counted(codes: NDArray[np.int32], shape: tuple[int, ...], many: list[Axes]) -> Tables:
    found = {}
    for axes in many:
        sizes = tuple(shape[axis] for axis in axes)
        places = np.ravel_multi_index(tuple(codes[:, axis] for axis in axes), sizes)
        found[axes] = np.bincount(places, minlength=math.prod(sizes)).reshape(sizes)
    return found


def textbook_mwem(
    codes: NDArray[np.int32], shape: tuple[int, ...], epsilon: float, seed: int, rounds: int = 50, replays: int = 20
) -> Tables:
    """Hardt, Ligett and McSherry (2012): one count at a time is chosen, measured and replayed; pure epsilon."""
    rng, rows, many = np.random.default_rng(seed), len(codes), asked(len(shape))
    truth, weights = counted(codes, shape, many), np.full(shape, 1.0 / math.prod(shape))
    line = np.concatenate([truth[axes].reshape(-1) for axes in many])
    owners = np.repeat(np.arange(len(many)), [truth[axes].size for axes in many])
    starts = np.searchsorted(owners, np.arange(len(many)))
    measured: list[tuple[tuple[int | slice, ...], float]] = []
    total = 1.0
    for _ in range(rounds):
        told = np.concatenate([table.reshape(-1) for table in marginals(weights, many)])
        scores = np.abs(rows * told - line) * epsilon / (4.0 * rounds)  # half of the budget to choose, half to measure
        place = int(np.argmax(scores + rng.gumbel(size=len(scores))))
        axes = many[owners[place]]
        cell = np.unravel_index(place - starts[owners[place]], truth[axes].shape)
        where: list[int | slice] = [slice(None)] * len(shape)
        for axis, value in zip(axes, cell, strict=True):
            where[axis] = int(value)
        measured.append((tuple(where), (line[place] + rng.laplace(0.0, 2.0 * rounds / epsilon)) / rows))
        for _ in range(replays):
            for at, share in reversed(measured):
                grown = math.expm1((share - weights[at].sum() / total) / 2.0)
                total += grown * weights[at].sum()
                weights[at] += grown * weights[at]
        weights, total = weights / total, 1.0
    return dict(zip(many, marginals(weights, many), strict=True))


def marginals(weights: NDArray[Any], many: list[Axes]) -> Iterator[NDArray[Any]]:
    """Every table, summed from the table of its columns and those before its last."""
    made = {tuple(range(weights.ndim)): weights}
    for axes in many:
        kept = tuple(axis for axis in range(weights.ndim) if axis in axes or axis < axes[-1])
        if kept not in made:
            made[kept] = weights.sum(axis=tuple(axis for axis in range(weights.ndim) if axis not in kept))
        table = made[kept]
        yield table.sum(axis=tuple(place for place, axis in enumerate(kept) if axis not in axes))


def private_pgm(codes: NDArray[np.int32], shape: tuple[int, ...], mu: float, seed: int) -> Tables:
    """All tables of three columns with normal noise, mu-Gaussian private together, fitted by Private-PGM's defaults."""
    import jax

    jax.config.update("jax_enable_x64", True)  # as the library asks for
    jax.config.update("jax_enable_compilation_cache", False)
    from mbi import Domain, LinearMeasurement
    from mbi.estimation import MirrorDescent

    rng, names = np.random.default_rng(seed), [f"c{axis}" for axis in range(len(shape))]
    threes = [axes for axes in asked(len(shape)) if len(axes) == 3]
    sd = math.sqrt(2.0 * len(threes)) / mu
    measured = []
    for axes, table in counted(codes, shape, threes).items():
        noisy = table + np.rint(rng.normal(0.0, sd, table.shape))
        measured.append(LinearMeasurement(noisy.reshape(-1), tuple(names[axis] for axis in axes), sd))
    domain = Domain.fromdict(dict(zip(names, shape, strict=True)))
    model = MirrorDescent().estimate(domain, measured, known_total=float(len(codes)))
    told = {axes: model.project(tuple(names[axis] for axis in axes)).values for axes in asked(len(shape))}
    return {axes: np.asarray(table) / len(codes) for axes, table in told.items()}


def errors(codes: NDArray[np.int32], shape: tuple[int, ...], told: Tables) -> tuple[float, float]:
    """The largest and the mean error over all cells of all tables."""
    truth = counted(codes, shape, list(told))
    off = np.concatenate([np.abs(told[axes] - truth[axes] / len(codes)).reshape(-1) for axes in told])
    return float(off.max()), float(off.mean())


class Clock:
    """Seconds of the processor, which do not depend on who else uses the machine; and seconds on the wall.

    On a quiet machine work on one thread takes the same of both, and work on many threads more of the first.
    """

    def __init__(self) -> None:
        self.processor, self.wall = time.process_time(), time.perf_counter()

    def spent(self) -> dict[str, float]:
        return {"seconds": time.process_time() - self.processor, "wall": time.perf_counter() - self.wall}


def megabytes() -> float:
    """The most memory this process has held. (Linux lets ru_maxrss begin with that of whoever started the process.)"""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1e3
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # in bytes where there is no /proc


def told(runs: list[dict[str, float]], **others: Any) -> str:
    """What a process reports."""
    return json.dumps({"runs": runs, "megabytes": megabytes(), **others})


def main(which: str, spent: str, shape: str, *files: str) -> None:
    release: Callable[..., Tables] = {"textbook": textbook_mwem, "pgm": private_pgm}[which]
    version = ""
    if which == "pgm":
        from importlib.metadata import PackageNotFoundError
        from importlib.metadata import version as installed

        try:
            version = installed("mbi")
        except PackageNotFoundError:
            sys.exit(MISSING)
    sizes, runs = tuple(json.loads(shape)), []
    for seed, file in enumerate(files):
        codes = np.load(file)
        clock = Clock()
        tables = release(codes, sizes, float(spent), seed)
        times = clock.spent()
        largest, mean = errors(codes, sizes, tables)
        runs.append({"largest": largest, "mean": mean, **times})
    print(told(runs, version=version))


if __name__ == "__main__":
    main(*sys.argv[1:])
