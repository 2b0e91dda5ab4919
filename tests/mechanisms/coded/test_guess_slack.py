from __future__ import annotations

import math

import pytest

from unworn.mechanisms.coded.guess_slack import guess_error
from unworn.mechanisms.contract.mechanism import Guess
from unworn.queries.query import Facts


@pytest.mark.parametrize(("least", "share"), [(400, 0.2), (2_500, 0.5), (10_000, 0.9)])
def test_the_error_of_a_share_of_a_subset_is_that_of_its_rows(least: int, share: float) -> None:
    """Of as many rows as are declared to lie in it, and not of all: sqrt(p (1 - p) / m), for guess and holdout each."""
    facts, error = Facts("conditional", 0.0, 1.0), math.sqrt(share * (1 - share) / least)
    assert guess_error(facts, Guess(share, gauge=least), 10_000) == pytest.approx(math.sqrt(2) * error)
    assert guess_error(facts, Guess(share, 0.03, gauge=least), 10_000) == pytest.approx(math.hypot(error, 0.03))


@pytest.mark.parametrize(("rarer", "area"), [(400, 0.8), (2_500, 0.65), (4_000, 0.95)])
def test_the_error_of_a_ranking_is_that_of_its_pairs(rarer: int, area: float) -> None:
    """By Hanley and McNeil (1982), whichever class is the rarer: less than that of as many rows as it has."""

    def error(yes: int, no: int) -> float:
        above, below = area / (2 - area) - area**2, 2 * area**2 / (1 + area) - area**2
        return math.sqrt((area * (1 - area) + (yes - 1) * above + (no - 1) * below) / (yes * no))

    expected = max(error(rarer, 10_000 - rarer), error(10_000 - rarer, rarer))
    assert expected < math.sqrt(area * (1 - area) / rarer)
    found = guess_error(Facts("ranking", 0.0, 1.0), Guess(area, 0.0, gauge=rarer), 10_000)
    assert found == pytest.approx(expected, rel=1e-3)
