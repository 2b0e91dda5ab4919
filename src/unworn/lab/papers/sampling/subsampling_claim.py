"""Sampling without compromising accuracy: a few fresh rows an answer, and intervals nearly as narrow as from all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from unworn import charts
from unworn.holdout import Holdout
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.worlds import FiniteWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Laplace, Mechanism, Subsampled

DRAWN, ALL, ERROR = "certified: rows drawn afresh", "certified: all rows", "largest error measured"
BETA, ASKS = 0.05, 1_000


def largest_error(mechanism: Mechanism, rows: int, asks: int, rng: np.random.Generator) -> float:
    """The largest error of so many answers, the questions fixed beforehand.

    >>> largest_error(Subsampled(scale=0.006, drawn=2_000), 80_000, 10, np.random.default_rng(1)) < 0.2
    True
    """
    scene = FiniteWorld(50, forms=("accuracy",)).draw(rows, asks, rng)
    holdout = Holdout(scene.data, scene.labels, mechanism=mechanism, asks=ASKS, practice=0, ledger=SeededStore(rng))
    rules = [scene.probe(j) for j in range(asks)]
    return max(abs(holdout.ask(rule.question).value - rule.truth) for rule in rules)


def certified_width(mechanism: Mechanism, rows: int) -> float:
    """The half-width that every one of the planned answers gets."""
    return float(mechanism.half_width(rows, ASKS, math.log(BETA)))  # type: ignore[attr-defined]


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    rows, asked = (100_000, 60) if effort == "quick" else (1_000_000, 400)
    places = [round(rows * 10 ** (-power / 2)) for power in range(5, -1, -1)]
    rng = np.random.default_rng([seed, rows])
    everything = Laplace.for_(rows=rows, asks=ASKS, confidence=1 - BETA)
    chosen = Subsampled.for_(rows=rows, asks=ASKS, confidence=1 - BETA)
    width = certified_width(everything, rows)
    table: list[TableRow] = []
    for place, drawn in enumerate(sorted({*places, chosen.drawn})):
        mechanism = Subsampled(drawn=drawn).settled(rows, 1 - BETA, ASKS)
        is_chosen = drawn == chosen.drawn
        table += [
            _row(DRAWN, rows, drawn, certified_width(mechanism, rows), is_chosen),
            _row(ALL, rows, drawn, width, is_chosen),
            _row(ERROR, rows, drawn, largest_error(mechanism, rows, asked, rng), is_chosen),
        ]
        progress(place + 1, len(places) + 1)
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    (drawn,) = (row for row in table if row["what"] == DRAWN and row["chosen"])
    (whole,) = (row for row in table if row["what"] == ALL and row["chosen"])
    count, rows = int(drawn["drawn"] or 0), int(drawn["rows"] or 1)
    width, full = float(drawn["width"] or 0), float(whole["width"] or 0)
    constant = count * width**2 / math.log(ASKS)
    promised = {row["drawn"]: float(row["width"] or 0) for row in table if row["what"] == DRAWN}
    kept = all(float(row["width"] or 0) <= promised[row["drawn"]] for row in table if row["what"] == ERROR)
    return ClaimOutcome(
        kept and width < 1.35 * full and count < rows / 20 and 1 < constant < 8,
        f"{count:,} of {rows:,} rows an answer ({count / rows:.1%}) certify ± {width:.4f}, where all rows certify "
        f"± {full:.4f}; that is ℓ = {constant:.1f} ln(k)/α² for k = {ASKS:,} answers.",
        tuple(table),
    )


def _row(what: str, rows: int, drawn: int, width: float, chosen: bool) -> TableRow:
    return {"what": what, "rows": rows, "asks": ASKS, "drawn": drawn, "width": width, "chosen": chosen}


CLAIM = PaperClaim(
    name="subsampling",
    title="A few fresh rows an answer are enough",
    statement="Statistical queries can be answered from ℓ = Õ(log(k)/α²) rows drawn afresh for each, plus Laplace "
    "noise, with the sample complexity √k/α² of reading all rows: sampling does not compromise accuracy.",
    citation="Fish, Reyzin and Rubinstein, Sampling without compromising accuracy in adaptive data analysis, ALT 2020.",
    lectures=("001 SQs", "001 Fast mechanism for SQs", "001 Summary of our results"),
    expected="Less than a twentieth of the rows an answer certifies a half-width at most 1.35 times that of Laplace "
    "noise on all rows; ℓα²/ln k is between 1 and 8; no error measured is beyond what is certified.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="drawn",
        y="width",
        x_title="ℓ: rows drawn for an answer",
        y_title="half-width, or error",
        dashed=(ALL,),
    ),
)
