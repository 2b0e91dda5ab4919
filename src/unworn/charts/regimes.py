"""How many rows methods of release need for more and more questions, on two logarithmic axes: where which is best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unworn.charts import style
from unworn.charts.line_names import Panel
from unworn.charts.style import Table, altair, axis, data, dress_chart, records

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PINK)
_WIDE, _HIGH = 460, 340


def regimes(table: Table, *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """One line for each ``method``: its ``rows`` over ``questions``; what needs infinitely many is left out.

    ``table`` comes from :func:`unworn.lab.theorems.release_regimes.regimes`.
    """
    alt = altair("drawing regimes")
    rows = [row for row in records(table) if math.isfinite(float(row["rows"]))]
    rows.sort(key=lambda row: float(row["questions"]))
    if not rows:
        raise ValueError("no method is certified for any of these questions: aim at a larger alpha")
    names = list(dict.fromkeys(str(row["method"]) for row in rows))
    first, last = float(rows[0]["questions"]), float(rows[-1]["questions"])
    needed = [float(row["rows"]) for row in rows]
    span = (min(needed) / 1.3, max(needed) * 1.3)
    x = alt.X(
        "questions:Q",
        title="k: questions that are all to be right",
        scale=alt.Scale(type="log", domain=[first, last], nice=False),
        axis=axis(alt, grid=False, format="~s", values=_powers(first, last)),
    )
    y = alt.Y(
        "rows:Q",
        title="rows needed",
        scale=alt.Scale(type="log", domain=list(span), nice=False),
        axis=axis(alt, format="~s", values=_powers(*span, steps=(1, 2, 5))),
    )
    colours = [_COLOURS[at % len(_COLOURS)] for at in range(len(names))]
    colour = alt.Color("method:N", scale=alt.Scale(domain=names, range=colours), legend=None)
    lines = alt.Chart(data(alt, rows)).mark_line(strokeWidth=2.5).encode(x, y, colour)
    paths = [
        (name, [(float(row["questions"]), float(row["rows"])) for row in rows if row["method"] == name])
        for name in names
    ]
    _, ends = Panel(_WIDE, _HIGH, (first, last), span, log_y=True).names(paths)
    placed = data(alt, [{"method": name, "questions": at, "rows": height} for name, at, height in ends])
    text = alt.Chart(placed).mark_text(align="left", dx=9, fontSize=12, fontWeight="bold", clip=False)
    chart = alt.layer(lines, text.encode(x, y, colour, text="method:N")).properties(width=_WIDE, height=_HIGH)
    return dress_chart(alt, chart, title, subtitle)


def _powers(low: float, high: float, steps: Sequence[int] = (1,)) -> list[float]:
    """The round numbers between two ends of a logarithmic axis."""
    places = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**place for place in places for step in steps if low <= step * 10.0**place <= high]
