"""The picture of restarts: every line of its table, and the fourth root beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unworn.charts import save
from unworn.charts.restarts import restarts as draw
from unworn.lab.theorems.sparse_restarts import restarts
from unworn.noise import Stream

pytest.importorskip("altair")


def test_every_line_is_drawn_and_named(tmp_path: Path) -> None:
    table = restarts(100_000, 1_000, [1, 4, 16], noise=Stream(bytes(32), "chart"), runs=5)
    chart = draw(table, title="Starting again costs the fourth root", subtitle="100,000 rows, 1,000 asks")
    lines, root, names = chart.to_dict()["layer"]
    assert {row["what"] for row in lines["data"]["values"]} == {row["what"] for row in table}
    start, end = (row["error"] for row in root["data"]["values"])
    assert end / start == pytest.approx(2.0)  # 16 to the fourth root
    assert {row["what"] for row in names["data"]["values"]} == {*(row["what"] for row in table), "fourth root of m"}
    save(chart, tmp_path / "restarts.svg")
    assert "fourth root of m" in (tmp_path / "restarts.svg").read_text()
    assert json.dumps(chart.to_dict())
