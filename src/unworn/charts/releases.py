"""How far the tables of a release can be off, table by table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from unworn.charts.style import BLUE, ORANGE, Table, altair, axis, data, dress_chart, records

_MOST = 60
"""Tables that are drawn by name; of more, only how they spread."""
_WIDE, _LINE = 460, 18
_KINDS = {"from the rows": BLUE, "from the population": ORANGE}
_FIELDS = {"from the rows": "sample_error", "from the population": "population_error"}


def release(table: Table, *, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """The largest promised error of every table of a release: from the rows, and from the population.

    ``table`` has ``columns`` (names), ``kind``, ``questions``, ``sample_error`` and ``population_error``, as
    ``release.errors`` has. Above 60 tables a mark each, by the number of columns, and only the worst are named.
    """
    alt = altair("drawing a release")
    rows = [
        {**row, "what": what, "error": float(row[field])} for row in records(table) for what, field in _FIELDS.items()
    ]
    many = len(rows) > 2 * _MOST
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    lines += ["Every mark is a table; black marks the median."] if many else []
    return dress_chart(alt, (_spread if many else _named)(alt, rows), title, lines)


def _across(alt: Any, rows: Sequence[dict[str, Any]], field: str = "error") -> Any:
    most = max((row["error"] for row in rows), default=1.0) or 1.0
    return alt.X(
        f"{field}:Q",
        title="largest error of a share in the table",
        scale=alt.Scale(domain=[0, 1.04 * most], nice=False),
        axis=axis(alt, format="~g", tickCount=6, orient="bottom"),
    )


def _colour(alt: Any) -> Any:
    return alt.Color(
        "what:N",
        scale=alt.Scale(domain=list(_KINDS), range=list(_KINDS.values())),
        legend=alt.Legend(title="how far", orient="top", labelFontSize=12, symbolStrokeWidth=0, titleFontSize=12),
    )


def _named(alt: Any, rows: list[dict[str, Any]]) -> Any:
    """One line per table, the worst first."""
    names = _told_apart(rows)
    order = sorted(names, key=lambda name: [-row["error"] for row in names[name]][::-1])
    placed = [{**row, "name": name} for name in order for row in names[name]]
    up = alt.Y(
        "name:N",
        sort=order,
        title=None,
        axis=axis(alt, labelLimit=320, ticks=False, domain=False, grid=True, labelPadding=8),
        scale=alt.Scale(paddingOuter=0.3),
    )
    ends = [
        {"name": name, "low": min(e), "high": max(e)} for name in order for e in [[r["error"] for r in names[name]]]
    ]
    reach = alt.Chart(data(alt, ends)).mark_rule(strokeWidth=3, color="#d0d0d0")
    dots = alt.Chart(data(alt, placed)).mark_point(filled=True, size=75, opacity=1)
    drawn = alt.layer(
        reach.encode(up, _across(alt, rows, "low"), alt.X2("high:Q")),
        dots.encode(
            up, _across(alt, rows), _colour(alt), tooltip=["columns:N", "kind:N", "questions:Q", "what:N", "error:Q"]
        ),
    )
    return drawn.properties(width=_WIDE, height=_LINE * (len(order) + 1))


def _told_apart(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table by a name of its own: the same columns may be asked about in several ways."""
    pairs = [rows[at : at + 2] for at in range(0, len(rows), 2)]
    often = Counter(_name(pair[0]) for pair in pairs)
    seen: Counter[str] = Counter()
    named = {}
    for pair in pairs:
        name = _name(pair[0])
        if often[name] > 1:
            name = (
                f"{name} ({pair[0]['kind']})" if len({p[0]["kind"] for p in pairs if _name(p[0]) == name}) > 1 else name
            )
            seen[name] += 1
            name = name if seen[name] == 1 else f"{name} #{seen[name]}"
        named[name] = pair
    return named


def _name(row: dict[str, Any]) -> str:
    return str(row["columns"]).replace(", ", " × ")


def _spread(alt: Any, rows: list[dict[str, Any]]) -> Any:
    """A mark a table in a band for each number of columns, with the band's median and the name of its worst table."""
    for row in rows:
        count = str(row["columns"]).count(", ") + 1
        row["band"] = f"{count} column{'s' * (count > 1)}"
    bands = sorted({row["band"] for row in rows}, key=lambda band: int(band.split()[0]))
    sizes = Counter(row["band"] for row in rows if row["what"] == "from the rows")
    words = {band: f"{band} · {sizes[band]:,} tables" for band in bands}
    for row in rows:
        row["band"] = words[row["band"]]
    order = list(words.values())
    up = alt.Y(
        "band:N",
        sort=order,
        title=None,
        axis=axis(alt, labelLimit=260, ticks=False, domain=False, labelPadding=8),
        scale=alt.Scale(domain=order),
    )
    side = alt.YOffset("what:N", scale=alt.Scale(domain=list(_KINDS), paddingInner=0.25, paddingOuter=0.3))
    base = alt.Chart(data(alt, rows))
    marks = base.mark_tick(thickness=1.5, opacity=0.45, bandSize=22).encode(
        up, _across(alt, rows), side, _colour(alt), tooltip=["columns:N", "questions:Q", "error:Q"]
    )
    middles, worst = [], []
    for band in order:
        for what in _KINDS:
            own = [row for row in rows if row["band"] == band and row["what"] == what]
            middles.append({"band": band, "what": what, "error": median(row["error"] for row in own)})
            top = max(own, key=lambda row: row["error"])
            alike = sum(row["error"] > 0.99 * top["error"] for row in own) - 1
            worst.append({**top, "word": f"worst: {_name(top)}" + (f" and {alike:,} like it" if alike else "")})
    middle = (
        alt.Chart(data(alt, middles))
        .mark_tick(thickness=3, opacity=1, bandSize=30)
        .encode(up, _across(alt, rows), side, color=alt.value("#222222"))
    )
    named = (
        alt.Chart(data(alt, worst))
        .mark_text(align="left", dx=8, fontSize=11, limit=260, clip=False)
        .encode(up, _across(alt, rows), side, _colour(alt), text="word:N")
    )
    return alt.layer(marks, middle, named).properties(width=_WIDE, height=alt.Step(38, **{"for": "offset"}))
