"""The wall: what the verdict turns on, and what the figure shows."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from unworn.lab.papers.claim_contract import TableRow
from unworn.lab.papers.overfitting.wall_claim import CLAIM, FACTOR, WALL, WAYS, _row, judge


def table(
    *, times: float = 3.0, power: float = 2.0, innocents: int = 0, naive: str = "misled", other: str = "worthless"
) -> list[TableRow]:
    sizes = (10, 50)
    law = {size: times * 50**2 * (size / 50) ** power for size in sizes}
    return [
        *(_row(WALL, size, FACTOR * size**2) for size in sizes),
        *(_row(way, size, law[size], innocents=innocents) for way in WAYS for size in sizes),
        _row("naive", 20, None, asks=801, ending=naive, width=0.1),
        _row("gaussian", 20, None, asks=801, ending="stopped"),
        _row("guess and check", 20, None, asks=801, ending=other, width=0.5),
    ]


def test_the_verdict_follows_the_numbers() -> None:
    outcome = judge(table())
    assert outcome.holds
    assert "1 of 2 set-ups of this package's mechanisms stopped, 1 ended at ± .25" in outcome.measured
    assert judge(table(other="misled")).holds, "to be wrong is one of the three ways to end"


@pytest.mark.parametrize(
    "changed",
    [
        {"times": 6.0},
        {"power": 2.5},
        {"times": math.inf},
        {"innocents": 1},
        {"naive": "standing"},
        {"other": "standing"},
    ],
)
def test_whoever_stands_past_the_wall_refutes_it(changed: dict[str, Any]) -> None:
    rows = [row | {"rounds": None} if row["rounds"] == math.inf else row for row in table(**changed)]
    assert not judge(rows).holds


def test_the_figure_has_the_games_alone() -> None:
    drawn = json.dumps(CLAIM.figure(judge(table())).to_dict(), ensure_ascii=False)
    assert all(f'"what": "{name}"' in drawn for name in (WALL, *WAYS))
    assert '"what": "naive"' not in drawn
