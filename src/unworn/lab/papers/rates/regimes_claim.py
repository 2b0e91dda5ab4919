"""Many linear queries at once: noise on each answer, projection of the noisy answers, and MWEM, each in its regime."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from unworn import charts
from unworn.bounds.budget import gaussian_mu
from unworn.bounds.numerics import Floats
from unworn.bounds.regret import learning_rate
from unworn.bounds.release import averaged_mwem_error, averaged_mwem_rounds
from unworn.bounds.selection import selection_epsilon
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.theorems.release_regimes import mwem_rows, noise_rms_rows, noise_rows, projection_rows

NOISE, MWEM = "noise: largest", "MW-EM: largest"
NOISE_RMS, PROJECTION = "noise: root mean square", "projection: root mean square"
NEEDED, MEASURED, FINER = "rows needed for α = .05, certified", "error measured, 10,000 rows", "rows for 1,000 queries"
ROWS, CELLS, EPSILON, DELTA, BETA = 10_000, 256, 1.0, 1e-9, 0.05
SURE = 1e-6
"""The chance of a miss that bounds of measured errors are taken at: a run that misses has a mistake in it."""
IN_K = {NOISE: (0.45, 0.6), NOISE_RMS: (0.45, 0.55), PROJECTION: (-0.01, 0.01), MWEM: (0.0, 0.15)}
IN_ALPHA = {NOISE: (0.95, 1.05), NOISE_RMS: (0.95, 1.05), PROJECTION: (1.95, 2.05), MWEM: (1.95, 2.2)}
"""Between which values d ln(rows)/d ln(k) and d ln(rows)/d ln(1/α) have to lie."""

Release = Callable[[Floats, Floats, np.random.Generator], Floats]
"""From the queries (one a row, their values on the cells) and the histogram to the answers."""


def needed_rows(what: str, questions: int, alpha: float) -> float:
    """The rows that are certified to be enough.

    >>> needed_rows(PROJECTION, 10, 0.05) == needed_rows(PROJECTION, 10**6, 0.05)
    True
    """
    budget = (EPSILON, DELTA, BETA)
    if what in (NOISE, NOISE_RMS):
        return (noise_rows if what == NOISE else noise_rms_rows)(questions, alpha, *budget)
    return (projection_rows if what == PROJECTION else mwem_rows)(CELLS, questions, alpha, *budget)


def certified_error(what: str, questions: int) -> float:
    """What an error on ``ROWS`` rows is certified to be, at most 1."""
    budget = (EPSILON, DELTA, SURE)
    if what == MWEM:
        return averaged_mwem_error(ROWS, CELLS, 2 * questions, *budget, _rounds(questions), sharp=True)
    if what == PROJECTION:  # rows fall with the square of the error
        return min(1.0, math.sqrt(projection_rows(CELLS, questions, 1.0, *budget) / ROWS))
    return min(1.0, (noise_rows if what == NOISE else noise_rms_rows)(questions, 1.0, *budget) / ROWS)


def with_noise(queries: Floats, histogram: Floats, rng: np.random.Generator) -> Floats:
    """The answers, each with Gaussian noise of √k/μ rows."""
    count = len(queries)
    sd = math.sqrt(count) / (gaussian_mu(EPSILON, DELTA) * ROWS)
    return np.asarray(queries @ histogram + sd * rng.normal(size=count))


def project_answers(queries: Floats, histogram: Floats, rng: np.random.Generator) -> Floats:
    """The same noisy answers, and then the nearest that some distribution has: accelerated projected gradients."""
    noisy = with_noise(queries, histogram, rng)
    gram, target = queries.T @ queries, queries.T @ noisy
    step = 1.0 / float(np.linalg.eigvalsh(gram)[-1])
    found = ahead = np.full(CELLS, 1.0 / CELLS)
    pace = 1.0
    for _ in range(300):
        following = _onto_simplex(ahead - step * (gram @ ahead - target))
        faster = (1.0 + math.sqrt(1.0 + 4.0 * pace * pace)) / 2.0
        ahead = following + (pace - 1.0) / faster * (following - found)
        found, pace = following, faster
    return np.asarray(queries @ found)


def learn_distribution(queries: Floats, histogram: Floats, rng: np.random.Generator) -> Floats:
    """MW-EM as in the lecture: the average of the distributions that multiplicative weights plays."""
    count, rounds = len(queries), _rounds(len(queries))
    epsilon, rate = selection_epsilon(EPSILON, DELTA, rounds), learning_rate(CELLS, rounds, sharp=True)
    truth, costs, average = queries @ histogram, np.zeros(CELLS), np.zeros(CELLS)
    for _ in range(rounds):
        weights = np.exp(-rate * (costs - costs.min()))
        weights /= weights.sum()
        average += weights / rounds
        scores = queries @ weights - truth
        both = np.concatenate([scores, -scores])  # a query's complement errs the other way
        # The largest of scores with Gumbel noise has the law of the exponential mechanism.
        place = int(np.argmax(epsilon * ROWS * both / 2.0 + rng.gumbel(size=2 * count)))
        costs += queries[place] if place < count else 1.0 - queries[place - count]
    return np.asarray(queries @ average)


RELEASES: Mapping[str, Release] = {
    NOISE: with_noise,
    MWEM: learn_distribution,
    NOISE_RMS: with_noise,
    PROJECTION: project_answers,
}


def sweep(
    counts: Sequence[int], plays: int, seed: int, progress: Progress, releases: Mapping[str, Release] = RELEASES
) -> ClaimOutcome:
    """Certified rows for many sizes, and the errors of so many ``plays`` for each number of random queries."""
    table: list[TableRow] = []
    sizes = [(NEEDED, 10**power, 0.05) for power in range(2, 9)]
    sizes += [(FINER, 1_000, alpha) for alpha in (0.1, 0.05, 0.02, 0.01)]
    for what in RELEASES:
        table += [_row(panel, what, k, alpha, needed_rows(what, k, alpha), None) for panel, k, alpha in sizes]
    for place, count in enumerate(counts):
        errors = dict.fromkeys(RELEASES, 0.0)
        for play in range(plays):
            rng = np.random.default_rng([seed, count, play])
            queries = rng.integers(0, 2, (count, CELLS)).astype(float)
            histogram = rng.multinomial(ROWS, rng.dirichlet(np.full(CELLS, 0.1))) / ROWS
            for what in RELEASES:
                off = releases[what](queries, histogram, rng) - queries @ histogram
                is_largest = what in (NOISE, MWEM)
                errors[what] += float(np.abs(off).max() if is_largest else math.sqrt(np.mean(off**2))) / plays
        table += [
            _row(MEASURED, what, count, None, error, certified_error(what, count)) for what, error in errors.items()
        ]
        progress(place + 1, len(counts))
    return judge(table)


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    counts, plays = (
        ((10, 100, 1_000, 5_000), 2) if effort == "quick" else ((10, 30, 100, 300, 1_000, 3_000, 10_000), 20)
    )
    return sweep(counts, plays, seed, progress)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`sweep`."""
    played = [row for row in table if row["panel"] == MEASURED]
    few, many = (pick(int(row["questions"] or 0) for row in played) for pick in (min, max))
    told = {(row["what"], row["questions"]): float(row["number"] or 0) for row in played}
    powers = {what: _slope(table, NEEDED, what, "questions") for what in IN_K}
    finer = {what: -_slope(table, FINER, what, "alpha") for what in IN_ALPHA}
    lawful = all(low <= powers[what] <= high for what, (low, high) in IN_K.items())
    lawful &= all(low <= finer[what] <= high for what, (low, high) in IN_ALPHA.items())
    kept = all(float(row["number"] or 0) <= float(row["certified"] or 0) for row in played)
    crossed = told[NOISE, few] < told[MWEM, few] and told[MWEM, many] < 0.75 * told[NOISE, many]
    nearer = told[PROJECTION, many] < 0.5 * told[NOISE_RMS, many]
    return ClaimOutcome(
        lawful and kept and crossed and nearer,
        f"The rows needed grow with k to the power {powers[NOISE]:.2f} by noise and {powers[MWEM]:.2f} by MW-EM, and "
        f"with 1/α to {finer[NOISE]:.2f} and {finer[MWEM]:.2f}; projection's are the same for all k. On {ROWS:,} rows "
        f"the largest error of {few:,} queries is {told[NOISE, few]:.3f} by noise and {told[MWEM, few]:.3f} by MW-EM, "
        f"of {many:,} it is {told[NOISE, many]:.3f} and {told[MWEM, many]:.3f}; projection takes the root mean square "
        f"of the latter from {told[NOISE_RMS, many]:.3f} to {told[PROJECTION, many]:.3f}"
        + ("." if kept else "; some error is BEYOND what is certified."),
        tuple(table),
    )


