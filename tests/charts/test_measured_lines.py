"""Lines of what was measured: names apart, theory dashed, numbers that have no logarithm left out."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from unworn import charts

ROWS = [
    {"what": what, "asks": k, "width": w * k**0.5, "low": None if what == "theory" else 0.0, "high": 9.0, "side": side}
    for side in ("left", "right")
    for what, w in (("ours", 1.0), ("theirs", 1.001), ("theory", 1.002))
    for k in (1, 10, 100)
]
AXES: dict[str, Any] = {"x": "asks", "y": "width", "x_title": "asks", "y_title": "half-width", "title": "Widths"}


def layers(chart: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [layer for layer in chart["layer"] if layer["mark"]["type"] == kind]


def test_theory_is_dashed_and_has_no_points() -> None:
    drawn = charts.measured_lines(ROWS, **AXES, dashed=("theory",)).to_dict()
    dashed, solid = layers(drawn, "line")
    assert dashed["mark"]["strokeDash"]
    assert "point" not in dashed["mark"]
    assert {row["what"] for row in dashed["data"]["values"]} == {"theory"}
    assert solid["mark"]["point"]


def test_names_of_lines_that_end_together_are_apart() -> None:
    drawn = charts.measured_lines(ROWS, **AXES, log_y=False).to_dict()
    (names,) = layers(drawn, "text")
    places = sorted(row["width"] for row in names["data"]["values"])
    span = drawn["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert all(330 * (b - a) / (span[1] - span[0]) > 15.9 for a, b in pairwise(places))


def test_what_has_no_logarithm_is_left_out() -> None:
    none = [{**row, "width": 0.0} if row["asks"] == 1 else row for row in ROWS]
    (solid,) = layers(charts.measured_lines(none, **AXES).to_dict(), "line")
    assert {row["asks"] for row in solid["data"]["values"]} == {10, 100}
    (kept,) = layers(charts.measured_lines(none, **AXES, log_y=False).to_dict(), "line")
    assert {row["asks"] for row in kept["data"]["values"]} == {1, 10, 100}


def test_a_band_is_drawn_where_it_has_ends() -> None:
    (area,) = layers(charts.measured_lines(ROWS, **AXES, log_y=False, low="low", high="high").to_dict(), "area")
    assert {row["what"] for row in area["data"]["values"]} == {"ours", "theirs"}


def test_panels_share_their_axes() -> None:
    drawn = charts.measured_lines(ROWS, **AXES, panel="side").to_dict()
    left, right = drawn["hconcat"]
    assert [panel["title"]["text"] for panel in (left, right)] == ["left", "right"]
    assert left["layer"][0]["encoding"]["y"]["scale"] == right["layer"][0]["encoding"]["y"]["scale"]
    assert charts.svg_text(charts.measured_lines(ROWS, **AXES, panel="side")).startswith("<svg")


def test_ticks_are_not_written_as_powers() -> None:
    rows = [{"what": "one", "asks": k, "error": error} for k, error in ((10, 20.0), (100, 60.0), (1_000, 107.0))]
    chart = charts.measured_lines(rows, x="asks", y="error", x_title="k", y_title="rows", title="Errors", log_y=False)
    drawn = charts.svg_text(chart)
    assert ">100<" in drawn
    assert "e+" not in drawn
