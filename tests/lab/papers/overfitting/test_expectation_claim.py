"""Generalisation in expectation: a private choice keeps the bound, and one of forty times the budget does not."""

from __future__ import annotations

import math

import numpy as np

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.overfitting.expectation_claim import BEST, CHOSEN, EPSILONS, _row, judge, mean_gap


def table(times: float) -> list[TableRow]:
    """Choices that spend ``times`` as much as they say."""
    rows = []
    for place, epsilon in enumerate(EPSILONS):
        rng = np.random.default_rng([reseeded(1), place])
        rows.append(_row(CHOSEN, epsilon, 0.0, *mean_gap(times * epsilon, 0.0, 1_000, rng)))
        rows.append(_row(BEST, epsilon, 0.0, *mean_gap(math.inf, 0.0, 1_000, rng)))
    return rows


def test_a_private_choice_generalises_on_average() -> None:
    outcome = judge(table(1.0))  # each comparison is far inside its bound: false alarms are below 1e-6
    assert outcome.holds, outcome.measured


def test_a_choice_that_spends_more_than_it_says_turns_the_verdict() -> None:
    assert not judge(table(40.0)).holds


def test_a_gap_between_the_sharp_bound_and_the_published_ones_turns_the_verdict() -> None:
    rows = table(1.0)
    place = next(at for at, row in enumerate(rows) if (row["what"], row["epsilon"]) == (CHOSEN, 1.0))
    for gap, holds in ((0.24, True), (0.27, False)):  # tanh(1/4) = 0.245; tanh(1/2) = 0.46, and 2 by the lecture
        rows[place] = _row(CHOSEN, 1.0, 0.0, gap, 1e-4)
        assert judge(rows).holds is holds


def test_telling_the_rows_costs_what_delta_says() -> None:
    gap, error = mean_gap(0.1, 0.5, 2_000, np.random.default_rng(reseeded(2)))
    assert abs(gap - 0.5) < 6 * error + 0.02
