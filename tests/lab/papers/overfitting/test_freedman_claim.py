"""The reusable holdout's verdict: each of its parts can fail."""

from __future__ import annotations

import pytest

from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.overfitting.freedman_claim import CHECKED, PLAIN, REUSABLE, judge


def table(plain: float = 0.63, reusable: float = 0.51, checked: float = 0.5, missed: int = 0) -> list[TableRow]:
    told = {PLAIN: plain, REUSABLE: reusable, CHECKED: checked}
    return [
        {
            "rows": 2_000,
            "signal": signal,
            "features": features,
            "holdout": holdout,
            "reported": told[holdout] if features == 500 and not signal else 0.55,
            "missed": missed if holdout == CHECKED else 2,
        }
        for signal in (0, 20)
        for holdout in (PLAIN, REUSABLE, CHECKED)
        for features in (20, 500)
    ]


def test_the_verdict_is_about_the_largest_vote_where_nothing_is_real() -> None:
    outcome = judge(table())
    assert outcome.holds
    assert "0.630" in outcome.measured


@pytest.mark.parametrize("wrong", [{"plain": 0.55}, {"reusable": 0.56}, {"checked": 0.44}, {"missed": 1}])
def test_each_part_can_fail(wrong: dict[str, float]) -> None:
    assert not judge(table(**wrong)).holds  # type: ignore[arg-type]
