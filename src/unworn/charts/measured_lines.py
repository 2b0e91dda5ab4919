"""What an experiment measured, as lines over a size: each with its name at its end, theory dashed, spread as a band."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unworn.charts import style
from unworn.charts.style import Table, altair, axis, data, dress_chart, number_format, of, records

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PINK, style.AMBER, style.SKY, style.BLACK)
_WIDE, _HIGH = {1: 470, 2: 380}, 330
_LINE = 16
"""Pixels between names."""


@dataclass(frozen=True)
class LineAxes:
    """Which columns are drawn, how their axes are called, and which are logarithmic."""

    x: str
    y: str
    x_title: str
    y_title: str
    log_x: bool
    log_y: bool
    low: str | None
    high: str | None


def measured_lines(
    table: Table,
    *,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    title: str,
    subtitle: str | Sequence[str] = "",
    dashed: Sequence[str] = (),
    panel: str | None = None,
    own_axes: bool = False,
    log_x: bool = True,
    log_y: bool = True,
    low: str | None = None,
    high: str | None = None,
) -> Any:
    """One line for each ``what`` in the table: column ``y`` over column ``x``.

    Parameters
    ----------
    dashed
        The names of lines that were not measured: theory, a reference. They are dashed, and have no points.
    panel
        A column whose values are drawn side by side, on the same axes or, with ``own_axes``, each on its own.
    log_x, log_y
        Logarithmic axes; numbers of 0 and less are left out there.
    low, high
        Columns with the ends of a band around each line, where they are not None.

    Examples
    --------
    >>> rows = [{"what": f"k to the {p}", "asks": k, "width": k**p} for p in (0.5, 1) for k in (1, 10, 100)]
    >>> chart = measured_lines(rows, x="asks", y="width", x_title="asks", y_title="width", title="Widths")
    >>> chart.to_dict()["title"]["text"]
    'Widths'
    """
    alt = altair("drawing a measurement")
    given = LineAxes(x, y, x_title, y_title, log_x, log_y, low, high)
    rows = [row for row in records(table) if _is_drawn(row, given)]
    names = list(dict.fromkeys(str(row["what"]) for row in rows))
    solid = [name for name in names if name not in dashed]
    colours = {name: _COLOURS[at % len(_COLOURS)] for at, name in enumerate(solid)}
    scale = alt.Scale(domain=names, range=[colours.get(name, style.GREY) for name in names])
    ends = [column for column in (y, low, high) if column]
    heads = list(dict.fromkeys(str(row[panel]) for row in rows)) if panel else [""]
    panels = []
    for place, head in enumerate(heads):
        mine = of(rows, head, panel) if panel else rows
        seen = mine if own_axes else rows
        spans = _span(seen, [x], log_x, 0.0), _span(seen, ends, log_y, 0.06)
        label = own_axes or place == 0
        panels.append(_panel(alt, mine, given, spans, scale, dashed, head, _WIDE.get(len(heads), 300), label=label))
    return dress_chart(alt, panels[0] if len(panels) == 1 else alt.hconcat(*panels, spacing=24), title, subtitle)


def _is_drawn(row: dict[str, Any], given: LineAxes) -> bool:
    values = ((row[given.x], given.log_x), (row[given.y], given.log_y))
    return all(value is not None and (value > 0 or not log) for value, log in values)


def _span(rows: Sequence[dict[str, Any]], columns: Sequence[str], log: bool, room: float) -> list[float]:
    """From the smallest to the largest number, with a share of that for room."""
    numbers = [float(row[name]) for row in rows for name in columns if row[name] is not None]
    numbers = [number for number in numbers if number > 0] if log else numbers
    low, high = min(numbers, default=1.0), max(numbers, default=10.0)
    if log:
        more = (math.log(high / low) or 1.0) * room
        return [low * math.exp(-more), high * math.exp(more)]
    more = (high - low or 1.0) * room
    return [low - more, high + more]


def _panel(
    alt: Any,
    rows: list[dict[str, Any]],
    given: LineAxes,
    spans: tuple[list[float], list[float]],
    scale: Any,
    dashed: Sequence[str],
    head: str,
    wide: int,
    *,
    label: bool,
) -> Any:
    x = alt.X(
        f"{given.x}:Q",
        title=given.x_title,
        scale=_scale(alt, spans[0], given.log_x),
        axis=axis(alt, grid=False, **_ticks(spans[0], given.log_x)),
    )
    shown = {
        "title": given.y_title if label else None,
        "scale": _scale(alt, spans[1], given.log_y),
        "axis": axis(alt, labels=label, **_ticks(spans[1], given.log_y)),
    }
    colour = alt.Color("what:N", scale=scale, legend=None)
    order = alt.Order(f"{given.x}:Q")
    layers = []
    banded = [row for row in rows if given.low and row[given.low] is not None]
    if given.low and given.high and banded:
        cut = [
            {**row, given.low: max(row[given.low], spans[1][0]), given.high: min(row[given.high], spans[1][1])}
            for row in banded
        ]
        area = alt.Chart(data(alt, cut)).mark_area(opacity=0.16)
        layers.append(area.encode(x, alt.Y(f"{given.low}:Q", **shown), alt.Y2(f"{given.high}:Q"), colour))
    for own, mark in (
        ([row for row in rows if row["what"] in dashed], {"strokeWidth": 1.6, "strokeDash": [6, 4]}),
        ([row for row in rows if row["what"] not in dashed], {"strokeWidth": 2.4, "point": {"size": 42}}),
    ):
        if own:
            drawn = alt.Chart(data(alt, own)).mark_line(**mark)
            tips = [alt.Tooltip("what:N"), alt.Tooltip(f"{given.x}:Q"), alt.Tooltip(f"{given.y}:Q")]
            layers.append(drawn.encode(x, alt.Y(f"{given.y}:Q", **shown), colour, order, tooltip=tips))
    names = data(alt, _names(rows, given, spans[1]))
    text = alt.Chart(names).mark_text(align="left", dx=9, fontSize=12, fontWeight="bold", clip=False)
    layers.append(text.encode(x, alt.Y(f"{given.y}:Q", **shown), alt.Color("what:N", scale=scale), text="what:N"))
    chart = alt.layer(*layers).properties(width=wide, height=_HIGH)
    if not head:
        return chart
    return chart.properties(title=alt.TitleParams(head, anchor="start", fontSize=13, fontWeight="bold", offset=8))


def _scale(alt: Any, span: list[float], log: bool) -> Any:
    return alt.Scale(type="log", domain=span, nice=False) if log else alt.Scale(domain=span, nice=False, zero=False)


def _ticks(span: list[float], log: bool) -> dict[str, Any]:
    if not log:
        return {"tickCount": 6, "format": number_format(span)}
    decades = math.log10(span[1] / span[0])
    steps = (1,) if decades > 3.2 else (1, 3) if decades > 1.6 else (1, 2, 5)
    first, last = math.floor(math.log10(span[0])), math.ceil(math.log10(span[1]))
    values = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return {"values": [value for value in values if span[0] * 0.999 <= value <= span[1] * 1.001], "format": "~g"} | (
        {"format": "~s"} if span[1] >= 10_000 else {}
    )


def _names(rows: list[dict[str, Any]], given: LineAxes, span: list[float]) -> list[dict[str, Any]]:
    """Where each line ends, moved apart where two names would overprint each other."""
    from unworn.charts.line_names import spread

    def height(value: float) -> float:
        if given.log_y:
            return _HIGH * math.log(value / span[0]) / math.log(span[1] / span[0])
        return _HIGH * (value - span[0]) / (span[1] - span[0])

    def value(up: float) -> float:
        share = up / _HIGH
        return span[0] * (span[1] / span[0]) ** share if given.log_y else span[0] + share * (span[1] - span[0])

    last = {str(row["what"]): row for row in sorted(rows, key=lambda row: float(row[given.x]))}
    places = spread([(height(float(end[given.y])), name) for name, end in last.items()], _LINE)
    return [{"what": name, given.x: last[name][given.x], given.y: value(up)} for up, name in places]
