"""Whether draws are uniform and independent, judged from the rows that came out: the same for every engine.

Rows carry their own place in a column ``place``. A question that notes what it is shown (:class:`Seen`) is put to
draws as any other would be, so that the whole way is judged: the choice of places, the engine's batches, the pool.

Every test counts something that is binomial, or a sum of hypergeometric counts, when draws are as they should be. Of
both, the chance to stray is bounded by Chernoff's bound with the Kullback-Leibler divergence (for the second Hoeffding
1963, theorem 4), so that false alarms are counted and not guessed: each of the tests of one call gets an equal share of
``ALARM``, and all of them together raise a false one with a chance below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.queries import Share, col
from unworn.queries.row_protocol import Frame
from unworn.rows.memory.draw_pool import Pool

ALARM = 1e-7
KEY = bytes(range(32))
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Seen(Share):
    """A share that notes the places of the rows it is shown."""

    notes: list[Places] = field(default_factory=list, compare=False)

    def values(self, frame: Frame) -> Any:
        self.notes.append(np.asarray(frame.column("place").values).astype(np.int64))
        return super().values(frame)


def seen_by(count: Callable[[Seen], int]) -> Places:
    """The places of all rows that were shown to one question."""
    question = Seen(col("place") >= 0)
    told = count(question)
    places = np.concatenate(question.notes)
    assert told == len(places)  # every place is at least 0
    return places


def inline(rows: Any, units: int, replace: bool, turns: int) -> Iterator[Places]:
    """Draws that are made with their question."""
    for turn in range(turns):
        yield seen_by(lambda question, turn=turn: rows.drawn(question, units, Stream(KEY, "inline", turn), replace))


def pooled(rows: Any, units: int, replace: bool, turns: int, name: str = "seeded") -> Iterator[Places]:
    """Draws that are made ahead; the name of the pool is fixed, so that a test repeats itself."""
    pool = Pool(rows, KEY)
    pool._name = name
    pool.gather(turns, units, replace)
    while (ready := pool.take(lambda draw: False)) is not None:
        yield seen_by(lambda question, ready=ready: ready.count(question, Stream(KEY, "ask")))


def both(rows: Any, units: int, replace: bool, turns: int) -> Iterator[Places]:
    """One ahead, one inline, one ahead, …: neither may know of the other."""
    for pair in zip(pooled(rows, units, replace, turns // 2), inline(rows, units, replace, turns // 2), strict=True):
        yield from pair


def faults(samples: Iterable[Places], n: int, replace: bool, borders: Sequence[int] = ()) -> list[str]:
    """What is wrong with successive draws of equally many of ``n`` rows; ``borders`` are places where a batch begins.

    Each row comes equally often; rows at borders, and the first and last, do; two rows of one draw are near each other,
    in one block or alike by their lowest bits no more often than they should be; and rows of one draw are among those
    of the next eight no more often either.
    """
    drawn = list(samples)
    units = len(drawn[0])
    assert len(drawn) * units >= 40 * n, "too few rows are drawn to judge each of them"
    found: list[str] = []
    if any(len(sample) != units or sample.min() < 0 or sample.max() >= n for sample in drawn):
        return ["draws have other sizes, or places that are not there"]
    if not replace and any(len(np.unique(sample)) < units for sample in drawn):
        found.append("a row stands twice in a draw without replacement")
    tests = [*_places(drawn, n, borders), *_pairs(drawn, n, replace), *_turns(drawn, n)]
    alarm = ALARM / (len(tests) + 1)
    found += [str(test) for test in tests if not test.likely(alarm)]
    return found + (list(_repeats(drawn, n, alarm)) if replace else [])


@dataclass(frozen=True)
class Count:
    """What was counted: of so many trials so many came out, each with this chance."""

    what: str
    count: int
    trials: int
    chance: float

    def likely(self, alarm: float) -> bool:
        """Whether such a count, or one further out, has at least this chance; each side has half of it."""
        share = self.count / self.trials
        return self.trials * _divergence(share, self.chance) < math.log(2 / alarm)

    def __str__(self) -> str:
        return f"{self.what}: {self.count} where {self.trials * self.chance:.1f} are expected"


def _divergence(one: float, other: float) -> float:
    if not 0 < other < 1:
        return 0.0 if one == other else math.inf
    parts = ((one, other), (1 - one, 1 - other))
    return sum(a * math.log(a / b) for a, b in parts if a > 0)


def _places(drawn: Sequence[Places], n: int, borders: Sequence[int]) -> Iterator[Count]:
    """Over all draws, how often each row came; and rows together that a fault would treat alike."""
    counts = np.bincount(np.concatenate(drawn), minlength=n)[:n]
    trials = sum(map(len, drawn))
    for place, count in enumerate(counts.tolist()):
        yield Count(f"row {place}", count, trials, 1 / n)
    where = np.arange(n)
    inside = np.array([border for border in borders if 0 < border < n], dtype=np.int64)
    some = {
        "first rows of batches": np.isin(where, inside),
        "last rows of batches": np.isin(where, inside - 1),
        "first and last row": np.isin(where, [0, n - 1]),
        "first half": where < n // 2,
        "middle half": (where >= n // 4) & (where < n - n // 4),
        **{f"eighth {part}": where * 8 // n == part for part in range(8)},
        **{f"multiples of {step}": where % step == 0 for step in (2, 3, 64)},
    }
    for name, chosen in some.items():
        if chosen.any():
            yield Count(name, int(counts[chosen].sum()), trials, float(chosen.mean()))


def _pairs(drawn: Sequence[Places], n: int, replace: bool) -> Iterator[Count]:
    """Two rows of each draw, picked at random: one pair a draw, so that pairs are independent."""
    if len(drawn[0]) < 2:
        return
    rng = np.random.default_rng(1)
    picked = np.array([rng.choice(sample, 2, replace=False) for sample in drawn])
    one, other = picked[:, 0], picked[:, 1]
    everything, where = n * n if replace else n * (n - 1), np.arange(n)

    def alike(classes: Places) -> float:
        sizes = np.bincount(classes)
        return float((sizes * (sizes if replace else sizes - 1)).sum() / everything)

    for blocks in (2, 8, 32):
        block = where * blocks // n
        yield Count(
            f"pairs in one of {blocks} blocks", int((block[one] == block[other]).sum()), len(drawn), alike(block)
        )
    for step in (2, 8):
        yield Count(
            f"pairs alike modulo {step}", int((one % step == other % step).sum()), len(drawn), alike(where % step)
        )
    near = np.abs(one - other) <= 2
    chance = ((n if replace else 0) + 2 * (n - 1) + 2 * (n - 2)) / everything
    yield Count("pairs of near rows", int(near.sum()), len(drawn), chance)
    yield Count("pairs in order", int((one < other).sum()), len(drawn), n * (n - 1) / 2 / everything)


def _turns(drawn: Sequence[Places], n: int) -> Iterator[Count]:
    """How many rows of a draw, as they are or moved by a place, were in one of the draws before.

    Given the draw before, whatever it was, each row of the next is in it with a chance that is known.
    """
    times = np.stack([np.bincount(sample, minlength=n)[:n] for sample in drawn])
    inside = times > 0
    for shift in (-1, 0, 1):
        moved = np.zeros_like(inside)
        moved[:, max(shift, 0) : n + min(shift, 0)] = inside[:, max(-shift, 0) : n - max(shift, 0)]
        for lag in range(1, min(8, len(drawn) - 1) + 1):
            before, after = moved[:-lag], times[lag:]
            expected = (before.mean(axis=1) * after.sum(axis=1)).sum()
            trials = int(after.sum())
            what = f"rows of the draw {lag} before" + (f" moved by {shift}" if shift else "")
            yield Count(what, int(after[before].sum()), trials, float(expected / trials))


def _repeats(drawn: Sequence[Places], n: int, alarm: float) -> Iterator[str]:
    """With replacement, how many different rows draws have: each row drawn changes that by one at most (McDiarmid)."""
    trials = sum(map(len, drawn))
    different = sum(len(np.unique(sample)) for sample in drawn)
    expected = sum(n * -math.expm1(len(sample) * math.log1p(-1 / n)) for sample in drawn)
    if abs(different - expected) >= math.sqrt(trials * math.log(2 / alarm) / 2):
        yield f"different rows: {different} where {expected:.1f} are expected"
