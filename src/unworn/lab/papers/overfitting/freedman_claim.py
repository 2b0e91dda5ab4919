"""The reusable holdout, as a claim: a plain holdout is overfitted by choosing features, Thresholdout is not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from unworn.charts.vote_panels import freedman
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.papers.overfitting.freedman_play import CHECKED, PLAIN, PUBLISHED, REUSABLE, Freedman, run

SIZES = {"quick": (2_000, 2), "full": (10_000, 15)}
"""Rows of each side, and as many features; repetitions."""
HOLDOUTS = (PLAIN, REUSABLE, CHECKED)


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    size, repetitions = SIZES[effort]
    table: list[TableRow] = []
    for place, signal in enumerate((0, 20)):
        setting = Freedman(size, size, signal, budget=max(2_500, size // 4))
        told = partial(_report, progress, place * repetitions, 2 * repetitions)
        for outcome in run(setting, repetitions, seed, HOLDOUTS, told):
            known: TableRow = {"rows": size, "repetitions": repetitions, "signal": signal, "holdout": outcome.holdout}
            table += [{**known, **point._asdict(), "missed": outcome.missed} for point in outcome.medians()]
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`: what the largest votes were said to be, where nothing is real."""
    last = {row["holdout"]: row for row in table if row["signal"] == 0}  # the largest vote comes last
    told: dict[Any, float] = {name: float(row["reported"] or 0) for name, row in last.items()}
    misses = [row["missed"] for row in table if row["holdout"] == CHECKED]
    votes, rows = last[PLAIN]["features"], int(last[PLAIN]["rows"] or 0)
    return ClaimOutcome(
        told[PLAIN] > 0.58 and abs(told[REUSABLE] - 0.5) < 0.05 and abs(told[CHECKED] - 0.5) < 0.05 and not any(misses),
        f"On {rows:,} rows a vote of {votes} features that tell nothing is reported right with {told[PLAIN]:.3f} by "
        f"the plain holdout, {told[REUSABLE]:.3f} by Thresholdout and {told[CHECKED]:.3f} by guess and check.",
        tuple(table),
    )


def draw(rows: Sequence[TableRow], *, title: str, subtitle: Sequence[str]) -> Any:
    """The published numbers are drawn beside ours where the sizes are the paper's."""
    known = PUBLISHED if rows[0]["rows"] == SIZES["full"][0] else ()
    return freedman(rows, known, title=title, subtitle=subtitle)


def _report(progress: Progress, before: int, total: int, done: int, _: int) -> None:
    progress(before + done, total)


CLAIM = PaperClaim(
    name="freedman",
    title="Choosing among useless features: what three holdouts report of the vote",
    statement="A holdout that helps to choose features reports 63 % for their vote where 50 % is true; asked through "
    "Thresholdout, the same holdout's report stays near the truth.",
    citation="Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, The reusable holdout: preserving validity in adaptive "
    "data analysis, Science 349, 2015, Figures 1 and 2.",
    lectures=("000 Reusable Holdout", "003 §1 and Exercise 2"),
    expected="With 500 of the chosen features and nothing real, the plain holdout reports more than 0.58 (0.63 in the "
    "paper), Thresholdout and guess and check within 0.05 of 0.50; no interval of guess and check misses.",
    measure=measure,
    draw=draw,
)
