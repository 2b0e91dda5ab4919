"""Boosting a leaderboard: the majority of random submissions that beat chance climbs a plain board."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from unworn import charts
from unworn.holdout import Holdout
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.worlds import SignWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import GuessAndCheck, Ladder, Mechanism, Naive

PLAIN, LADDER, CHECKED = "plain board", "Ladder", "guess and check"
LAW = "theory: Φ(√(k/πn))"
BOARDS: dict[str, Mechanism] = {PLAIN: Naive(), LADDER: Ladder(step=0.05, baseline=0.5), CHECKED: GuessAndCheck()}


def climb(mechanism: Mechanism, rows: int, submissions: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Submit random labels, then the majority of those that beat chance; what is said of it, and if anything missed.

    >>> score, missed = climb(Naive(), rows=400, submissions=200, rng=np.random.default_rng(1))
    >>> score > 0.6, missed
    (True, True)
    """
    scene = SignWorld().draw(rows, submissions, rng)
    board = Holdout(None, scene.labels, mechanism=mechanism, ledger=SeededStore(rng))
    answers = [board.ask(scene.probe(j).question, 0.5) for j in range(submissions)]
    better = np.array([float(answer.value > 0.5) for answer in answers])
    last = board.ask(scene.vote(better if better.any() else np.ones(submissions)).question, 0.5)
    return last.value, any(not answer.low <= 0.5 <= answer.high for answer in (*answers, last))


def expected_score(rows: int, submissions: int) -> float:
    """What an exact board says of the majority: half of k are kept, each right on √(2/π)/2√n more than half the rows.

    >>> round(expected_score(1000, 1000), 3)
    0.714
    """
    return NormalDist().cdf(math.sqrt(submissions / (math.pi * rows)))


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    rows, counts, plays = (1_000, (30, 100, 300, 1_000), 4) if effort == "quick" else (2_000, (60, 200, 600, 2_000), 20)
    table: list[TableRow] = []
    total = len(counts) * len(BOARDS) * plays
    for what, mechanism in BOARDS.items():
        for count in counts:
            scores, misses = [], 0
            for play in range(plays):
                score, missed = climb(mechanism, rows, count, np.random.default_rng([seed, count, play]))
                scores.append(score)
                misses += missed
                progress(len(table) * plays + play + 1, total)
            low, high = min(scores), max(scores)
            mean = float(np.mean(scores))
            table.append(_row(what, rows, count, plays, misses, mean, low, high))
    table += [_row(LAW, rows, count, plays, None, expected_score(rows, count), None, None) for count in counts]
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    told: dict[tuple[Any, Any], Any] = {(row["what"], row["submissions"]): row["score"] for row in table}
    counts = sorted({count for _, count in told})
    rows = int(table[0]["rows"] or 0)
    gains = [told[PLAIN, count] - 0.5 for count in counts]
    climbs = all(
        0.75 < gain / (told[LAW, count] - 0.5) < 1.25 for gain, count in zip(gains[1:], counts[1:], strict=True)
    )
    stays = all(abs(told[name, count] - 0.5) < gains[-1] / 3 for name in (LADDER, CHECKED) for count in counts)
    holds = all(row["missed"] == 0 for row in table if row["what"] in (LADDER, CHECKED))
    return ClaimOutcome(
        climbs and stays and holds,
        f"With k = {counts[-1]:,} submissions on n = {rows:,} rows the plain board says {told[PLAIN, counts[-1]]:.3f} "
        f"({told[LAW, counts[-1]]:.3f} by theory), the Ladder {told[LADDER, counts[-1]]:.3f} and guess and check "
        f"{told[CHECKED, counts[-1]]:.3f}; 0.500 is true.",
        tuple(table),
    )


def _row(
    what: str,
    rows: int,
    count: int,
    plays: int,
    missed: int | None,
    score: float,
    low: float | None,
    high: float | None,
) -> TableRow:
    return {
        "what": what,
        "rows": rows,
        "submissions": count,
        "plays": plays,
        "missed": missed,
        "score": score,
        "low": low,
        "high": high,
    }


CLAIM = PaperClaim(
    name="boosting",
    title="Random labels climb a plain board, and no protected one",
    statement="On a plain board of n rows the majority of those of k random submissions that beat chance has a loss of "
    "1/2 − Ω(√(k/n)); a protected board tells of no such climb, because there is none.",
    citation="Blum and Hardt, The Ladder: a reliable leaderboard for machine learning competitions, ICML 2015, "
    "section 4.",
    lectures=("001 Taking advantage of adaptivity in leaderboards",),
    expected="On the plain board a gain within 25 % of Φ(√(k/πn)) − 1/2 from the second k on; on protected boards less "
    "than a third of its last one, and no interval that misses 1/2.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="submissions",
        y="score",
        x_title="k: random submissions before the majority",
        y_title="accuracy that the board tells of the majority",
        dashed=(LAW,),
        log_y=False,
        low="low",
        high="high",
    ),
)
