"""The boosting attack on a board that answers privately: noise for the plan takes most of the climb away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from statistics import NormalDist

import numpy as np

from unworn import charts
from unworn.holdout import Holdout
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.worlds import SignWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Gaussian, Mechanism, Naive

PLAIN, PRIVATE = "plain board", "private board"
LAWS = {PLAIN: "theory, plain", PRIVATE: "theory, private"}
WITHIN = 0.03


def majority_loss(mechanism: Mechanism, rows: int, submissions: int, rng: np.random.Generator) -> float:
    """The loss on the board's own rows of the majority of submissions that it said beat chance; 1/2 is true.

    Not what the board says of the majority, which has noise of its own, but what the rows say.

    >>> majority_loss(Naive(), rows=400, submissions=200, rng=np.random.default_rng(1)) < 0.4
    True
    """
    scene = SignWorld().draw(rows, submissions, rng)
    board = Holdout(None, scene.labels, mechanism=mechanism, asks=submissions, ledger=SeededStore(rng))
    told = [board.ask(scene.probe(j).question).value for j in range(submissions)]
    better = np.array(told) > 0.5
    total = scene.features[:, better].sum(axis=1, dtype=np.int64)
    return float(np.mean(np.where(total >= 0, 1, -1) != scene.labels))


def expected_loss(rows: int, submissions: int, noise: float = 0.0) -> float:
    """1 − Φ(ρ √(k/πn)): scores of standard deviation s = 1/(2√n), told with ``noise``, keep ρ = s/√(s² + noise²).

    >>> round(expected_loss(1000, 1000), 3), round(expected_loss(1000, 1000, 0.05), 3)
    (0.286, 0.432)
    """
    sd = 0.5 / math.sqrt(rows)
    return 1.0 - NormalDist().cdf(sd / math.hypot(sd, noise) * math.sqrt(submissions / (math.pi * rows)))


def board(kind: str, rows: int, submissions: int) -> Mechanism:
    """The plain board, or the one with Gaussian noise for so many submissions."""
    return Naive() if kind == PLAIN else Gaussian.for_(rows=rows, asks=submissions)


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    rows, counts, plays = (1_000, (30, 100, 300, 1_000), 6) if effort == "quick" else (2_000, (60, 200, 600, 2_000), 30)
    table: list[TableRow] = []
    for place, count in enumerate(counts):
        for kind in (PLAIN, PRIVATE):
            mechanism = board(kind, rows, count)
            rngs = [np.random.default_rng([seed, count, play]) for play in range(plays)]
            losses = [majority_loss(mechanism, rows, count, rng) for rng in rngs]
            noise = (mechanism.scale or 0.0) if isinstance(mechanism, Gaussian) else 0.0
            table.append(_row(kind, rows, count, float(np.mean(losses)), min(losses), max(losses)))
            table.append(_row(LAWS[kind], rows, count, expected_loss(rows, count, noise), None, None))
        progress(place + 1, len(counts))
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    told = {(row["what"], int(row["submissions"] or 0)): float(row["loss"] or 0) for row in table}
    counts, rows = sorted({count for _, count in told}), int(table[0]["rows"] or 0)
    last = counts[-1]
    lawful = all(abs(told[kind, count] - told[law, count]) < WITHIN for kind, law in LAWS.items() for count in counts)
    climbs = 0.5 - told[PLAIN, last] > 0.15
    held = 0.5 - told[PRIVATE, last] < (0.5 - told[PLAIN, last]) / 2
    return ClaimOutcome(
        lawful and climbs and held,
        f"After k = {last:,} submissions on n = {rows:,} rows the majority's loss on the board's rows is "
        f"{told[PLAIN, last]:.3f} where the board is plain ({told[LAWS[PLAIN], last]:.3f} by theory), "
        f"and {told[PRIVATE, last]:.3f} where it is private ({told[LAWS[PRIVATE], last]:.3f}); 0.500 is true.",
        tuple(table),
    )


def _row(what: str, rows: int, count: int, loss: float, low: float | None, high: float | None) -> TableRow:
    return {"what": what, "rows": rows, "submissions": count, "loss": loss, "low": low, "high": high}


CLAIM = PaperClaim(
    name="private-board",
    title="The boosting attack, on a plain board and on a private one",
    statement="The majority of those of k random submissions that a board said beat chance has a loss of "
    "1/2 − Ω(√(k/n)) on the board's rows; answered with noise of σ for privacy, they carry 1/√(1 + 4nσ²) of it.",
    citation="Blum and Hardt, The Ladder: a reliable leaderboard for machine learning competitions, ICML 2015; Reyzin, "
    "Sampling without compromising accuracy in adaptive data analysis, talk at Purdue: differentially private "
    "responses in leaderboards. The law with noise is derived here.",
    lectures=("001 Differentially private responses in leaderboards", "004 Application to adaptive querying"),
    expected="Mean losses within 0.03 of 1 − Φ(√(k/πn)) on the plain board and of 1 − Φ(√(k/(πn(1 + 4nσ²)))) on the "
    "private one at every k; at the last, a gain above 0.15 on the plain board and less than half of it in private.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="submissions",
        y="loss",
        x_title="k: random submissions before the majority",
        y_title="loss of the majority on the board's rows",
        dashed=tuple(LAWS.values()),
        log_y=False,
        low="low",
        high="high",
    ),
)
