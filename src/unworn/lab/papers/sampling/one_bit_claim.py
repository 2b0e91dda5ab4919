"""One row and one bit an answer: for every adaptive question the chance of a yes is near the population's share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from unworn import charts
from unworn.holdout import Holdout
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.worlds import SignWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Mechanism, Naive, OneSample

BITS, EXACT, PROMISED = "one bit an answer", "exact answers", "promised: α"
BETA = 0.05


def vote_bias(mechanism: Mechanism, rows: int, asks: int, rng: np.random.Generator) -> tuple[float, float]:
    """How far the rows' share is from the truth for a vote of all answers; and how many z-scores the bits are off.

    The analyst asks about every feature, and then about the vote weighted by the answers. A bit's chance, given the
    rows, is ``flip + (1 - 2 flip)`` times their share: known here without a draw, so the bias has no noise of its own.

    >>> bias, _ = vote_bias(Naive(), 500, 200, np.random.default_rng(1))
    >>> bias > 0.15
    True
    """
    scene = SignWorld().draw(rows, asks, rng)
    flip = (mechanism.flip or 0.0) if isinstance(mechanism, OneSample) else 0.0
    holdout = Holdout(None, scene.labels, mechanism=mechanism, asks=asks, ledger=SeededStore(rng))
    told = np.array([holdout.ask(scene.probe(j).question).value for j in range(asks)])
    agrees = scene.features == scene.labels[:, None]
    chances = flip + (1 - 2 * flip) * agrees.mean(axis=0)
    score = float((told - chances).sum() / math.sqrt(float((chances * (1 - chances)).sum())))
    vote = np.where(scene.features @ (told - 0.5) >= 0, 1, -1) == scene.labels
    return abs(flip + (1 - 2 * flip) * float(vote.mean()) - 0.5), abs(score)


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    rows, counts, plays = (
        (5_000, (100, 300, 1_000, 3_000), 2) if effort == "quick" else (10_000, (100, 1_000, 10_000), 10)
    )
    table: list[TableRow] = []
    for place, asks in enumerate(counts):
        one = OneSample.for_(rows=rows, asks=asks, confidence=1 - BETA)
        for what, mechanism in ((BITS, one), (EXACT, Naive())):
            rngs = [np.random.default_rng([seed, asks, play]) for play in range(plays)]
            found = [vote_bias(mechanism, rows, asks, rng) for rng in rngs]
            worst, score = max(bias for bias, _ in found), max(score for _, score in found)
            table.append(_row(what, rows, asks, worst, score if what == BITS else None))
        table.append(_row(PROMISED, rows, asks, 2 * (one.flip or 0.0), None))
        progress(place + 1, len(counts))
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    told = {(row["what"], int(row["asks"] or 0)): float(row["bias"] or 0) for row in table}
    asks, rows = max(asks for _, asks in told), int(table[0]["rows"] or 0)
    kept = all(told[BITS, count] <= told[PROMISED, count] for _, count in told)
    honest = all(float(row["score"] or 0) < 6 for row in table)
    return ClaimOutcome(
        kept and honest and told[EXACT, asks] > told[PROMISED, asks],
        f"After k = {asks:,} bits from n = {rows:,} rows the chance of a yes for their vote is off by "
        f"{told[BITS, asks]:.4f}, where α = {told[PROMISED, asks]:.3f} is promised; after exact answers the vote's "
        f"share is off by {told[EXACT, asks]:.3f}.",
        tuple(table),
    )


def _row(what: str, rows: int, asks: int, bias: float, score: float | None) -> TableRow:
    return {"what": what, "rows": rows, "asks": asks, "bias": bias, "score": score}


CLAIM = PaperClaim(
    name="one-bit",
    title="One bit an answer stays unbiased",
    statement="Sampling counting queries: from one row and one bit an answer, with probability 1 − β every adaptive "
    "question's bit is 1 with a chance within α of the population's share, for n = O(√k log(1/αβ)/α²) rows.",
    citation="Fish, Reyzin and Rubinstein, Sampling without compromising accuracy in adaptive data analysis, ALT 2020, "
    "transfer theorem for sampling counting queries.",
    lectures=("001 Sampling counting queries", "001 SCQ results"),
    expected="For the vote of all answers, where 1/2 is true, the chance of a yes is within α at every k; the bits are "
    "within six standard errors of that chance; after exact answers the last vote is off by more than α.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="asks",
        y="bias",
        x_title="k: answers before the vote",
        y_title="bias of the vote's answer",
        dashed=(PROMISED,),
    ),
)
