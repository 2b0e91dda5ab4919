"""Charts: from any plain table, to every format, without rows and without the extra's help where it is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from unworn import charts
from unworn.errors import MissingExtra, UnwornError

POINTS = [
    {"holdout": name, "asked": k, "reported": 0.5 + k / 400, "low": 0.45, "high": 0.8, "truth": 0.5}
    for name in ("plain", "unworn")
    for k in (10, 50, 100)
]
WIDTHS = [{"mechanism": name, "asks": k, "width": w} for name in ("A", "B") for k, w in ((1, 0.01), (1000, 0.4))]
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
        (lambda: charts.widths(WIDTHS, title="A title", planned=100), ("planned asks", "half-width")),
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
    places = sorted(end["place"] for end in charts._apart(ends, [0.0, 1.0]))
    assert all(above - below > 0.04 for below, above in pairwise(places))
    assert sum(places) / 3 == pytest.approx(0.5)


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