def draw(rows: Sequence[TableRow], *, title: str, subtitle: Sequence[str]) -> Any:
    """What is certified beside what was measured, over the number of queries."""
    return charts.measured_lines(
        [row for row in rows if row["panel"] != FINER],
        x="questions",
        y="number",
        x_title="k: linear queries",
        y_title="rows, or error",
        title=title,
        subtitle=subtitle,
        panel="panel",
        own_axes=True,
    )


def _rounds(questions: int) -> int:
    return averaged_mwem_rounds(ROWS, CELLS, 2 * questions, EPSILON, DELTA, BETA, sharp=True)


def _onto_simplex(point: Floats) -> Floats:
    """The nearest distribution: everything lowered by the same amount, and cut at 0."""
    high = np.sort(point)[::-1]
    levels = (np.cumsum(high) - 1.0) / np.arange(1, len(high) + 1)
    return np.asarray(np.maximum(point - levels[np.flatnonzero(high > levels)[-1]], 0.0))


def _slope(table: Sequence[TableRow], panel: str, what: str, column: str) -> float:
    rows = [row for row in table if (row["panel"], row["what"]) == (panel, what)]
    logs = [(math.log(float(row[column] or 1)), math.log(float(row["number"] or 1))) for row in rows]
    return float(np.polyfit([x for x, _ in logs], [y for _, y in logs], 1)[0])


