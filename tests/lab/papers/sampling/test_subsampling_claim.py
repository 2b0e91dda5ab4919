"""Subsampling: each part of the verdict can fail, and a few rows answer well."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.sampling.subsampling_claim import ALL, DRAWN, ERROR, _row, judge, largest_error
from unworn.mechanisms import Subsampled


def table(drawn: int = 1_900, width: float = 0.12, error: float = 0.05) -> list[TableRow]:
    return [
        _row(what, 100_000, count, value, count == drawn)
        for count in (300, drawn)
        for what, value in ((DRAWN, width), (ALL, 0.095), (ERROR, error))
    ]


def test_the_verdict_follows_the_numbers() -> None:
    assert judge(table()).holds


@pytest.mark.parametrize("wrong", [{"drawn": 8_000}, {"width": 0.2}, {"error": 0.3}, {"width": 0.02}])
def test_each_part_can_fail(wrong: dict[str, float]) -> None:
    assert not judge(table(**wrong)).holds  # type: ignore[arg-type]


def test_few_rows_answer_well() -> None:
    # 2,000 rows: a standard error of 0.011, and Laplace noise of 0.006, beyond 0.13 with 1e-9; 0.2 for twenty answers.
    error = largest_error(Subsampled(scale=0.006, drawn=2_000), 80_000, 20, np.random.default_rng(reseeded(1)))
    assert error < 0.2
