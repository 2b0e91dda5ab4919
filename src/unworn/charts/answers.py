"""A ledger's answers, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unworn.charts.style import BLUE, GREEN, GREY, ORANGE, PINK, Table, altair, axis, data, dressed, padded, records

_MOST = 300
"""How many intervals one picture shows; more would be a solid block."""
_WIDE = 640


def intervals(table: Table, *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Every answer with its interval, in the order of the ledger.

    ``table`` has ``index``, ``value``, ``low``, ``high`` and ``source``. Past a few hundred answers only evenly
    spaced ones are drawn, and the subtitle says so.
    """
    alt = altair("drawing a ledger")
    rows = records(table)
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    if len(rows) > _MOST:
        lines.append(f"{_MOST:,} evenly spaced of {len(rows):,} answers are drawn")
        rows = [rows[place * (len(rows) - 1) // (_MOST - 1)] for place in range(_MOST)]
    sources = {"guess": BLUE, "surprise": ORANGE, "grid": GREEN, "exact": PINK}
    present = [source for source in sources if any(row["source"] == source for row in rows)]
    others = sorted({row["source"] for row in rows} - set(sources))
    colour = alt.Color(
        "source:N",
        scale=alt.Scale(domain=[*present, *others], range=[sources[name] for name in present] + [GREY] * len(others)),
        legend=alt.Legend(title="where the value comes from", orient="bottom", titleLimit=300, symbolStrokeWidth=0),
    )
    span = [row["index"] for row in rows] or [0]
    index = alt.X(
        "index:Q",
        title="answer",
        axis=axis(alt, format=",d", grid=False, tickMinStep=1, tickCount=8, labelOverlap=True),
        scale=alt.Scale(domain=[min(span) - 0.5, max(span) + 0.5], nice=False),
    )
    value = {
        "title": "value and interval",
        "scale": alt.Scale(domain=padded(rows, ("low", "high")), nice=False),
        "axis": axis(alt, format="~g", tickCount=6),
    }
    base = alt.Chart(data(alt, rows)).encode(index, color=colour)
    thick = max(1.0, min(5.0, 0.5 * _WIDE / max(len(rows), 1)))
    bars = base.mark_rule(strokeWidth=thick, opacity=0.5).encode(alt.Y("low:Q", **value), alt.Y2("high:Q"))
    points = base.mark_point(filled=True, opacity=1, size=max(12.0, 12 * thick)).encode(
        alt.Y("value:Q", **value),
        tooltip=[alt.Tooltip(f"{name}:{kind}") for name, kind in _tips(rows)],
    )
    return dressed(alt, (bars + points).properties(width=_WIDE, height=300), title, lines)


def _tips(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    known = [("index", "Q"), ("question", "N"), ("value", "Q"), ("low", "Q"), ("high", "Q"), ("source", "N")]
    return [(name, kind) for name, kind in known if rows and name in rows[0]]
