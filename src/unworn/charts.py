"""Every picture, once, from plain tables: notebook, command line and page draw the same.

A chart is a function of numbers that were already released; this module cannot reach the rows, nor anything that can.
Colours are told apart by people who do not see red or green, and every line is named where it ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from unworn.errors import MissingExtra, UnwornError

BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6B6B6B"
SUFFIXES = (".svg", ".png", ".html", ".json")
_MOST = 300
"""How many intervals one picture shows; more would be a solid block."""
_WIDE = 640

Table = Any
"""A list of dictionaries, a dictionary of columns, or a frame."""


def demonstration(table: Table, *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """What each holdout reported and what was true, as the number of questions grew, side by side.

    ``table`` has ``holdout``, ``asked``, ``reported``, ``low``, ``high`` and ``truth``.
    """
    alt = _altair("drawing the demonstration")
    rows = _records(table)
    lines = [
        {"holdout": row["holdout"], "asked": row["asked"], "what": what, "accuracy": row[name]}
        for row in rows
        for name, what in (("reported", "reported"), ("truth", "true"))
    ]
    last = max((row["asked"] for row in rows), default=1)
    asked = alt.X(
        "asked:Q",
        title="clues the analyst has scored on the holdout",
        axis=_axis(alt, tickCount=5, grid=False, format="~s" if last >= 10_000 else ",d"),
        scale=alt.Scale(domain=[0, last * 1.2], nice=False),
    )
    scale = alt.Scale(domain=_padded(rows, ("low", "high", "truth")), nice=False)
    accuracy = {
        "title": "accuracy of the analyst's vote",
        "axis": _axis(alt, format=".0%", tickCount=6),
        "scale": scale,
    }
    what = alt.Color("what:N", scale=alt.Scale(domain=["reported", "true"], range=[BLUE, ORANGE]), legend=None)
    panels = []
    for place, name in enumerate(dict.fromkeys(row["holdout"] for row in rows)):
        mine, ours = _of(rows, name), _of(lines, name)
        ends = _apart([line for line in ours if line["asked"] == ours[-1]["asked"]], scale["domain"])
        shown = accuracy if place == 0 else {**accuracy, "title": None}
        base = alt.Chart(_data(alt, mine))
        band = base.mark_area(opacity=0.22, color=BLUE).encode(asked, alt.Y("low:Q", **shown), alt.Y2("high:Q"))
        drawn = alt.Chart(_data(alt, ours)).encode(asked, alt.Y("accuracy:Q", **shown), what)
        curve = drawn.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=28, filled=True)).encode(
            strokeDash=alt.StrokeDash(
                "what:N", scale=alt.Scale(domain=["reported", "true"], range=[[1, 0], [6, 3]]), legend=None
            )
        )
        named = (
            alt.Chart(_data(alt, ends))
            .mark_text(align="left", dx=8, fontSize=13, fontWeight="bold")
            .encode(asked, alt.Y("place:Q", **shown), what, text="what:N")
        )
        header = alt.TitleParams(name, anchor="start", fontSize=14, fontWeight="bold", offset=8)
        panels.append((band + curve + named).properties(width=400, height=300, title=header))
    return _dressed(alt, alt.hconcat(*panels, spacing=28), title, subtitle)


def widths(table: Table, *, title: str, subtitle: str | Sequence[str] = "", planned: int | None = None) -> Any:
    """How wide answers are as the number of asks grows, one line a mechanism.

    ``table`` has ``mechanism``, ``asks`` and ``width`` (none where a mechanism cannot serve); ``planned`` is marked.
    """
    alt = _altair("drawing a plan")
    rows = [row for row in _records(table) if row["width"] is not None]
    names = sorted({row["mechanism"] for row in rows})
    colours = alt.Scale(domain=names, range=([BLUE, ORANGE, GREEN, PINK, GREY] * (1 + len(names) // 5))[: len(names)])
    first, last = min((row["asks"] for row in rows), default=1), max((row["asks"] for row in rows), default=1)
    asks = alt.X(
        "asks:Q",
        title="planned asks",
        scale=alt.Scale(type="log", domain=[first, max(last, first + 1)], nice=False),
        axis=_axis(alt, format="~s", grid=False, values=[10**power for power in range(19)]),
    )
    width = {
        "title": "half-width of each answer's interval",
        "scale": alt.Scale(domain=[0, max((row["width"] for row in rows), default=0.5) * 1.08], nice=False),
        "axis": _axis(alt, format="~g", tickCount=6),
    }
    colour = alt.Color("mechanism:N", scale=colours, legend=None)
    lines = alt.Chart(_data(alt, rows)).mark_line(strokeWidth=2.5).encode(asks, alt.Y("width:Q", **width), colour)
    ends = [max(_of(rows, name, "mechanism"), key=lambda row: row["asks"]) for name in names]
    named = (
        alt.Chart(_data(alt, _apart(ends, width["scale"]["domain"], "width", "mechanism")))
        .mark_text(align="left", dx=7, fontSize=12, fontWeight="bold", clip=False)
        .encode(asks, alt.Y("place:Q", **width), colour, text="mechanism:N")
    )
    chart = lines + named
    if planned is not None:
        mark = alt.Chart(_data(alt, [{"asks": planned}])).mark_rule(color=GREY, strokeDash=[4, 4]).encode(asks)
        chart = mark + chart
    return _dressed(alt, chart.properties(width=560, height=320), title, subtitle)


def intervals(table: Table, *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Every answer with its interval, in the order of the ledger.

    ``table`` has ``index``, ``value``, ``low``, ``high`` and ``source``. Past a few hundred answers only evenly
    spaced ones are drawn, and the subtitle says so.
    """
    alt = _altair("drawing a ledger")
    rows = _records(table)
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
        axis=_axis(alt, format=",d", grid=False, tickMinStep=1, tickCount=8, labelOverlap=True),
        scale=alt.Scale(domain=[min(span) - 0.5, max(span) + 0.5], nice=False),
    )
    value = {
        "title": "value and interval",
        "scale": alt.Scale(domain=_padded(rows, ("low", "high")), nice=False),
        "axis": _axis(alt, format="~g", tickCount=6),
    }
    base = alt.Chart(_data(alt, rows)).encode(index, color=colour)
    thick = max(1.0, min(5.0, 0.5 * _WIDE / max(len(rows), 1)))
    bars = base.mark_rule(strokeWidth=thick, opacity=0.5).encode(alt.Y("low:Q", **value), alt.Y2("high:Q"))
    points = base.mark_point(filled=True, opacity=1, size=max(12.0, 12 * thick)).encode(
        alt.Y("value:Q", **value),
        tooltip=[alt.Tooltip(f"{name}:{kind}") for name, kind in _tips(rows)],
    )
    return _dressed(alt, (bars + points).properties(width=_WIDE, height=300), title, lines)


