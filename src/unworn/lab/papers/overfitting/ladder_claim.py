"""The Ladder's leaderboard error falls with the number of rows, though as many submissions come as there are rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from unworn import charts
from unworn.holdout import Holdout
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.worlds import SignWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Ladder, Mechanism, Naive
from unworn.queries import accuracy

PLAIN, LADDER, BOUND = "plain board", "Ladder", "(ln(kn)/n)^⅓"
HONEST, EVERY, BEST = "honest", 10, 0.1
"""Every tenth submission is honest work; the last of them is right with a tenth more than one half."""


def published_rate(rows: int, submissions: int) -> float:
    """(ln(kn)/n)^⅓, the rate of the theorem without its constant.

    >>> round(published_rate(1_000, 1_000), 3)
    0.24
    """
    return float(math.cbrt(math.log(submissions * rows) / rows))


def board_of(what: str, rows: int, submissions: int) -> Mechanism:
    """The Ladder's step is a quarter of the rate: where its error balances that of the rows."""
    return Naive() if what == PLAIN else Ladder(step=published_rate(rows, submissions) / 4, baseline=0.5)


def leaderboard_error(what: str, rows: int, submissions: int, rng: np.random.Generator) -> tuple[float, bool]:
    """How far the best score told is from the best there truly was, at worst over time; and if an interval missed.

    Nine submissions of ten are random, and at every square index the majority of those random ones that looked good
    is submitted; the others get better slowly.

    >>> error, missed = leaderboard_error(PLAIN, 400, 400, np.random.default_rng(1))
    >>> error > 0.07, missed
    (True, True)
    """
    scene = SignWorld().draw(rows, submissions, rng)
    board = Holdout(None, scene.labels, mechanism=board_of(what, rows, submissions), ledger=SeededStore(rng))
    told, true, worst, missed = 0.5, 0.5, 0.0, False
    looked_good = np.zeros(submissions)
    for index in range(1, submissions + 1):
        if index > 1 and math.isqrt(index) ** 2 == index and looked_good.any():
            question, truth = scene.vote(looked_good[: index - 1]).question, 0.5
        elif index % EVERY == 0:
            truth = 0.5 + BEST * index / submissions
            right = rng.random(rows) < truth
            question = accuracy(np.where(right, scene.labels, -scene.labels))
        else:
            question, truth = scene.probe(index - 1).question, 0.5
        answer = board.ask(question, 0.5)
        missed |= not answer.low - 1e-12 <= truth <= answer.high + 1e-12
        if truth == 0.5:
            looked_good[index - 1] = float(answer.value > told if what == LADDER else answer.value > 0.5)
        told, true = max(told, answer.value), max(true, truth)
        worst = max(worst, abs(told - true))
    return worst, missed


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    sizes, plays = ((250, 700, 2_000), 3) if effort == "quick" else ((250, 500, 1_000, 2_000, 4_000, 8_000), 10)
    table: list[TableRow] = []
    done, total = 0, 2 * plays * sum(sizes)
    for what in (PLAIN, LADDER):
        for rows in sizes:
            found = []
            for play in range(plays):
                found.append(leaderboard_error(what, rows, rows, np.random.default_rng([seed, rows, play])))
                done += rows
                progress(done, total)
            errors = [error for error, _ in found]
            misses = sum(missed for _, missed in found)
            table.append(_row(what, rows, plays, misses, float(np.mean(errors)), min(errors), max(errors)))
    table += [_row(BOUND, rows, plays, None, published_rate(rows, rows), None, None) for rows in sizes]
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    errors: dict[Any, dict[Any, Any]] = {}
    for row in table:
        errors.setdefault(row["what"], {})[row["rows"]] = row["error"]
    sizes = sorted(errors[LADDER])
    left = {what: errors[what][sizes[-1]] / errors[what][sizes[0]] for what in (PLAIN, LADDER)}
    below = all(errors[LADDER][rows] < errors[BOUND][rows] for rows in sizes)
    misses = sum(int(row["missed"] or 0) for row in table if row["what"] == LADDER)
    return ClaimOutcome(
        below and misses == 0 and left[LADDER] < 0.85 < left[PLAIN],
        f"With as many submissions as rows the Ladder's error falls from {errors[LADDER][sizes[0]]:.3f} on "
        f"{sizes[0]:,} rows to {errors[LADDER][sizes[-1]]:.3f} on {sizes[-1]:,}; the plain board's goes from "
        f"{errors[PLAIN][sizes[0]]:.3f} to {errors[PLAIN][sizes[-1]]:.3f}.",
        tuple(table),
    )


def _row(
    what: str, rows: int, plays: int, missed: int | None, error: float, low: float | None, high: float | None
) -> TableRow:
    return {"what": what, "rows": rows, "plays": plays, "missed": missed, "error": error, "low": low, "high": high}


CLAIM = PaperClaim(
    name="ladder",
    title="A ladder's score is right, however many climb it",
    statement="The Ladder's leaderboard error over k adaptive submissions is O((ln(kn)/n)^⅓): it falls as n grows even "
    "where k = n, where a plain board's stays as large as ever.",
    citation="Blum and Hardt, The Ladder: a reliable leaderboard for machine learning competitions, ICML 2015, "
    "Theorem 1.",
    lectures=("003 §1", "003 Exercise 2", "001 Taking advantage of adaptivity in leaderboards"),
    expected="The Ladder's error is below (ln(kn)/n)^⅓ everywhere, on the most rows below 0.85 of what it is on the "
    "fewest, and no interval misses; the plain board's is above 0.85 of it.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="rows",
        y="error",
        x_title="n: rows, and as many submissions",
        y_title="error of the best score",
        dashed=(BOUND,),
        low="low",
        high="high",
    ),
)
