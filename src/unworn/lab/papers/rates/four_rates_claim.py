"""Four ways to answer k adaptive queries, and the rate at which the error of each grows with k."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from unworn import charts
from unworn.bounds import hoeffding_width
from unworn.bounds.baselines import splitting_width
from unworn.bounds.noisy_means import best_gaussian
from unworn.holdout import Holdout
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.worlds import SignWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Gaussian, Mechanism, MultiplicativeWeights, Naive, SampleSplitting

FIXED = "averages, fixed questions"
SPLIT, GAUSSIAN, WEIGHTS = "sample splitting", "Gaussian noise", "multiplicative weights"
CERTIFIED, MEASURED = "certified half-width, 100 million rows", "largest error measured, 4,000 rows"
BETA, CELLS = 0.05, 64
ROWS = {CERTIFIED: 10**8, MEASURED: 4_000}
PLACES: dict[str, tuple[int, ...]] = {
    FIXED: tuple(10**power for power in range(1, 12)),
    SPLIT: tuple(10**power for power in range(1, 7)),
    GAUSSIAN: tuple(10**power for power in range(1, 12)),
    WEIGHTS: tuple(10**power for power in (1, 3, 5, 7, 8, 9, 10, 11)),
}
SLOPES = {FIXED: (0.0, 0.06), SPLIT: (0.44, 0.6), GAUSSIAN: (0.2, 0.3), WEIGHTS: (0.0, 0.08)}
"""Between which values the slope d ln(width) / d ln(k) has to lie in the last three decades."""


@cache
def _weights(asks: int) -> float:
    rows = ROWS[CERTIFIED]
    domain = {"point": list(range(CELLS))}
    return MultiplicativeWeights(domain=domain).settled(rows, 1 - BETA, asks).reach(rows, asks, 1 - BETA)


WIDTHS: dict[str, Callable[[int], float]] = {
    FIXED: lambda k: float(hoeffding_width(ROWS[CERTIFIED], math.log(BETA / k))),
    SPLIT: lambda k: splitting_width(ROWS[CERTIFIED], k, BETA),
    GAUSSIAN: lambda k: best_gaussian(ROWS[CERTIFIED], k, BETA).width,
    WEIGHTS: _weights,
}


def largest_error(what: str, rows: int, asks: int, rng: np.random.Generator) -> tuple[float, float]:
    """The largest error of k answers, and what was certified: fixed questions, or one more that adds up the others.

    >>> error, width = largest_error(SPLIT, 1_000, 10, np.random.default_rng(1))
    >>> error < width < 0.2
    True
    """
    mechanism: Mechanism = Naive() if what == FIXED else SampleSplitting()
    if what == GAUSSIAN:
        mechanism = Gaussian.for_(rows=rows, asks=asks)
    scene = SignWorld().draw(rows, asks, rng)
    holdout = Holdout(None, scene.labels, mechanism=mechanism, asks=asks, ledger=SeededStore(rng))
    probes = asks if what == FIXED else asks - 1
    answers = [holdout.ask(scene.probe(j).question) for j in range(probes)]
    if what != FIXED:
        answers.append(holdout.ask(scene.vote([answer.value - 0.5 for answer in answers]).question))
    wide = hoeffding_width(rows, math.log(BETA / asks)) if what == FIXED else max(each.width for each in answers)
    return max(abs(answer.value - 0.5) for answer in answers), float(wide)


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    counts, plays = ((10, 30, 100, 300), 2) if effort == "quick" else ((10, 30, 100, 300, 1_000), 20)
    table: list[TableRow] = []
    total = sum(map(len, PLACES.values())) + 3 * len(counts)
    for what, places in PLACES.items():
        for asks in places:
            table.append(_row(CERTIFIED, what, asks, WIDTHS[what](asks), None))
            progress(len(table), total)
    for what in (FIXED, SPLIT, GAUSSIAN):
        for asks in counts:
            rngs = [np.random.default_rng([seed, asks, play]) for play in range(plays)]
            found = [largest_error(what, ROWS[MEASURED], asks, rng) for rng in rngs]
            table.append(_row(MEASURED, what, asks, float(np.mean([e for e, _ in found])), max(w for _, w in found)))
            progress(len(table), total)
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    slopes = {
        what: _slope([row for row in table if (row["panel"], row["what"]) == (CERTIFIED, what)]) for what in SLOPES
    }
    kept = all(float(row["error"] or 0) <= float(row["certified"] or 1) for row in table if row["panel"] == MEASURED)
    within = all(low <= slopes[what] <= high for what, (low, high) in SLOPES.items())
    told = ", ".join(f"{slopes[what]:.2f} for {what}" for what in SLOPES)
    return ClaimOutcome(
        within and kept,
        f"The certified half-width grows with k to the power {told}, over the last three decades of each line; errors "
        f"measured against an adaptive analyst are {'within' if kept else 'BEYOND'} what is certified.",
        tuple(table),
    )


def _slope(rows: Sequence[TableRow]) -> float:
    last = rows[-4:]
    logs = [(math.log(float(row["asks"] or 1)), math.log(float(row["error"] or 1))) for row in last]
    return float(np.polyfit([x for x, _ in logs], [y for _, y in logs], 1)[0])


def _row(panel: str, what: str, asks: int, error: float, certified: float | None) -> TableRow:
    rows = ROWS[panel]
    return {"panel": panel, "rows": rows, "what": what, "asks": asks, "error": error, "certified": certified}


CLAIM = PaperClaim(
    name="four-rates",
    title="Four ways to answer k questions, four rates",
    statement="The error of k answers is √(ln k/n) for averages of questions fixed beforehand; for adaptive questions "
    "it is √(k/n) by sample splitting, √(√k/n) by Gaussian noise, and (ln k·√ln|X|/n)^⅓ by multiplicative weights.",
    citation="Lecture 24, Adaptive data analysis, sample complexities; Bassily, Nissim, Smith, Steinke, Stemmer and "
    "Ullman, STOC 2016; Hardt and Rothblum, FOCS 2010.",
    lectures=("000 Sample complexity and accuracy", "000 Answering k adaptive queries", "001 Adaptivity"),
    expected="Slopes of the certified half-width over ln k, in the last three decades: at most 0.06 for fixed "
    "questions, 0.44 to 0.60 for splitting, 0.20 to 0.30 for Gaussian noise, at most 0.08 for multiplicative weights; "
    "no error measured beyond what is certified.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="asks",
        y="error",
        x_title="k: questions",
        y_title="error",
        panel="panel",
        own_axes=True,
    ),
)
