"""What a plan promises, as lines: how wide answers get with the asks, and how many asks the rows can bear."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from unworn.charts import style
from unworn.charts.line_names import Panel
from unworn.charts.style import Table, altair, axis, data, dress_chart, records

_COLOURS = {
    "GuessAndCheck": style.BLUE,
    "BoundedNoise": style.ORANGE,
    "Gaussian": style.GREEN,
    "Laplace": style.PINK,
    "Subsampled": style.SKY,
    "Rounding": style.AMBER,
    "SampleSplitting": style.GREY,
    "final number": style.BLUE,
    "fresh test set": style.BLACK,
    "attack on noise": style.PINK,
}
_WIDE, _HIGH = 440, 330
_DASHED, _DOTTED = [6, 4], [2, 3]
_SHORT = "replace(format(datum.value, '~s'), 'G', 'B')"
"""Large numbers as people say them: 10k, 10M, 10B."""


def widths(table: Table, *, title: str, subtitle: str | Sequence[str] = "", planned: int | None = None) -> Any:
    """How wide answers are as the number of asks grows, one line per mechanism.

    ``table`` has ``mechanism``, ``asks`` and ``width`` (none where a mechanism cannot serve), and may have
    ``published``: true for a theorem shown for comparison, which is dashed, and ``reference``: true for what is no
    mechanism's, which is dotted. ``planned`` asks are marked.
    """
    alt = altair("drawing a plan")
    return dress_chart(alt, _widths(alt, table, planned), title, subtitle)


def plans(
    widths: Table,
    asks: Table,
    *,
    title: str,
    subtitle: str | Sequence[str] = "",
    planned: int | None = None,
    rows: int | None = None,
    width: float,
) -> Any:
    """The widths, and beside them how many asks a number of rows can answer within ``width``.

    ``asks`` has ``mechanism``, ``rows``, ``asks`` and perhaps ``published``; ``planned`` asks and ``rows`` are marked.
    """
    alt = altair("drawing a plan")
    points = [row for row in records(asks) if row["asks"]]
    # Guess and check bears a number of asks that grows exponentially with the rows: its line leaves through the top.
    others = [row["asks"] for row in points if row["mechanism"] != "GuessAndCheck"]
    top = 10.0 ** math.ceil(math.log10(10 * max([10, *others])))
    if planned is not None and top < 3 * planned <= 10**4 * top:
        top = 10.0 ** math.ceil(math.log10(3 * planned))
    every = max(1, round(math.log10(top) / 6))
    panel = _lines(
        alt,
        points,
        x=("rows", "rows in the holdout"),
        y=("asks", f"asks that can be answered within ± {width:.3g}", (1.0, top), True),
        ticks=axis(alt, labelExpr=_SHORT, values=[10**power for power in range(0, 19, every)]),
        marks={"rows": rows, "asks": planned},
    )
    return dress_chart(alt, alt.hconcat(_widths(alt, widths, planned), panel, spacing=36), title, subtitle)


def _widths(alt: Any, table: Table, planned: int | None) -> Any:
    points = [row for row in records(table) if row["width"]]
    least = min((row["width"] for row in points), default=0.01)
    ticks = [tick * 10.0**power for power in range(-9, 0) for tick in (1, 2, 5)]
    return _lines(
        alt,
        points,
        x=("asks", "asks"),
        y=("width", "half-width of each answer's interval", (min(0.6 * least, 0.1), 0.5), True),
        ticks=axis(alt, format="~g", values=ticks),
        marks={"asks": planned},
    )


def _lines(
    alt: Any,
    points: list[dict[str, Any]],
    *,
    x: tuple[str, str],
    y: tuple[str, str, tuple[float, float], bool],
    ticks: Any,
    marks: Mapping[str, float | None],
) -> Any:
    """One panel: one line per mechanism over a logarithmic axis, each named where it leaves the panel."""
    (across, x_title), (up, y_title, span, log_y) = x, y
    paths: dict[str, list[tuple[float, float]]] = {}
    for row in sorted(points, key=lambda row: float(row[across])):
        paths.setdefault(row["mechanism"], []).append((float(row[across]), float(row[up])))
    first, last = min((row[across] for row in points), default=1), max((row[across] for row in points), default=10)
    last = max(last, 10 * first)
    place_x = alt.X(
        f"{across}:Q",
        title=x_title,
        scale=alt.Scale(type="log", domain=[first, last], nice=False),
        axis=axis(alt, labelExpr=_SHORT, labelFlush=False, grid=False, values=[10**power for power in range(19)]),
    )
    kind = alt.Scale(type="log" if log_y else "linear", domain=list(span), nice=False)
    place_y = alt.Y(f"{up}:Q", title=y_title, scale=kind, axis=ticks)
    dashes_of = {row["mechanism"]: _DASHED for row in points if row.get("published")}
    dashes_of |= {row["mechanism"]: _DOTTED for row in points if row.get("reference")}
    colours, dashes = _looks(list(paths), dashes_of)
    colour = alt.Color("mechanism:N", scale=alt.Scale(domain=list(paths), range=colours), legend=None)
    dash = alt.StrokeDash("mechanism:N", scale=alt.Scale(domain=list(paths), range=dashes), legend=None)
    drawn = []
    for name, value in marks.items():
        low, high = (first, last) if name == across else span
        if value is not None and low <= value <= high:
            rule = alt.Chart(data(alt, [{name: value}])).mark_rule(color=style.GREY, strokeDash=[2, 3])
            drawn.append(rule.encode(place_x if name == across else place_y))
    lines = alt.Chart(data(alt, points)).mark_line(strokeWidth=2.5, clip=True, interpolate="monotone")
    drawn.append(lines.encode(place_x, place_y, colour, dash))
    over, beside = Panel(_WIDE, _HIGH, (first, last), span, log_y).names(list(paths.items()))
    for ends, turned in ((over, {"angle": 315, "dx": 3, "dy": -5}), (beside, {"dx": 7})):
        placed = data(alt, [{"mechanism": name, across: at, up: height} for name, at, height in ends])
        text = alt.Chart(placed).mark_text(align="left", fontSize=12, fontWeight="bold", clip=False, **turned)
        drawn.append(text.encode(place_x, place_y, colour, text="mechanism:N"))
    return alt.layer(*drawn).properties(width=_WIDE, height=_HIGH)


def _looks(names: Sequence[str], dashes: Mapping[str, list[int]]) -> tuple[list[str], list[list[int]]]:
    """A colour of its own for every line; what is only compared is black and dashed."""
    palette = list(_COLOURS.values())
    free = [colour for colour in palette if colour not in {_COLOURS.get(name) for name in names}] or palette
    colours, taken = [], 0
    for name in names:
        if name in _COLOURS or name in dashes:
            colours.append(_COLOURS.get(name, style.BLACK))
        else:
            colours.append(free[taken % len(free)])
            taken += 1
    return colours, [dashes.get(name, [1, 0]) for name in names]
