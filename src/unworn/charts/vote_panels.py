"""What holdouts report of votes among useless features: a panel for each holdout, a row of panels for each world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unworn.charts.style import BLACK, BLUE, GREY, ORANGE, Table, altair, apart, axis, data, dress_chart, of, records

_WIDE, _HIGH = 270, 210
_LINES = {"train": ("training rows", GREY), "reported": ("reported", BLUE), "truth": ("fresh rows", ORANGE)}
_ROOM = 1.42
"""How far the axis runs past the last number of features: names of lines stand there."""


def freedman(table: Table, published: Table = (), *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Accuracy by the number of ``features`` that vote: on training rows, as reported with its interval, and true.

    ``table`` has ``signal`` (how many features are real), ``holdout``, ``features``, ``train``, ``reported``, ``low``,
    ``high`` and ``truth``; ``published`` has ``signal``, ``holdout``, ``features``, ``reported``, ``spread`` and
    ``origin``, drawn as points. An interval of more than half the range leaves the panel, and so fills it.
    """
    alt = altair("drawing the experiment")
    rows, known = records(table), records(published)
    low, high = _span(rows)
    cut = [{**row, "low": max(row["low"], low), "high": min(row["high"], high)} for row in rows]
    scales = (
        alt.Scale(domain=[0, _ROOM * max(row["features"] for row in rows)], nice=False),
        alt.Scale(domain=[low, high], nice=False),
    )
    panels = []
    for signal in dict.fromkeys(row["signal"] for row in rows):
        mine, theirs = of(cut, signal, "signal"), of(known, signal, "signal")
        names = list(dict.fromkeys(row["holdout"] for row in mine))
        last = signal == rows[-1]["signal"]
        row = [_panel(alt, of(mine, name), of(theirs, name), scales, name == names[0], last) for name in names]
        panels.append(alt.hconcat(*row, spacing=22))
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    lines.append("Bands: the interval that came with the report; where all is blue, it says nothing.")
    if known:
        lines.append("Diamonds: the paper's number, and those of the code published with it.")
    return dress_chart(alt, alt.vconcat(*panels, spacing=18), title, lines)


def _span(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """From the lowest to the highest of lines and of intervals that say something, with a little room."""
    ends = [row[name] for row in rows for name in ("low", "high") if row["high"] - row["low"] < 0.5]
    numbers = [*ends, *(row[name] for row in rows for name in _LINES)]
    return min(numbers) - 0.01, max(numbers) + 0.02


def _panel(
    alt: Any, rows: list[dict[str, Any]], known: list[dict[str, Any]], scales: tuple[Any, Any], first: bool, last: bool
) -> Any:
    ticks = sorted({0, *(row["features"] for row in rows if row["features"] % 100 == 0)})
    x = alt.X(
        "features:Q",
        title="features that vote" if last else None,
        axis=axis(alt, grid=False, values=ticks, labels=last),
        scale=scales[0],
    )
    shown = {
        "title": "accuracy of the vote" if first else None,
        "axis": axis(alt, format=".0%", tickCount=6, labels=first),
        "scale": scales[1],
    }
    long = [
        {"features": row["features"], "what": what, "accuracy": row[name]}
        for row in rows
        for name, (what, _) in _LINES.items()
    ]
    kinds = [what for what, _ in _LINES.values()]
    colour = alt.Color("what:N", scale=alt.Scale(domain=kinds, range=[c for _, c in _LINES.values()]), legend=None)
    dash = alt.StrokeDash("what:N", scale=alt.Scale(domain=kinds, range=[[2, 2], [1, 0], [6, 3]]), legend=None)
    base = alt.Chart(data(alt, rows)).encode(x)
    band = base.mark_area(color=BLUE, opacity=0.18).encode(alt.Y("low:Q", **shown), alt.Y2("high:Q"))
    curves = alt.Chart(data(alt, long)).mark_line(strokeWidth=2.5).encode(x, alt.Y("accuracy:Q", **shown), colour, dash)
    end = [line for line in long if line["features"] == rows[-1]["features"]]
    names = (
        alt.Chart(data(alt, apart(end, scales[1].domain)))
        .mark_text(align="left", dx=10, fontSize=12, fontWeight="bold")
        .encode(x, alt.Y("place:Q", **shown), colour, text="what:N")
    )
    layers = [band, curves, names, *_marks(alt, known, x, shown)]
    header = alt.TitleParams(_header(rows[0]), anchor="start", fontSize=13, fontWeight="bold", offset=6)
    return alt.layer(*layers).properties(width=_WIDE, height=_HIGH, title=header)


def _marks(alt: Any, known: list[dict[str, Any]], x: Any, shown: dict[str, Any]) -> list[Any]:
    if not known:
        return []
    ends = [{**row, "low": row["reported"] - row["spread"], "high": row["reported"] + row["spread"]} for row in known]
    base = alt.Chart(data(alt, ends)).encode(x)
    bars = base.mark_rule(color=BLACK, strokeWidth=1.5).encode(alt.Y("low:Q", **shown), alt.Y2("high:Q"))
    points = base.mark_point(shape="diamond", filled=True, size=70, color=BLACK, opacity=1)
    return [bars, points.encode(alt.Y("reported:Q", **shown), tooltip=["origin:N", "reported:Q"])]


def _header(row: Mapping[str, Any]) -> str:
    real = f"{row['signal']} real features" if row["signal"] else "nothing is real"
    return f"{row['holdout']}, {real}"
