"""The best answers to one metric, each by its name, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unworn.charts.style import (
    Table,
    altair,
    axis,
    data,
    dress_chart,
    number_format,
    padded_range,
    records,
    source_colour,
)

_WIDE, _STEP = 520, 24
_LONGEST = 46
"""Characters of a name beside its interval."""


def ranking(table: Table, *, metric: str, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """One line for each answer, in the table's order: ``index``, ``label``, ``value``, ``low``, ``high``, ``source``.

    All are of one metric, which the axis is named after.
    """
    alt = altair("drawing a ranking")
    rows = [{**row, "line": f"{_short(str(row['label']))}  #{row['index']}"} for row in records(table)]
    names = alt.Y(
        "line:N",
        sort=None,
        title=None,
        axis=axis(alt, labelLimit=420, ticks=False, domain=False, labelPadding=8, minExtent=_room(rows)),
    )
    domain = padded_range(rows, ("low", "high"))
    across = {
        "title": metric,
        "scale": alt.Scale(domain=domain, nice=False),
        "axis": axis(alt, format=number_format(domain), tickCount=6),
    }
    base = alt.Chart(data(alt, rows)).encode(names, color=source_colour(alt, rows))
    bars = base.mark_rule(strokeWidth=5, opacity=0.4).encode(alt.X("low:Q", **across), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        alt.X("value:Q", **across), tooltip=["label:N", "value:Q", "low:Q", "high:Q", "source:N"]
    )
    chart = (bars + points).properties(width=_WIDE, height=alt.Step(_STEP))
    return dress_chart(alt, chart, title, subtitle)


def _room(rows: Sequence[dict[str, Any]]) -> int:
    """Pixels for the names in whatever font there is: where it is wider than the one measured, an SVG cuts them off."""
    return min(420, 16 + 7 * max((len(row["line"]) for row in rows), default=0))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