def _row(panel: str, what: str, count: int, alpha: float | None, number: float, bound: float | None) -> TableRow:
    return {"panel": panel, "what": what, "questions": count, "alpha": alpha, "number": number, "certified": bound}


CLAIM = PaperClaim(
    name="regimes",
    title="Noise, projection and MW-EM, each in its regime",
    statement="k linear queries over m cells have a largest error of α from C √(k ln k)/α rows on by Gaussian noise, "
    "and from C ln k √(ln m)/α² on by MW-EM; by projection the root mean square is α from C √(ln m)/α² rows on.",
    citation="Query release via synthetic data distributions, the lecture's three regimes; Nikolov, Talwar and Zhang, "
    "STOC 2013 (projection); Hardt, Ligett and McSherry, NIPS 2012 (MWEM).",
    lectures=("002 What will we get?",),
    expected="Slopes of the rows certified over ln k, from k = 100 to 10⁸: 0.45 to 0.60 by noise, 0 by projection, at "
    "most 0.15 by MW-EM; over ln 1/α: 1 by noise, 2 by projection, 1.95 to 2.2 by MW-EM. Measured: of the fewest "
    "queries noise has the smaller largest error, of the most MW-EM by a quarter at least, and projection halves the "
    "root mean square of noise; no error is beyond what is certified for a chance of 10⁻⁶.",
    measure=measure,
    draw=draw,
)
