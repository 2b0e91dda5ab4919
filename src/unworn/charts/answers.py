"""A ledger's answers, each with its interval: a panel for each metric, because two units share no axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from unworn.basics.tags import show_tags
from unworn.charts.style import (
    Table,
    altair,
    axis,
    data,
    drawn_text,
    dress_chart,
    number_format,
    padded_range,
    records,
    source_colour,
)

_MOST = 300
"""How many intervals one picture shows; more would be a solid block."""
_PANELS = 6
_WIDE = 640


def intervals(table: Table, *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Every answer with its interval, in the order of the ledger; a panel for each ``metric``, where it is given.

    ``table`` has ``index``, ``value``, ``low``, ``high`` and ``source``; ``question``, ``name`` and ``tags`` are shown
    where the mouse is. Past a few hundred answers only evenly spaced ones are drawn, past six metrics only those asked
    most, and the subtitle says so.
    """
    alt = altair("drawing a ledger")
    rows = [_worded(row) for row in records(table)]
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    counted = Counter(row.get("metric") for row in rows)
    chosen = {metric for metric, _ in counted.most_common(_PANELS)}
    if len(counted) > _PANELS:
        lines.append(f"the {_PANELS} metrics asked most of {len(counted):,} are drawn")
        rows = [row for row in rows if row.get("metric") in chosen]
    if len(rows) > _MOST:
        lines.append(f"{_MOST:,} evenly spaced of {len(rows):,} answers are drawn")
        rows = [rows[place * (len(rows) - 1) // (_MOST - 1)] for place in range(_MOST)]
    span = [row["index"] for row in rows] or [0]
    scale = alt.Scale(domain=[min(span) - 0.5, max(span) + 0.5], nice=False)
    metrics = list(dict.fromkeys(row.get("metric") for row in rows)) or [None]
    colour = source_colour(alt, rows)
    if len(metrics) == 1:
        return dress_chart(alt, _panel(alt, rows, metrics[0], scale, colour, 300, last=True), title, lines)
    high = max(110, 400 // len(metrics))
    panels = [
        _panel(alt, [row for row in rows if row.get("metric") == metric], metric, scale, colour, high, last=last)
        for metric in metrics
        for last in [metric == metrics[-1]]
    ]
    return dress_chart(alt, alt.vconcat(*panels, spacing=14), title, lines)


def _panel(
    alt: Any, rows: Sequence[dict[str, Any]], metric: str | None, scale: Any, colour: Any, high: int, *, last: bool
) -> Any:
    index = alt.X(
        "index:Q",
        title="answer" if last else None,
        axis=axis(alt, format=",d", grid=False, tickMinStep=1, tickCount=8, labelOverlap=True, labels=last, ticks=last),
        scale=scale,
    )
    alone = high > 200
    domain = padded_range(rows, ("low", "high"))
    value = {
        "title": (metric or "value and interval") if alone else None,
        "scale": alt.Scale(domain=domain, nice=False),
        "axis": axis(alt, format=number_format(domain), tickCount=6 if alone else 4, titleLimit=high),
    }
    base = alt.Chart(data(alt, rows)).encode(index, color=colour)
    thick = max(1.0, min(5.0, 0.5 * _WIDE / max(len(rows), 1)))
    bars = base.mark_rule(strokeWidth=thick, opacity=0.5).encode(alt.Y("low:Q", **value), alt.Y2("high:Q"))
    points = base.mark_point(filled=True, opacity=1, size=max(12.0, 12 * thick)).encode(
        alt.Y("value:Q", **value),
        tooltip=[alt.Tooltip(f"{name}:{kind}") for name, kind in _tips(rows)],
    )
    panel = (bars + points).properties(width=_WIDE, height=high)
    # Beside a low panel a name would not fit.
    name = alt.TitleParams(metric or "", anchor="start", fontSize=13, fontWeight="normal", offset=6, limit=_WIDE)
    return panel if alone else panel.properties(title=name)


def _worded(row: dict[str, Any]) -> dict[str, Any]:
    """With tags in a line: a picture shows no dictionary."""
    tags = row.get("tags")
    if not isinstance(tags, Mapping):
        return row
    return {**row, "tags": drawn_text(show_tags(tags))}


def _tips(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    texts = [(name, "N") for name in ("name", "question", "tags", "source")]
    known = [("index", "Q"), *texts, ("value", "Q"), ("low", "Q"), ("high", "Q")]
    return [(name, kind) for name, kind in known if any(row.get(name) not in (None, "") for row in rows)]
