"""Charts: from any plain table, to every format, without rows and without the extra's help where it is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn import charts
from unworn.charts import line_names
from unworn.charts.style import apart
from unworn.errors import MissingExtra, UnwornError

POINTS = [
    {"holdout": name, "asked": k, "reported": 0.5 + k / 400, "low": 0.45, "high": 0.8, "truth": 0.5}
    for name in ("plain", "unworn")
    for k in (10, 50, 100)
]
WIDTHS = [{"mechanism": name, "asks": k, "width": w} for name in ("A", "B") for k, w in ((1, 0.01), (1000, 0.4))]
SERVED = [
    {"mechanism": name, "rows": n, "asks": k, "published": name == "C"}
    for name, asks in (("A", (None, 3, 40)), ("GuessAndCheck", (0, 10, 10**15)), ("C", (0, 0, 5)))
    for n, k in zip((100, 1000, 10_000), asks, strict=True)
]
ANSWERS = [
    {"index": k, "question": f"q{k}", "value": 0.5, "low": 0.4, "high": 0.6, "source": "surprise" if k % 7 else "guess"}
    for k in range(1, 30)
]


def inline(chart: Any) -> str:
    return json.dumps(chart.to_dict())


@pytest.mark.parametrize(
    ("chart", "words"),
    [
        (lambda: charts.demonstration(POINTS, title="A title", subtitle="below"), ("plain", "unworn", "reported")),
        (lambda: charts.widths(WIDTHS, title="A title", planned=100), ("asks", "half-width")),
        (
            lambda: charts.plans(WIDTHS, SERVED, title="A title", planned=100, rows=1000, width=0.05),
            ("half-width", "within ± 0.05", "rows in the holdout", "GuessAndCheck"),
        ),
        (lambda: charts.intervals(ANSWERS, title="A title"), ("value and interval", "surprise")),
    ],
)
def test_each_chart_in_each_format(chart: Any, words: tuple[str, ...], tmp_path: Path) -> None:
    drawn = chart()
    svg = charts.save(drawn, tmp_path / "c.svg").read_text()
    assert all(word in svg for word in ("A title", *words))
    assert charts.save(drawn, tmp_path / "c.png").read_bytes()[:4] == b"\x89PNG"
    assert json.loads(charts.save(drawn, tmp_path / "c.json").read_text())["$schema"].startswith("https://vega")


def test_tables_of_every_kind_draw_the_same() -> None:
    import pandas
    import polars

    columns = {name: [row[name] for row in ANSWERS] for name in ANSWERS[0]}
    expected = inline(charts.intervals(ANSWERS, title="t"))
    for table in (columns, pandas.DataFrame(columns), polars.DataFrame(columns), (row for row in ANSWERS)):
        assert inline(charts.intervals(table, title="t")) == expected


def test_many_answers_are_thinned_and_it_says_so() -> None:
    many = [{**ANSWERS[0], "index": k} for k in range(1, 10_001)]
    drawn = charts.intervals(many, title="t").to_dict()
    assert "300 evenly spaced of 10,000 answers are drawn" in drawn["title"]["subtitle"]
    shown = [row["index"] for row in drawn["layer"][0].get("data", drawn.get("data"))["values"]]
    assert (len(shown), shown[0], shown[-1]) == (300, 1, 10_000)


@pytest.mark.parametrize("rows", [[], ANSWERS[:1]])
def test_few_or_no_answers(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    assert charts.save(charts.intervals(rows, title="t"), tmp_path / "c.svg").exists()


def test_a_mechanism_that_cannot_serve_has_no_line() -> None:
    rows = [*WIDTHS, {"mechanism": "C", "asks": 10, "width": None}]
    assert '"C"' not in inline(charts.widths(rows, title="t"))


def test_names_at_the_ends_do_not_overprint() -> None:
    ends = [{"what": name, "accuracy": 0.5} for name in ("a", "b", "c")]
    places = sorted(end["place"] for end in apart(ends, [0.0, 1.0]))
    assert all(above - below > 0.04 for below, above in pairwise(places))
    assert sum(places) / 3 == pytest.approx(0.5)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 400), max_size=12))
def test_names_are_spread_and_stay_in_order(places: list[float]) -> None:
    spread = line_names.spread([(place, f"{number:02}") for number, place in enumerate(sorted(places))], 15)
    assert all(above[0] - below[0] >= 15 - 1e-9 for below, above in pairwise(spread))
    assert [name for _, name in spread] == sorted(name for _, name in spread)
    assert sum(place for place, _ in spread) == pytest.approx(sum(places), abs=1e-6)


def test_names_stand_where_lines_leave() -> None:
    panel = line_names.Panel(440, 330, (1, 1000), (0.0, 0.5))
    lines = {
        "through the top": [(1, 0.1), (10, 0.3), (100, 0.7)],
        "ends early": [(1, 0.1), (31, 0.4)],
        "goes on": [(1, 0.1), (1000, 0.2)],
        "goes on too": [(1, 0.1), (1000, 0.2001)],
        "all too wide": [(1, 0.6)],
    }
    over, beside = panel.names(list(lines.items()))
    assert {name for name, _, _ in over} == {"through the top", "ends early", "all too wide"}
    assert {(name, x) for name, x, _ in beside} == {("goes on", 1000), ("goes on too", 1000)}
    assert abs(beside[0][2] - beside[1][2]) > 0.02
    assert all(y == 0.5 for _, _, y in over)


def test_published_theorems_are_dashed_and_black() -> None:
    drawn = charts.plans(WIDTHS, SERVED, title="t", width=0.05).to_dict()
    scales = [layer["encoding"] for layer in drawn["hconcat"][1]["layer"] if "strokeDash" in layer.get("encoding", {})]
    domain, dashes = (scales[0]["strokeDash"]["scale"][part] for part in ("domain", "range"))
    assert dict(zip(domain, dashes, strict=True)) == {"A": [1, 0], "GuessAndCheck": [1, 0], "C": [6, 4]}
    colours = scales[0]["color"]["scale"]["range"]
    assert len(set(colours)) == 3


@pytest.mark.parametrize("points", [[], SERVED[:1]])
def test_a_plan_with_nothing_to_draw(points: list[dict[str, Any]], tmp_path: Path) -> None:
    assert charts.save(charts.plans([], points, title="t", width=0.05), tmp_path / "c.svg").exists()


def test_a_wrong_ending_or_folder_is_named(tmp_path: Path) -> None:
    drawn = charts.widths(WIDTHS, title="t")
    with pytest.raises(UnwornError, match=r"\.svg, \.png"):
        charts.save(drawn, tmp_path / "c.gif")
    with pytest.raises(UnwornError, match="could not be written"):
        charts.save(drawn, tmp_path / "no" / "c.svg")


@pytest.mark.parametrize("module", ["altair", "vl_convert"])
def test_without_the_extra_it_is_named(module: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn = charts.widths(WIDTHS, title="t")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'unworn\[plot\]'"):
        charts.save(charts.widths(WIDTHS, title="t") if module == "altair" else drawn, tmp_path / "c.svg")


def test_importing_charts_imports_no_drawing_library() -> None:
    code = "import sys, unworn.charts; print({'altair', 'vl_convert', 'typer', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_each_metric_has_a_panel_and_an_axis_of_its_own() -> None:
    rows = [
        {**row, "metric": metric, "value": row["value"] * scale, "low": row["low"] * scale, "high": row["high"] * scale}
        for metric, scale in (("accuracy", 1), ("mae (range 0 to 5000)", 1_000))
        for row in ANSWERS
    ]
    drawn = charts.intervals(rows, title="t").to_dict()
    panels = drawn["vconcat"]
    titles = [panel["title"]["text"] for panel in panels]
    assert titles == ["accuracy", "mae (range 0 to 5000)"]
    tops = [panel["layer"][0]["encoding"]["y"]["scale"]["domain"][1] for panel in panels]
    assert tops[0] < 1 < 500 < tops[1]
    for panel in panels:
        assert panel["layer"][0]["encoding"]["x"]["axis"]["tickMinStep"] == 1
        assert panel["layer"][0]["encoding"]["x"]["axis"]["format"] == ",d"


def test_too_many_metrics_are_left_out_and_it_says_so() -> None:
    rows = [{**ANSWERS[0], "index": k, "metric": f"mean {k % 9}"} for k in range(100)]
    drawn = charts.intervals(rows, title="t").to_dict()
    assert len(drawn["vconcat"]) == 6
    assert "the 6 metrics asked most of 9 are drawn" in drawn["title"]["subtitle"]


def test_a_ranking_names_every_line(tmp_path: Path) -> None:
    rows = [{**row, "label": f"trial {row['index']} {'x' * 80}"} for row in ANSWERS[:5]]
    svg = charts.save(charts.ranking(rows, metric="accuracy", title="t"), tmp_path / "r.svg").read_text()
    assert all(f"trial {row['index']} " in svg for row in ANSWERS[:5])
    assert "accuracy" in svg


def test_a_ranking_leaves_its_names_room_in_every_font() -> None:
    """An SVG is drawn in the font of whoever looks: DejaVu Sans takes 6.6 pixels a character of 12, and Arial 5.6."""
    named = charts.ranking([{**ANSWERS[0], "label": "w" * 40}], metric="accuracy", title="t").to_dict()
    (extent,) = {layer["encoding"]["y"]["axis"]["minExtent"] for layer in named["layer"]}
    assert extent >= 6.6 * len(f"{'w' * 40}  #{ANSWERS[0]['index']}")


def test_names_and_tags_are_shown_where_the_mouse_is() -> None:
    rows = [{**row, "name": "mine", "tags": {"fold": 3}} for row in ANSWERS]
    tips = charts.intervals(rows, title="t").to_dict()["layer"][1]["encoding"]["tooltip"]
    assert {"name", "tags"} <= {tip["field"] for tip in tips}
    assert "fold=3" in inline(charts.intervals(rows, title="t"))


def test_names_at_the_right_have_room_in_a_wider_font() -> None:
    # The longest, "projection: root mean square", is 190 pixels of Arial, and up to a fifth wider elsewhere.
    from unworn.charts import regimes

    rows = [{"method": name, "questions": k, "rows": k} for name in ("noise", "MWEM") for k in (10.0, 100.0)]
    assert regimes(rows, title="Rows").to_dict()["padding"]["right"] >= 190 / 5
