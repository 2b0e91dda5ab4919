"""Two holdouts side by side: what each reported, and what was true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unworn.charts.style import BLUE, ORANGE, Table, altair, apart, axis, data, dress_chart, of, padded_range, records


def demonstration(table: Table, *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """What each holdout reported and what was true, as the number of questions grew, side by side.

    ``table`` has ``holdout``, ``asked``, ``reported``, ``low``, ``high`` and ``truth``.
    """
    alt = altair("drawing the demonstration")
    rows = records(table)
    lines = [
        {"holdout": row["holdout"], "asked": row["asked"], "what": what, "accuracy": row[name]}
        for row in rows
        for name, what in (("reported", "reported"), ("truth", "true"))
    ]
    last = max((row["asked"] for row in rows), default=1)
    asked = alt.X(
        "asked:Q",
        title="clues the analyst has scored on the holdout",
        axis=axis(alt, tickCount=5, tickMinStep=1, grid=False, format="~s" if last >= 10_000 else ",d"),
        scale=alt.Scale(domain=[0, last * 1.2], nice=False),
    )
    scale = alt.Scale(domain=padded_range(rows, ("low", "high", "truth")), nice=False)
    accuracy = {
        "title": "accuracy of the analyst's vote",
        "axis": axis(alt, format=".0%", tickCount=6),
        "scale": scale,
    }
    what = alt.Color("what:N", scale=alt.Scale(domain=["reported", "true"], range=[BLUE, ORANGE]), legend=None)
    panels = []
    for place, name in enumerate(dict.fromkeys(row["holdout"] for row in rows)):
        mine, ours = of(rows, name), of(lines, name)
        ends = apart([line for line in ours if line["asked"] == ours[-1]["asked"]], scale["domain"])
        shown = accuracy if place == 0 else {**accuracy, "title": None}
        base = alt.Chart(data(alt, mine))
        band = base.mark_area(opacity=0.22, color=BLUE).encode(asked, alt.Y("low:Q", **shown), alt.Y2("high:Q"))
        drawn = alt.Chart(data(alt, ours)).encode(asked, alt.Y("accuracy:Q", **shown), what)
        curve = drawn.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=28, filled=True)).encode(
            strokeDash=alt.StrokeDash(
                "what:N", scale=alt.Scale(domain=["reported", "true"], range=[[1, 0], [6, 3]]), legend=None
            )
        )
        named = (
            alt.Chart(data(alt, ends))
            .mark_text(align="left", dx=8, fontSize=13, fontWeight="bold")
            .encode(asked, alt.Y("place:Q", **shown), what, text="what:N")
        )
        header = alt.TitleParams(name, anchor="start", fontSize=14, fontWeight="bold", offset=8)
        panels.append((band + curve + named).properties(width=400, height=300, title=header))
    return dress_chart(alt, alt.hconcat(*panels, spacing=28), title, subtitle)
