"""How wide the intervals are: against the published guess and check, and against what guesses really get.

The *floor* is what the confidence limits alone give at an ask, each surprise before it two cells off; the published
tolerance (Rogers et al. 2020) is the same for the published code and Hoeffding's width, or away from one half the
Chernoff-KL limits; of both the larger side is taken. Released widths (half the interval) are wider than the floor by
the slack that lets an honest guess agree; sharpening takes them back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rich.table import Column, Table

from table import Row, as_json, compared, console, count, options, show, verdict
from unworn import Holdout, col, share
from unworn.bounds import clopper_pearson, level, offset_nats, published_tolerance
from unworn.events import Described
from unworn.mechanisms import Guess, GuessAndCheck, State
from unworn.mechanisms.cells import locate
from unworn.mechanisms.guess_and_check import standard_error
from unworn.queries.query import Facts

BETA = 0.05
OFFSET = 2
YES_OR_NO = Facts("binary", 0.0, 1.0)

REFERENCE = {
    (1_000, 0): (0.0253, 0.0159),
    (1_000, 3): (0.0452, 0.0294),
    (1_000, 20): (0.0894, 0.0626),
    (10_000, 0): (0.0284, 0.0179),
    (10_000, 3): (0.0505, 0.0331),
    (10_000, 20): (0.1019, 0.0728),
}
"""Floors worked out independently, for 10,000 rows: (ask, surprises) to those at p = .5 and p = .9."""


@dataclass(frozen=True)
class Case:
    """An ask: so many rows, its index, the surprises before it, and the share that is seen."""

    rows: int
    ask: int
    surprises: int
    p: float

    def __str__(self) -> str:
        return f"{self.rows:,} rows, ask {self.ask:,}, {self.surprises} surprises, p = {self.p}"

    @property
    def nats(self) -> float:
        return self.surprises * offset_nats(OFFSET)

    def floor(self) -> float:
        """The larger side of the exact limits at this ask's level."""
        log_level = level(BETA, self.ask, self.surprises, self.nats)
        low, high = clopper_pearson(round(self.p * self.rows), self.rows, log_level)
        return max(self.p - low, high - self.p)

    def published(self) -> float:
        centre = None if self.p == 0.5 else self.p
        return published_tolerance(self.rows, self.ask, self.surprises, BETA, p=centre)

    def released(self) -> dict[str, float]:
        """Half-widths as they are answered, if the rows' value is the guess itself."""
        mechanism = GuessAndCheck()
        state = State(self.rows, math.log(BETA), None, self.ask - 1, self.surprises, self.nats)
        exact = mechanism.offer(state, YES_OR_NO, Guess(self.p, 0.0))
        told = mechanism.offer(state, YES_OR_NO, Guess(self.p, standard_error(self.p * (1 - self.p), self.rows)))
        widths = {"exact guess": mechanism.publish_width(exact, 0), "train guess": mechanism.publish_width(told, 0)}
        symbol = 0
        for name in ("sharpened", "twice"):
            state = mechanism.after(state, Described(*mechanism.cost(told, symbol)))
            told = mechanism.sharpen(state, told, symbol)
            symbol = locate(told, self.p)
            widths[name] = mechanism.publish_width(told, symbol)
        return widths


def cases(quick: bool) -> Iterator[Case]:
    for rows in [10_000] if quick else [1_000, 10_000, 100_000]:
        for ask in [1_000, 10_000] if quick else [100, 1_000, 10_000]:
            for surprises in (0, 3, 20):
                for p in (0.5, 0.9):
                    yield Case(rows, ask, surprises, p)


def reference() -> list[Row]:
    """The floor must agree with numbers that were not made by this code, within one per cent either way."""
    rows = []
    for (ask, surprises), floors in REFERENCE.items():
        for p, told in zip((0.5, 0.9), floors, strict=True):
            case = Case(10_000, ask, surprises, p)
            ratio = case.floor() / told
            rows.append(Row(f"floor, reference: {case}", case.floor(), told, ratio, 1.01, 0.99 <= ratio <= 1.01))
    return rows


def honest(repetitions: int, rows: int = 10_000, asks: int = 1_000, seed: int = 7) -> list[Row]:
    """Surprises and the last width when every guess comes from a training set as large as the holdout."""
    surprises, last = [], []
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, repetition])
        names = [f"x{place}" for place in range(8)]
        holdout, train = ({name: rng.random(rows) for name in names} for _ in range(2))
        with_guesses = Holdout(holdout, train=train, ledger=None)
        for _ in range(asks):
            first, second = rng.choice(names, 2, replace=False)
            # Shares of all sizes, about one half most often.
            question = share((col(first) > rng.uniform(0, 0.6)) | (col(second) > rng.uniform(0.4, 1)))
            answer = with_guesses.ask(question, again=True)
        surprises.append(with_guesses.meter.surprises)
        last.append(answer.width)
    most = max(surprises)
    what = f"surprises in {asks:,} honest asks, {rows:,} rows, most of {repetitions} repetitions"
    mean = f"surprises in {asks:,} honest asks, {rows:,} rows, mean of {repetitions} repetitions"
    expected = Case(rows, asks, 0, 0.5).released()["train guess"]
    return [
        Row(what, most, None, None, 1, most <= 1),
        Row(mean, float(np.mean(surprises)), None, None, None, None),
        compared("width of the last of them (median), against p = 0.5", float(np.median(last)), expected),
    ]


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    columns = ("floor", "published", "ratio", "holds", "exact guess", "train guess", "sharpened", "twice")
    table = Table(Column("case"), *(Column(name, justify="right") for name in columns), title="Half-widths, 95 %")
    judged, released = [], []
    for case in cases(chosen.quick):
        row = compared(f"floor, published: {case}", case.floor(), case.published(), 1.0)
        widths = case.released()
        judged.append(row)
        released += [compared(f"{name}, floor: {case}", width, row.ours) for name, width in widths.items()]
        numbers = (f"{row.ours:.4f}", f"{row.against:.4f}", f"{row.ratio:.3f}", verdict(row.holds))
        table.add_row(str(case), *numbers, *(f"{width:.4f}" for width in widths.values()))
    told, guessed = reference(), honest(3 if chosen.quick else 20, asks=1_000)
    if chosen.json:
        print(as_json([*judged, *told, *guessed, *released]))
        return
    console().print(table)
    count(judged)
    show("The floor against independent numbers", told, 4)
    show("Honest guesses, from a training set of equal size", guessed, 4)


if __name__ == "__main__":
    main()
