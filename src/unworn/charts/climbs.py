"""Loops that keep what looks better: what they say of themselves, and what fresh rows say, panel by panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unworn.charts import style
from unworn.charts.style import Table, altair, apart, axis, data, dress_chart, of, padded_range, records

_WIDE, _HIGH = 380, 330
_COLOURS = {"claims": style.ORANGE, "practice rows": style.SKY, "fresh rows": style.BLACK}
_CERTIFIED = {"certified on the way": style.BLUE, "certified at the end": style.PINK}


def climbs(points: Table, intervals: Table = (), *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """A panel for each ``way``: the ``gain`` of each ``what`` over ``proposal``, and certified intervals as bars.

    ``points`` has ``way``, ``proposal``, ``what`` (``claims``, ``practice rows`` or ``fresh rows``) and ``gain``;
    ``intervals`` has ``way``, ``proposal``, ``low``, ``high`` and ``what`` (``certified on the way``, ``certified at
    the end``). All panels share both axes.
    """
    alt = altair("drawing climbs")
    rows, bars = records(points), records(intervals)
    ways = list(dict.fromkeys(str(row["way"]) for row in rows))
    low, high = padded_range([*rows, *({"gain": bar[end]} for bar in bars for end in ("low", "high"))], ("gain",))
    last = max((float(row["proposal"]) for row in rows), default=1.0)
    panels = [
        _panel(alt, way, of(rows, way, "way"), of(bars, way, "way"), [low, high], last, first=way == ways[0])
        for way in ways
    ]
    return dress_chart(alt, alt.hconcat(*panels, spacing=26), title, subtitle)


def _panel(
    alt: Any,
    way: str,
    rows: list[dict[str, Any]],
    bars: list[dict[str, Any]],
    domain: list[float],
    last: float,
    *,
    first: bool,
) -> Any:
    x = alt.X(
        "proposal:Q",
        title="proposals",
        scale=alt.Scale(domain=[0, last], nice=False),
        axis=axis(alt, grid=False, tickCount=5, format=",d"),
    )
    y = alt.Y(
        "gain:Q",
        title="gain since the start" if first else None,
        scale=alt.Scale(domain=domain, nice=False),
        axis=axis(alt, format="+.2f", tickCount=6, labels=first, ticks=first),
    )
    names = list(dict.fromkeys(str(row["what"]) for row in rows))
    lines = alt.Chart(data(alt, rows)).mark_line(strokeWidth=2.2, interpolate="step-after").encode(x, y, _colour(alt))
    zero = alt.Chart(data(alt, [{"gain": 0.0}])).mark_rule(color="#999999", strokeWidth=1).encode(y)
    layers = [zero, *([_bars(alt, bars, x, domain)] if bars else []), lines]
    # Names of bars stand where the last of each kind is, those of lines where they end.
    ends = [{**of(rows, name, "what")[-1], "what": name} for name in names]
    ends += [{"what": name, **_middle(of(bars, name, "what"))} for name in _CERTIFIED if of(bars, name, "what")]
    placed = [{**end, "gain": end["place"], "proposal": last} for end in apart(ends, domain, "gain")]
    text = alt.Chart(data(alt, placed)).mark_text(align="left", dx=9, fontSize=12, fontWeight="bold", clip=False)
    layers.append(text.encode(x, y, _colour(alt), text="what:N"))
    heading = alt.TitleParams(way, anchor="start", fontSize=14, fontWeight="normal", offset=8, limit=_WIDE)
    return alt.layer(*layers).properties(width=_WIDE, height=_HIGH, title=heading)


def _bars(alt: Any, bars: list[dict[str, Any]], x: Any, domain: list[float]) -> Any:
    scale = alt.Scale(domain=domain, nice=False)
    tips = [alt.Tooltip(f"{name}:{kind}") for name, kind in (("what", "N"), ("low", "Q"), ("high", "Q"))]
    base = alt.Chart(data(alt, bars)).encode(x, _colour(alt), tooltip=tips)
    whole = base.mark_rule(strokeWidth=4, opacity=0.55).encode(alt.Y("low:Q", scale=scale), alt.Y2("high:Q"))
    ticks = [
        base.mark_tick(orient="horizontal", size=12, thickness=2).encode(alt.Y(f"{end}:Q", scale=scale))
        for end in ("low", "high")
    ]
    return alt.layer(whole, *ticks)


def _middle(bars: list[dict[str, Any]]) -> dict[str, Any]:
    return {"gain": (float(bars[-1]["low"]) + float(bars[-1]["high"])) / 2}


def _colour(alt: Any) -> Any:
    known = {**_COLOURS, **_CERTIFIED}
    return alt.Color("what:N", scale=alt.Scale(domain=list(known), range=list(known.values())), legend=None)
