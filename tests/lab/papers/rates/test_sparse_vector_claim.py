"""The sparse vector's logarithm: a short run keeps it, and noise that pays for every question loses it."""

from __future__ import annotations

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import ClaimOutcome
from unworn.lab.papers.rates.sparse_vector_claim import EPSILON, RARE, judge, sweep

COUNTS = (10, 100, 1_000, 10_000, 100_000)


def unheard(done: int, total: int) -> None:
    assert 0 < done <= total


def short_run() -> ClaimOutcome:
    # A mean of 200 worst errors has a standard error below 5 %; half or twice as much is allowed.
    return sweep(COUNTS, 200, reseeded(1), unheard)


def test_the_error_grows_with_the_logarithm() -> None:
    outcome = short_run()
    assert outcome.holds, outcome.measured
    assert len(outcome.rows) == 3 * len(COUNTS)


def test_a_budget_divided_among_the_questions_loses_it() -> None:
    assert not sweep((10, 100, 1_000, 10_000), 20, 1, unheard, lambda asks: EPSILON / asks).holds


def test_one_error_beyond_the_theorem_turns_the_verdict() -> None:
    rows = [dict(row) for row in short_run().rows]
    place = next(at for at, row in enumerate(rows) if row["what"] == RARE and row["asks"] == 100)
    rows[place]["error"] = 500.0
    assert not judge(rows).holds
