"""The figure of a release: every table by name, or how they spread where there are many."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from unworn import charts


def tables(columns: int, ways: tuple[int, ...] = (2,)) -> list[dict[str, Any]]:
    sets = [some for way in ways for some in combinations([f"c{place:02}" for place in range(columns)], way)]
    return [
        {
            "columns": ", ".join(some),
            "kind": "marginal",
            "questions": 2 ** len(some),
            "sample_error": 0.001 * (place + 1),
            "population_error": 0.02 + 0.001 * place,
        }
        for place, some in enumerate(sets)
    ]


def layers(chart: Any) -> list[dict[str, Any]]:
    return list(chart.to_dict()["layer"])


def test_every_table_is_named_and_the_worst_comes_first(tmp_path: Path) -> None:
    drawn = charts.release(tables(5), title="A title", subtitle="below")
    dots = layers(drawn)[1]
    assert dots["encoding"]["y"]["sort"][0] == "c03 × c04"
    assert len(dots["data"]["values"]) == 20
    assert {row["what"] for row in dots["data"]["values"]} == {"from the rows", "from the population"}
    svg = charts.save(drawn, tmp_path / "c.svg").read_text()
    for word in ("A title", "c00 × c01", "from the population", "largest error"):
        assert word in svg
    assert charts.save(drawn, tmp_path / "c.png").read_bytes()[:4] == b"\x89PNG"


def test_many_tables_are_drawn_by_their_number_of_columns(tmp_path: Path) -> None:
    lines = tables(9, (1, 2, 3))
    drawn = charts.release(lines, title="t")
    bands = layers(drawn)[0]["encoding"]["y"]["sort"]
    assert bands == ["1 column · 9 tables", "2 columns · 36 tables", "3 columns · 84 tables"]
    assert len(layers(drawn)[0]["data"]["values"]) == 2 * len(lines)
    words = [row["word"] for row in layers(drawn)[2]["data"]["values"]]
    assert words[-1] == "worst: c06 × c07 × c08 and 1 like it"
    assert "black marks the median" in json.dumps(drawn.to_dict()["title"])
    middle = [row["error"] for row in layers(drawn)[1]["data"]["values"] if row["what"] == "from the rows"]
    assert middle[0] == pytest.approx(0.005)
    assert charts.save(drawn, tmp_path / "c.svg").exists()


@pytest.mark.parametrize("count", [1, 60, 61])
def test_few_and_just_too_many(count: int, tmp_path: Path) -> None:
    lines = tables(12)[:count]
    drawn = charts.release(lines, title="t")
    assert ("band" in json.dumps(drawn.to_dict())) == (count > 60)
    assert charts.save(drawn, tmp_path / "c.svg").exists()


def test_the_same_columns_asked_in_several_ways_are_told_apart() -> None:
    line = tables(2)[0]
    lines = [{**line, "kind": kind} for kind in ("prefix", "range", "listed", "listed")]
    names = layers(charts.release(lines, title="t"))[1]["encoding"]["y"]["sort"]
    assert sorted(names) == [
        "c00 × c01 (listed)",
        "c00 × c01 (listed) #2",
        "c00 × c01 (prefix)",
        "c00 × c01 (range)",
    ]


def test_many_that_are_equally_bad_are_counted() -> None:
    lines = [{**line, "sample_error": 0.1} for line in tables(12)]
    words = [row["word"] for row in layers(charts.release(lines, title="t"))[2]["data"]["values"]]
    assert words[0] == "worst: c00 × c01 and 65 like it"


def test_errors_of_zero_and_names_of_any_kind(tmp_path: Path) -> None:
    line = {**tables(2)[0], "columns": "<b>&\n名 " + "x" * 300, "sample_error": 0.0, "population_error": 0.0}
    svg = charts.save(charts.release([line], title="t"), tmp_path / "c.svg").read_text()
    assert "<b>" not in svg


def test_frames_draw_the_same() -> None:
    import pandas
    import polars

    lines = tables(4)
    expected = json.dumps(charts.release(lines, title="t").to_dict())
    for frame in (pandas.DataFrame(lines), polars.DataFrame(lines)):
        assert json.dumps(charts.release(frame, title="t").to_dict()) == expected
