"""How errors grow with the number of restarts, on two logarithmic axes, beside the fourth root."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unworn.charts import style
from unworn.charts.line_names import Panel
from unworn.charts.style import Table, altair, axis, data, dress_chart, records

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PINK)
_ROOT = "fourth root of m"
_WIDE, _HIGH = 460, 340


def restarts(table: Table, *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """One line for each ``what``: its ``error`` over ``tops``; dashed, from the first line's start, the fourth root.

    ``table`` comes from :func:`unworn.lab.theorems.sparse_restarts.restarts`.
    """
    alt = altair("drawing restarts")
    rows = sorted(records(table), key=lambda row: float(row["tops"]))
    names = list(dict.fromkeys(str(row["what"]) for row in rows))
    first, last = float(rows[0]["tops"]), float(rows[-1]["tops"])
    errors = [float(row["error"]) for row in rows]
    start = max(float(row["error"]) for row in rows if row["tops"] == rows[0]["tops"]) * 1.25
    root = [{"what": _ROOT, "tops": m, "error": start * (m / first) ** 0.25} for m in (first, last)]
    span = (10 ** (math.floor(10 * math.log10(min(errors))) / 10), 1.1 * max([*errors, root[1]["error"]]))
    x = alt.X(
        "tops:Q",
        title="m: answers above the threshold, each with a fresh threshold",
        scale=alt.Scale(type="log", domain=[first, last], nice=False),
        axis=axis(alt, grid=False, format="~s", values=sorted({row["tops"] for row in rows})),
    )
    y = alt.Y(
        "error:Q",
        title="error, as a share",
        scale=alt.Scale(type="log", domain=list(span), nice=False),
        axis=axis(alt, format="~g", values=[a * 10.0**b for b in range(-6, 1) for a in (1, 2, 5)]),
    )
    kinds = [*names, _ROOT]
    colours = [*(_COLOURS[at % len(_COLOURS)] for at in range(len(names))), style.GREY]
    colour = alt.Color("what:N", scale=alt.Scale(domain=kinds, range=colours), legend=None)
    lines = (
        alt.Chart(data(alt, rows)).mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=45)).encode(x, y, colour)
    )
    slope = alt.Chart(data(alt, root)).mark_line(strokeWidth=1.5, strokeDash=[5, 4]).encode(x, y, colour)
    paths = [
        (name, [(float(r["tops"]), float(r["error"])) for r in (*rows, *root) if r["what"] == name]) for name in kinds
    ]
    _, ends = Panel(_WIDE, _HIGH, (first, last), span, log_y=True).names(paths)
    placed = data(alt, [{"what": name, "tops": at, "error": height} for name, at, height in ends])
    text = alt.Chart(placed).mark_text(align="left", dx=9, fontSize=12, fontWeight="bold", clip=False)
    chart = alt.layer(lines, slope, text.encode(x, y, colour, text="what:N")).properties(width=_WIDE, height=_HIGH)
    return dress_chart(alt, chart, title, subtitle)
