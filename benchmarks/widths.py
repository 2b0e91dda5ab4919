"""How wide the intervals are: against the published guess and check, the law that theory goes by, and fresh test sets.

The *floor* is what the confidence limits alone give at an ask, each surprise before it two cells off and all of them
evenly spread; of its two sides the larger is taken. The published tolerance (Rogers et al. 2020) is the same for the
published code and Hoeffding's width, or away from one half the Chernoff-KL limits. Released widths (half the interval)
are wider than the floor by the slack that lets an honest guess agree; a final number takes them back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from rich.table import Column, Table

from metric_widths import metric_widths
from searches import searches
from table import Row, as_json, compared, console, count, options, show, verdict
from unworn import Holdout, col, share
from unworn.bounds import clopper_pearson, published_tolerance
from unworn.bounds.binomial import high_limit, low_limit
from unworn.bounds.code_length import Pattern, distance_nats, side_nats
from unworn.mechanisms import Guess, GuessAndCheck, State
from unworn.mechanisms.coded.guess_slack import standard_error
from unworn.mechanisms.contract.conversation import published_width
from unworn.mechanisms.contract.mechanism import FinalPlace
from unworn.mechanisms.symbols.symbol_cells import locate
from unworn.queries.query import Facts

BETA = 0.05
OFFSET, CELLS = 2, 100
YES_OR_NO = Facts("binary", 0.0, 1.0, zero_one=True)
FOLDED = 100_000
"""Up to so many asks the pattern is followed ask by ask; beyond, bounded from above."""

REFERENCE = {
    (0, "floor"): (0.0097, 1.0),
    (3, "floor"): (0.0401, 1.0),
    # Surprises have other words by now: near ones are a fifth of a nat longer, far ones shorter.
    (20, "floor"): (0.0865, 1.02),
    (0, "train guess"): (0.038, 1.0),
}
"""Half-widths worked out independently (10,000 rows, ask 1,000, p = .5), and how many times as wide ours may be."""


@dataclass(frozen=True)
class Case:
    """An ask: so many rows, its index, the surprises before it, and the share that is seen."""

    rows: int
    ask: int
    surprises: int
    p: float

    def __str__(self) -> str:
        return f"{self.rows:,} rows, ask {self.ask:,}, {self.surprises} surprises, p = {self.p}"

    def floor(self) -> float:
        """The larger side of the exact limits at this ask's level: all of it for each."""
        return self._larger(pattern(self.ask, self.surprises).nats + words(self.surprises))

    def by_simple_law(self) -> float:
        """The same by the simplest law that is consistent in time, computed here, with the same words."""
        return self._larger(simple_law(self.ask, self.surprises) + words(self.surprises))

    def bonferroni(self) -> float:
        """What as many questions, all fixed before any answer, would have: they need no theorem."""
        return self._larger(math.log(self.ask) + math.log(2.0))

    def _larger(self, nats: float) -> float:
        counted, level = round(self.p * self.rows), math.log(BETA) - nats
        return max(self.p - low_limit(counted, self.rows, level), high_limit(counted, self.rows, level) - self.p)

    def published(self) -> float:
        centre = None if self.p == 0.5 else self.p
        return published_tolerance(self.rows, self.ask, self.surprises, BETA, p=centre)

    def released(self) -> dict[str, float]:
        """Half-widths as they are answered, if the rows' value is the guess itself."""
        mechanism, spent = GuessAndCheck(law="C'"), words(self.surprises)
        before = pattern(self.ask - 1, self.surprises)
        state = State(self.rows, math.log(BETA), None, self.ask - 1, self.surprises, spent, pattern=before)
        exact = mechanism.offer(state, YES_OR_NO, Guess(self.p, 0.0))
        told = mechanism.offer(state, YES_OR_NO, Guess(self.p, standard_error(self.p * (1 - self.p), self.rows)))
        widths = {
            "exact guess": published_width(mechanism, exact, 0),
            "train guess": published_width(mechanism, told, 0),
        }
        state = mechanism.after(state, mechanism.event(told, 0))
        finer = mechanism.sharpen(state, told, 0)
        widths["sharpened"] = published_width(mechanism, finer, locate(finer, self.p))
        last = mechanism.offer_final(state, YES_OR_NO, FinalPlace(told=(told, 0)))
        return widths | {"final": published_width(mechanism, last, self.p)}


@lru_cache(maxsize=64)
def pattern(asks: int, surprises: int) -> Pattern:
    """The law after surprises that are evenly spread."""
    if asks > FOLDED:
        return Pattern.typical(asks, surprises)
    wrong = {round(asks * (place + 1) / (surprises + 1)) for place in range(surprises)}
    found = Pattern()
    for ask in range(1, asks + 1):
        found = found.after("asker", ask in wrong)
    return found


