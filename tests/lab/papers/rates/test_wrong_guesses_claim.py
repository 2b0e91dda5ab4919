"""Wrong guesses: what the verdict turns on, and the widths it is about."""

from __future__ import annotations

import math

import pytest

from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.rates.wrong_guesses_claim import (
    LECTURE,
    OURS,
    PLACES,
    PRIVATE,
    ROWS,
    WIDTHS,
    compressible_width,
    judge,
    private_width,
)


def table(powers: dict[str, float], starts: dict[str, float]) -> list[TableRow]:
    return [
        {"what": what, "wrong": m, "width": starts[what] * m**power} for what, power in powers.items() for m in PLACES
    ]


POWERS = {LECTURE: 0.5, OURS: 0.5, PRIVATE: 0.25}
STARTS = {LECTURE: 1e-4, OURS: 5e-5, PRIVATE: 5e-4}


def test_the_package_keeps_both_roots() -> None:
    rows: list[TableRow] = [
        {"what": what, "wrong": m, "width": width(m)}
        for what, width in WIDTHS.items()
        for m in (1, 100, 3_000, 100_000)
    ]
    outcome = judge(rows)
    assert outcome.holds, outcome.measured


@pytest.mark.parametrize("broken", [{PRIVATE: 0.5}, {LECTURE: 0.25}, {OURS: 1.0}])
def test_another_root_turns_the_verdict(broken: dict[str, float]) -> None:
    assert judge(table(POWERS, STARTS)).holds
    assert not judge(table({**POWERS, **broken}, STARTS)).holds


def test_without_a_crossing_the_verdict_turns() -> None:
    assert not judge(table(POWERS, {**STARTS, PRIVATE: 1e-2})).holds
    assert not judge(table(POWERS, {**STARTS, PRIVATE: 1e-6})).holds


def test_widths_are_those_of_the_formulas() -> None:
    none_wrong = math.sqrt(math.log(2 / 0.05) / (2 * ROWS))
    assert compressible_width(0) == pytest.approx(none_wrong)
    assert private_width(1) > compressible_width(1)
