"""The picture of regimes: a line for every method that is certified, named where it ends."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from unworn.charts import save
from unworn.charts.regimes import regimes as draw
from unworn.lab.theorems.release_regimes import regimes

pytest.importorskip("altair")


def test_every_method_is_drawn_and_named(tmp_path: Path) -> None:
    table = regimes(2**16, [10, 1_000, 10_000_000], 0.1)
    chart = draw(table, title="Few questions are for noise, many for MWEM", subtitle="65,536 cells, within 0.1")
    lines, names = chart.to_dict()["layer"]
    assert {row["method"] for row in lines["data"]["values"]} == {"Gaussian noise", "MWEM"}
    assert {row["method"] for row in names["data"]["values"]} == {"Gaussian noise", "MWEM"}
    save(chart, tmp_path / "regimes.svg")
    text = (tmp_path / "regimes.svg").read_text()
    assert "Gaussian noise" in text
    assert "rows needed" in text
    assert json.dumps(chart.to_dict())


def test_what_is_never_certified_is_left_out() -> None:
    rows = [{"questions": k, "method": "noise", "rows": 10.0 * k} for k in (10, 1000)]
    chart = draw([*rows, {"questions": 10, "method": "none", "rows": math.inf}], title="one line")
    assert {row["method"] for row in chart.to_dict()["layer"][0]["data"]["values"]} == {"noise"}
    with pytest.raises(ValueError, match="larger alpha"):
        draw([{"questions": 10, "method": "none", "rows": math.inf}], title="no line")
