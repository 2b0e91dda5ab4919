"""What a claim of privacy allows, and what an audit measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unworn.charts.style import BLUE, GREY, ORANGE, Table, altair, axis, data, dress_chart, records

_WIDE, _HIGH = 560, 400


def audit(allowed: Table, measured: Table, *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Outcomes by their probabilities on two inputs that differ in one row, over the region that the claim allows.

    ``allowed`` has ``other`` and ``most``: the largest probability that the claim allows an outcome of probability
    ``other`` on the other input. ``measured`` has ``outcome``, ``above`` and ``below`` (certainly at least so likely
    here, at most so likely there), ``first`` and ``second`` (as seen), and ``refutes``. Whatever lies certainly above
    the region refutes the claim.
    """
    alt = altair("drawing an audit")
    curve, points = records(allowed), _placed(records(measured))
    low = min(row["other"] for row in curve)
    floor = 10 ** math.floor(math.log10(max(min(row["most"] for row in curve), 1e-9)))
    floor = min([floor, *(point["above"] / 2 for point in points if point["above"] > 1e-9)])
    across = alt.X(
        "other:Q",
        title="probability on the other input",
        scale=alt.Scale(type="log", domain=[low, 1], nice=False),
        axis=axis(alt, format="~g", grid=False, values=_decades(low)),
    )
    up = alt.Y(
        "most:Q",
        title="probability on one input",
        scale=alt.Scale(type="log", domain=[floor, 1.3], nice=False),
        axis=axis(alt, format="~g", values=_decades(floor)),
    )
    inside = [{**row, "floor": floor} for row in curve if row["most"] >= floor]
    base = alt.Chart(data(alt, inside)).encode(across)
    region = base.mark_area(color=GREY, opacity=0.16, clip=True).encode(up, alt.Y2("floor:Q"))
    edge = base.mark_line(color=GREY, strokeWidth=2, clip=True).encode(up)
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=["refutes the claim", "within the claim"], range=[ORANGE, BLUE]),
        legend=alt.Legend(title=None, orient="bottom", symbolStrokeWidth=0, labelFontSize=12),
    )
    drawn = alt.Chart(data(alt, points))
    corner = drawn.mark_point(filled=True, size=70, opacity=1).encode(
        alt.X("below:Q"),
        alt.Y("above:Q"),
        colour,
        tooltip=["outcome:N", "pair:N", "above:Q", "below:Q"],
    )
    seen = alt.Chart(data(alt, [point for point in points if point["second"] > 0]))
    reach = seen.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        alt.X("below:Q"), alt.Y("above:Q"), alt.X2("second:Q"), alt.Y2("first:Q"), colour
    )
    # What refutes has room above it, and what is allowed below.
    aside = -15 if points[0]["refutes"] else 17
    text = (
        alt.Chart(data(alt, points[:1]))
        .mark_text(align="left", dx=-4, dy=aside, fontSize=12, fontWeight="bold", limit=300)
        .encode(alt.X("below:Q"), alt.Y("above:Q"), colour, text="outcome:N")
    )
    word = alt.Chart(data(alt, [{"other": 1.0, "most": floor, "word": "what the claim allows"}])).mark_text(
        align="right", baseline="bottom", dx=-10, dy=-10, fontSize=13, color="#444444"
    )
    layers = [region, edge, reach, corner, text, word.encode(across, up, text="word:N")]
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    lines.append("Dots: certain limits. Lines lead to what was seen.")
    return dress_chart(alt, alt.layer(*layers).properties(width=_WIDE, height=_HIGH), title, lines)


def _placed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The outcomes, the clearest first; a limit of 0 is drawn at the smallest number there is room for."""
    ranked = sorted(rows, key=lambda row: (row["refutes"], row["above"] / max(row["below"], 1e-300)), reverse=True)
    return [{**row, "above": max(row["above"], 1e-9), "verdict": _VERDICTS[bool(row["refutes"])]} for row in ranked]


_VERDICTS = {True: "refutes the claim", False: "within the claim"}


def _decades(low: float) -> list[float]:
    """Ticks from 1 down: powers of ten, or more where there are few of them."""
    lowest = math.floor(math.log10(low))
    steps = (1, 2, 5) if lowest >= -2 else (1,)
    every = max(1, -lowest // 8)
    ticks = [step * 10.0**power for power in range(0, lowest - 1, -every) for step in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= 1]
