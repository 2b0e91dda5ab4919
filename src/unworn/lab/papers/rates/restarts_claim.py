"""Starting the sparse vector again: the error grows like the fourth root of the number of answers above."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unworn import charts
from unworn.bounds.sparse.crossing import best_factor, run_price
from unworn.bounds.sparse.sparse_vector_bounds import standard
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.theorems.sparse_restarts import CERTIFIED, MEASURED, restarts
from unworn.noise import Stream

SINGLE = "certified, one threshold for all m"
ROWS, ASKS, BETA = 10_000_000, 10_000, 0.05
PLACES = (1, 3, 10, 30, 100, 300, 1_000)
SLOPES = {CERTIFIED: (0.2, 0.3), MEASURED: (0.2, 0.3), SINGLE: (0.4, 0.6)}
"""Between which values d ln(error) / d ln(m) has to lie from m = 10 on."""


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    runs = 100 if effort == "quick" else 2_000
    noise = Stream(np.random.default_rng([seed, ROWS]).bytes(32), "restarts")
    table: list[TableRow] = []
    for place, tops in enumerate(PLACES):
        table += restarts(ROWS, ASKS, [tops], 1 - BETA, noise=noise, runs=runs)
        once = standard(1.0, tops)
        once = once.scaled(best_factor(once, ROWS, ASKS, BETA))
        wide = run_price(once, ROWS, ASKS, BETA).width
        table.append({"tops": tops, "epsilon": once.epsilon, "what": SINGLE, "error": wide})
        progress(place + 1, len(PLACES))
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    slopes = {what: _slope([row for row in table if row["what"] == what]) for what in SLOPES}
    return ClaimOutcome(
        all(low <= slopes[what] <= high for what, (low, high) in SLOPES.items()),
        f"On n = {ROWS:,} rows the error grows with m to the power {slopes[CERTIFIED]:.2f} as certified and "
        f"{slopes[MEASURED]:.2f} as measured; with one threshold for the whole run, and noise in "
        f"proportion to m, {slopes[SINGLE]:.2f}.",
        tuple(table),
    )


def _slope(rows: Sequence[TableRow]) -> float:
    late = [row for row in rows if int(row["tops"] or 0) >= 10]
    logs = [(math.log(float(row["tops"] or 1)), math.log(float(row["error"] or 1))) for row in late]
    return float(np.polyfit([x for x, _ in logs], [y for _, y in logs], 1)[0])


def draw(rows: Sequence[TableRow], *, title: str, subtitle: Sequence[str]) -> Any:
    """Beside the fourth root of m, dashed."""
    return charts.restarts(rows, title=title, subtitle=subtitle)


CLAIM = PaperClaim(
    name="restarts",
    title="m answers above the threshold cost the fourth root of m",
    statement="With ε = √(ln(k)/(n√m)) a sparse vector that starts again after each of m answers above has a "
    "population error of O(m^¼ √(ln k)/√n): noise ln(k)/(nε) and stability ε√m are then alike.",
    citation="Smith, The sparse vector technique, Lecture 12 of The algorithmic foundations of adaptive data analysis, "
    "section 2; Hardt and Rothblum, FOCS 2010.",
    lectures=("000 Composing m runs of sparse vector", "003 §2"),
    expected="From m = 10 on the slope of ln(error) over ln m, as certified and as measured against an analyst who "
    "looks for errors, is 0.20 to 0.30; with one threshold and noise in proportion to m it is 0.40 to 0.60.",
    measure=measure,
    draw=draw,
)
