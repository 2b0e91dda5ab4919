"""Guess and check, compressible against private: how the half-width grows with the number of wrong guesses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from unworn import charts
from unworn.bounds.code_length import Pattern
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.mechanisms import PrivateGuessAndCheck

LECTURE, OURS, PRIVATE = "compressible: values to 1/n", "compressible: values to 1 of 50 cells", "private"
ROWS, ASKS, BETA, CELLS = 10**8, 10**6, 0.05, 50
PLACES = (1, 10, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
SLOPES = {LECTURE: (0.4, 0.55), OURS: (0.35, 0.55), PRIVATE: (0.2, 0.3)}
"""Between which values d ln(width) / d ln(m) has to lie from m = 100 on."""


def compressible_width(wrong: int) -> float:
    """√((ln N + ln(2/β))/2n) for the N = C(k, m) (n + 1)^m conversations in which m of k guesses are wrong.

    >>> round(compressible_width(100), 5)
    0.00378
    """
    patterns = math.lgamma(ASKS + 1) - math.lgamma(wrong + 1) - math.lgamma(ASKS - wrong + 1)
    return math.sqrt((patterns + wrong * math.log(ROWS + 1) + math.log(2 / BETA)) / (2 * ROWS))


def coded_width(wrong: int) -> float:
    """The same by the law of Theorem C′, where a wrong guess is answered with one of 50 cells.

    >>> coded_width(100) < compressible_width(100)
    True
    """
    nats = Pattern.typical(ASKS, wrong).nats + wrong * math.log(CELLS)
    return math.sqrt((nats + math.log(2 / BETA)) / (2 * ROWS))


def private_width(wrong: int) -> float:
    """What the sparse vector's guess and check certifies, where right guesses are the rows' own values."""
    plan = PrivateGuessAndCheck(tops=wrong, tolerance=1.0 / ROWS).settled(ROWS, 1 - BETA, ASKS)
    return float(plan.reach(ROWS, ASKS, 1 - BETA))


WIDTHS: dict[str, Callable[[int], float]] = {LECTURE: compressible_width, OURS: coded_width, PRIVATE: private_width}


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    places = PLACES if effort == "quick" else tuple(round(10 ** (power / 3)) for power in range(16))
    table: list[TableRow] = []
    for what, width in WIDTHS.items():
        for wrong in places:
            table.append({"what": what, "wrong": wrong, "width": width(wrong)})
            progress(len(table), len(WIDTHS) * len(places))
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    lines = {what: _line([row for row in table if row["what"] == what]) for what in WIDTHS}
    slopes = {what: _slope(line) for what, line in lines.items()}
    crossings = {what: _crossing(lines[what], lines[PRIVATE]) for what in (LECTURE, OURS)}
    few, many = min(lines[PRIVATE]), max(lines[PRIVATE])
    crossed = all(lines[PRIVATE][few] > lines[what][few] for what in crossings) and all(
        lines[PRIVATE][many] < lines[what][many] for what in crossings
    )
    told = " and ".join(f"{value:,}" if value else "never" for value in crossings.values())
    return ClaimOutcome(
        crossed and all(low <= slopes[what] <= high for what, (low, high) in SLOPES.items()),
        f"From m = 100 on the half-width grows with m to the power {slopes[LECTURE]:.2f} and {slopes[OURS]:.2f} where "
        f"answers are compressed, and {slopes[PRIVATE]:.2f} where they are private; of n = {ROWS:,} rows private is "
        f"narrower from m = {told} on.",
        tuple(table),
    )


def _line(rows: Sequence[TableRow]) -> dict[int, float]:
    return {int(row["wrong"] or 1): float(row["width"] or 1) for row in rows}


def _slope(line: dict[int, float]) -> float:
    late = [(math.log(wrong), math.log(width)) for wrong, width in line.items() if wrong >= 100]
    return float(np.polyfit([x for x, _ in late], [y for _, y in late], 1)[0])


def _crossing(other: dict[int, float], private: dict[int, float]) -> int | None:
    return next((wrong for wrong in sorted(private) if private[wrong] < other[wrong]), None)


CLAIM = PaperClaim(
    name="wrong-guesses",
    title="Wrong guesses: their square root compressed, their fourth root in private",
    statement="Guess and check with m wrong guesses in k asks has an error of O(m^¼ √(ln k)/√n) by the sparse vector; "
    "by compressibility it is O(√(m ln(kn/m)/n)).",
    citation="Smith, The sparse vector technique, Lecture 12 of The algorithmic foundations of adaptive data analysis, "
    "section 2.",
    lectures=("003 §2",),
    expected="Slopes of ln(half-width) over ln m from m = 100 on: 0.40 to 0.55 by counting conversations, 0.35 to 0.55 "
    "by Theorem C′, 0.20 to 0.30 in private; private is wider for m = 1, and narrower than both for m = 100,000.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="wrong",
        y="width",
        x_title="m: wrong guesses, of a million asks",
        y_title="half-width, 100 million rows",
    ),
)
