"""Privacy bounds overfitting on average: a question chosen privately from the rows, on those rows and on others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from unworn import charts
from unworn.bounds.transfer import sharp_expectation
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.noise import Stream
from unworn.noise.private_selection import exponential

CHOSEN, LEAK, BEST = "private choice", "private, rows told with δ", "the best, without privacy"
LECTURE, SHARP, SHARP_LEAK = "lecture: 2ε", "sharp: tanh(ε/4)", "sharp, with δ"
ROWS, QUESTIONS, DELTA = 4, 256, 0.05
EPSILONS = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)


def mean_gap(epsilon: float, delta: float, plays: int, rng: np.random.Generator) -> tuple[float, float]:
    """E[h(S)] - E[h(P)] for a question h that was chosen ``(epsilon, delta)``-privately, and its standard error.

    Rows are fair coins, one for each question, so that h(P) = 1/2. The exponential mechanism chooses by counts, which a
    row changes by 1. With probability ``delta`` the rows themselves are told, and h holds for them and nothing else.
    An infinite ``epsilon`` chooses the best.

    >>> gap, _ = mean_gap(1.0, 0.0, 200, np.random.default_rng(1))
    >>> 0 < gap < sharp_expectation(1.0, 0.0)
    True
    """
    counts = rng.binomial(ROWS, 0.5, size=(plays, QUESTIONS))
    told, noise = rng.random(plays) < delta, Stream(rng.bytes(32), "selection")
    gaps = np.empty(plays)
    for play, scores in enumerate(counts):
        place = int(scores.argmax()) if math.isinf(epsilon) else exponential(noise, scores, epsilon / 2)
        gaps[play] = 1.0 if told[play] else scores[place] / ROWS - 0.5
    return float(gaps.mean()), float(gaps.std(ddof=1) / math.sqrt(plays))


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    plays = 8_000 if effort == "quick" else 200_000
    table: list[TableRow] = []
    for place, epsilon in enumerate(EPSILONS):
        for what, spent, delta in ((CHOSEN, epsilon, 0.0), (LEAK, epsilon, DELTA), (BEST, math.inf, 0.0)):
            gap, error = mean_gap(spent, delta, plays, np.random.default_rng([seed, place, len(what)]))
            table.append(_row(what, epsilon, delta, gap, error))
        table.append(_row(LECTURE, epsilon, 0.0, 2 * epsilon, 0.0))
        table.append(_row(SHARP, epsilon, 0.0, sharp_expectation(epsilon, 0.0), 0.0))
        table.append(_row(SHARP_LEAK, epsilon, DELTA, sharp_expectation(epsilon, DELTA), 0.0))
        progress(place + 1, len(EPSILONS))
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""

    def number(row: TableRow, name: str) -> float:
        return float(row[name] or 0)

    def is_within(row: TableRow, bound: float) -> bool:
        return abs(number(row, "gap")) <= bound + 5 * number(row, "error")

    kept = sharp = True
    for row in (row for row in table if row["what"] in (CHOSEN, LEAK)):
        epsilon, delta = number(row, "epsilon"), number(row, "delta")
        kept &= is_within(row, 2 * epsilon + delta)
        sharp &= is_within(row, sharp_expectation(epsilon, delta))
    best = min(number(row, "gap") for row in table if row["what"] == BEST)
    seen = next(number(row, "gap") for row in reversed(table) if row["what"] == CHOSEN)
    return ClaimOutcome(
        kept and sharp and best > 0.4 and seen > 0.05,
        f"The best of {QUESTIONS} questions looks {best:.2f} better than it is on {ROWS} rows; chosen with ε = 1 it "
        f"looks {seen:.3f} better, and no private choice passes 2ε + δ" + (", nor the sharp bound." if sharp else "."),
        tuple(table),
    )


def _row(what: str, epsilon: float, delta: float, gap: float, error: float) -> TableRow:
    return {"what": what, "epsilon": epsilon, "delta": delta, "gap": gap, "error": error}


CLAIM = PaperClaim(
    name="expectation",
    title="What was chosen privately generalises on average",
    statement="A hypothesis h chosen from the rows S with (ε, δ)-privacy, ε < 1, generalises in expectation: "
    "|E h(S) − E h(P)| ≤ 2ε + δ.",
    citation="McSherry, folklore, as in the lecture; Bassily, Nissim, Smith, Steinke, Stemmer and Ullman, STOC 2016. "
    "Sharp: t + (1 − t)δ with t = tanh(ε/4), Theorem D2 at probability one.",
    lectures=("004 Differential privacy → generalization on average",),
    expected="No mean gap of a private choice more than five standard errors above 2ε + δ, nor above t + (1 − t)δ "
    "with t = tanh(ε/4); with ε = 1 a gap above 0.05, and without privacy one above 0.4.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="epsilon",
        y="gap",
        x_title="ε of the choice",
        y_title="E h(S) − E h(P)",
        dashed=(LECTURE, SHARP, SHARP_LEAK),
    ),
)
