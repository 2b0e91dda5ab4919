"""The fourth root of m: what the verdict turns on, from tables whose slopes are known."""

from __future__ import annotations

import pytest

from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.rates.restarts_claim import CLAIM, SINGLE, judge
from unworn.lab.theorems.sparse_restarts import CERTIFIED, MEASURED

POWERS = {CERTIFIED: 0.25, MEASURED: 0.25, SINGLE: 0.5}


def table(powers: dict[str, float]) -> list[TableRow]:
    places = [4**power for power in range(6)]
    return [
        {"tops": m, "epsilon": 0.01, "what": what, "error": 0.01 * m**power}
        for what, power in powers.items()
        for m in places
    ]


def test_the_verdict_is_about_slopes() -> None:
    assert judge(table(POWERS)).holds


@pytest.mark.parametrize("broken", [{CERTIFIED: 0.5}, {MEASURED: 0.5}, {MEASURED: 0.1}, {SINGLE: 0.25}])
def test_another_slope_turns_the_verdict(broken: dict[str, float]) -> None:
    assert not judge(table({**POWERS, **broken})).holds


def test_the_package_keeps_the_fourth_root() -> None:
    outcome = CLAIM.run("quick", 1)
    assert outcome.holds, outcome.measured
