"""The sparse vector's error: the logarithm of the number of questions, whatever the analyst does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from unworn import charts
from unworn.bounds.sparse.sparse_vector_bounds import empirical_error, refreshed_run
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.theorems.sparse_restarts import measured_error
from unworn.noise import Stream

THEOREM, TYPICAL, RARE = "theorem: 6 ln((k+1)/β)", "measured: mean", "measured: one run in twenty"
BETA, EPSILON, SLOPE = 0.05, 0.1, 0.2
MEASURED = (TYPICAL, RARE)


def sweep(
    counts: Sequence[int],
    runs: int,
    seed: int,
    progress: Progress,
    budget: Callable[[int], float] = lambda asks: EPSILON,
) -> ClaimOutcome:
    """The worst error of many runs for each number of asks, in 1/ε rows; ``budget(asks)`` is what is really spent."""
    table: list[TableRow] = []
    for place, asks in enumerate(counts):
        key = np.random.default_rng([seed, asks]).bytes(32)
        noise = Stream(key, "sparse vector")
        errors = [measured_error(asks, 1, budget(asks), noise) for _ in range(runs)]
        found = {
            THEOREM: empirical_error(refreshed_run(EPSILON), asks, BETA),
            TYPICAL: float(np.mean(errors)),
            RARE: float(np.quantile(errors, 1 - BETA)),
        }
        table += [{"what": what, "asks": asks, "runs": runs, "error": EPSILON * error} for what, error in found.items()]
        progress(place + 1, len(counts))
    return judge(table)


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    last, runs = (6, 100) if effort == "quick" else (7, 400)
    return sweep([10**power for power in range(1, last + 1)], runs, seed, progress)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`sweep`."""
    told = {(row["what"], int(row["asks"] or 0)): float(row["error"] or 0) for row in table}
    counts = sorted({asks for _, asks in told})
    kept = all(told[RARE, asks] <= told[THEOREM, asks] for asks in counts)
    late = [asks for asks in counts if asks >= 1_000]
    parts = [told[TYPICAL, asks] / math.log(asks) for asks in late]
    rise = math.log(told[TYPICAL, late[-1]] / told[TYPICAL, late[0]]) / math.log(late[-1] / late[0])
    return ClaimOutcome(
        kept and all(1 < part < 6 for part in parts) and rise < SLOPE,
        f"From k = {late[0]:,} to {late[-1]:,} the mean worst error is {min(parts):.1f} to {max(parts):.1f} ln(k)/ε "
        f"rows (it grows like k to the {rise:.2f}); the worst in twenty is {'within' if kept else 'BEYOND'} "
        f"the theorem at every k.",
        tuple(table),
    )


CLAIM = PaperClaim(
    name="sparse-vector",
    title="A sparse vector's error is a straight line over ln k",
    statement="With noise of 2/ε on the threshold and 4/ε on each count, the sparse vector's error in k comparisons is "
    "at most 6 ln((k+1)/β)/ε rows with probability 1 − β: logarithmic in k.",
    citation="Smith, The sparse vector technique, Lecture 12 of The algorithmic foundations of adaptive data analysis, "
    "Theorem 2; Hardt and Rothblum, FOCS 2010.",
    lectures=("000 Accuracy", "003 §1", "004 Sparse vector technique"),
    expected="Against an analyst who asks from far to near below the threshold: at no k more than one run in twenty "
    "beyond the theorem; from k = 1,000 on a mean between 1 and 6 ln(k)/ε that grows like k to less than 0.2.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="asks",
        y="error",
        x_title="k: comparisons",
        y_title="worst error, in 1/ε rows",
        dashed=(THEOREM,),
        log_y=False,
    ),
)