def save(chart: Any, path: str | os.PathLike[str]) -> Path:
    """Write a chart as SVG, PNG, HTML or Vega-Lite JSON, by the name's ending; no browser is needed.

    >>> from tempfile import TemporaryDirectory
    >>> rows = [{"mechanism": "GuessAndCheck", "asks": k, "width": 0.04 + k / 1e4} for k in (1, 10, 100)]
    >>> with TemporaryDirectory() as folder:
    ...     save(widths(rows, title="Widths"), f"{folder}/plan.svg").read_text()[:4]
    '<svg'
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise UnwornError(f"cannot draw {target.name!r}: end its name in one of {', '.join(SUFFIXES)}")
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra.of("plot", "writing a figure") from None
    try:
        if suffix == ".png":
            target.write_bytes(vl_convert.vegalite_to_png(chart.to_json(), scale=2))
        elif suffix == ".svg":
            target.write_text(vl_convert.vegalite_to_svg(chart.to_json()), encoding="utf-8")
        elif suffix == ".html":
            target.write_text(vl_convert.vegalite_to_html(chart.to_json(), bundle=True), encoding="utf-8")
        else:
            target.write_text(chart.to_json(), encoding="utf-8")
    except OSError as error:
        raise UnwornError(f"the figure {target} could not be written: {error.strerror}") from None
    return target


def available() -> bool:
    """Whether charts can be drawn here: the extra ``plot`` is installed."""
    from importlib.util import find_spec

    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def _altair(purpose: str) -> Any:
    try:
        import altair
    except ImportError:
        raise MissingExtra.of("plot", purpose) from None
    return altair


def _records(table: Table) -> list[dict[str, Any]]:
    if isinstance(table, Mapping):
        return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    if isinstance(table, Iterable) and not hasattr(table, "columns"):
        return [dict(row) for row in table]
    import narwhals as nw

    return [dict(row) for row in nw.from_native(table, eager_only=True).iter_rows(named=True)]


def _data(alt: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Inline values, whole: a table handed over as a frame would be refused past 5,000 rows."""
    return alt.Data(values=[dict(row) for row in rows])


def _of(rows: Sequence[dict[str, Any]], name: Any, column: str = "holdout") -> list[dict[str, Any]]:
    return [row for row in rows if row[column] == name]


def _padded(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[float]:
    """From the lowest to the highest number, with a little room."""
    numbers = [float(row[column]) for row in rows for column in columns]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    room = 0.05 * (high - low) or 0.05 * max(abs(high), 1.0)
    return [low - room, high + room]


def _apart(
    ends: Sequence[Mapping[str, Any]], domain: Sequence[float], value: str = "accuracy", name: str = "what"
) -> list[dict[str, Any]]:
    """Where to write the lines' names, so that close ends do not overprint each other."""
    gap = 0.06 * (domain[1] - domain[0])
    placed = sorted(({**end, "place": float(end[value])} for end in ends), key=lambda end: (end["place"], end[name]))
    for _ in placed:
        for below, above in pairwise(placed):
            lack = gap - (above["place"] - below["place"])
            if lack > 0:
                below["place"] -= lack / 2
                above["place"] += lack / 2
    return placed


def _tips(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    known = [("index", "Q"), ("question", "N"), ("value", "Q"), ("low", "Q"), ("high", "Q"), ("source", "N")]
    return [(name, kind) for name, kind in known if rows and name in rows[0]]


def _axis(alt: Any, **options: Any) -> Any:
    return alt.Axis(
        labelFontSize=12, titleFontSize=13, titleFontWeight="normal", titlePadding=10, gridColor="#e6e6e6", **options
    )


def _dressed(alt: Any, chart: Any, title: str, subtitle: str | Sequence[str]) -> Any:
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    head = alt.TitleParams(
        title,
        subtitle=[line for line in lines if line],
        anchor="start",
        fontSize=17,
        subtitleFontSize=13,
        subtitleColor="#444444",
        subtitlePadding=6,
        offset=16,
    )
    return chart.properties(
        title=head, padding={"left": 16, "right": 20, "top": 16, "bottom": 14}, background="white"
    ).configure(font="Helvetica, Arial, sans-serif", view=alt.ViewConfig(stroke=None))