def words(surprises: int) -> float:
    """What surprises say beside where they fall: two cells off, on either side in turn."""
    sides, spent = [0, 0], 0.0
    for place in range(surprises):
        spent += side_nats((sides[0], sides[1]), 1 if place % 2 else -1) + distance_nats(OFFSET, CELLS)
        sides[place % 2] += 1
    return spent


def simple_law(asks: int, surprises: int) -> float:
    """Minus ln of 1/2 [f = 0] + 1/2 sum over g of 2^(-g f) (1 - 2^-g)^(i - f) / (g (g + 1)), a law in time."""
    last = 400
    chances = (
        math.exp(-g * surprises * math.log(2.0) + (asks - surprises) * math.log1p(-(2.0**-g))) / (g * (g + 1))
        for g in range(1, last)
    )
    rest = 1.0 / last if not surprises else 0.0  # of the sum over g from there on
    return -math.log(0.5 * (not surprises) + 0.5 * (math.fsum(chances) + rest))


def cases(quick: bool) -> Iterator[Case]:
    for rows in [10_000] if quick else [1_000, 10_000, 100_000]:
        for ask in [1_000, 10_000] if quick else [100, 1_000, 10_000]:
            for surprises in (0, 3, 20):
                for p in (0.5, 0.9):
                    yield Case(rows, ask, surprises, p)


def floors() -> list[Row]:
    """Never wider than by the simple law; where every fifth guess is wrong, by a two-hundredth at most."""
    found = []
    for rows in (1_000, 10_000, 100_000):
        for ask in (100, 1_000, 10_000, 100_000, 1_000_000):
            for surprises in (0, 3, 20):
                case = Case(rows, ask, surprises, 0.5)
                goal = 1.005 if 5 * surprises >= ask else 1.0
                found.append(compared(f"floor, simple law: {case}", case.floor(), case.by_simple_law(), goal))
            case = Case(rows, ask, 0, 0.5)
            found.append(compared(f"floor, Bonferroni of {ask:,}: {case}", case.floor(), case.bonferroni(), 1.0))
    return found


def reference() -> list[Row]:
    """Numbers that were not made by this code."""
    rows = []
    for (surprises, what), (told, goal) in REFERENCE.items():
        case = Case(10_000, 1_000, surprises, 0.5)
        ours = case.floor() if what == "floor" else case.released()[what]
        rows.append(compared(f"{what}, reference: {case}", ours, told, goal))
    return rows


def final() -> list[Row]:
    """The last number after 300 asks without a surprise, beside what else one could have."""
    case = Case(20_000, 300, 0, 0.5)
    ours = case.released()["final"]
    low, high = clopper_pearson(10_000, 20_000, math.log(BETA))
    where = "20,000 rows, 300 asks, p = 0.5"
    return [
        compared(f"final, reference: {where}", ours, 0.0079, 1.0),
        compared(f"final, untouched test set: {where}", ours, (high - low) / 2),
        compared(f"final, Bonferroni of 300: {where}", ours, case.bonferroni(), 1.0),
    ]


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
    # The default slack lets about one honest conversation in thirteen have a surprise: 1.5 in 20, above 5 in 1 of 200.
    mean, goal = float(np.mean(surprises)), 0.25
    what = f"surprises in {asks:,} honest asks, {rows:,} rows, mean of {repetitions} repetitions"
    expected = Case(rows, asks, 0, 0.5).released()["train guess"]
    return [
        Row(what, mean, None, None, goal, mean <= goal),
        compared("width of the last of them (median), against p = 0.5", float(np.median(last)), expected),
    ]


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    columns = ("floor", "published", "ratio", "holds", "exact guess", "train guess", "sharpened", "final")
    table = Table(Column("case"), *(Column(name, justify="right") for name in columns), title="Half-widths, 95 %")
    judged, released = [], []
    for case in cases(chosen.quick):
        row = compared(f"floor, published: {case}", case.floor(), case.published(), 1.0)
        widths = case.released()
        judged.append(row)
        released += [compared(f"{name}, floor: {case}", width, row.ours) for name, width in widths.items()]
        numbers = (f"{row.ours:.4f}", f"{row.against:.4f}", f"{row.ratio:.3f}", verdict(row.holds))
        table.add_row(str(case), *numbers, *(f"{width:.4f}" for width in widths.values()))
    told, lawful = [*reference(), *final()], floors()
    guessed, searched = honest(3 if chosen.quick else 20, asks=1_000), searches()
    others = metric_widths()
    if chosen.json:
        print(as_json([*judged, *told, *lawful, *guessed, *searched, *others, *released]))
        return
    console().print(table)
    count(judged)
    show("Against independent numbers, and the final number", told, 4)
    show("Floors against the simple law in time, and against Bonferroni", lawful, 4)
    show("Honest guesses, from a training set of equal size", guessed, 4)
    show("Metrics that are no plain shares, after 300 honest asks", others, 4)
    show("Searches of 200 models with practice rows, through Holdout", searched, 4)


if __name__ == "__main__":
    main()
