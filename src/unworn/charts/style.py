"""What all charts share: colours, axes, titles, and tables as they come."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from unworn.basics.display import show_line
from unworn.errors import MissingExtra

BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6B6B6B"
SKY, AMBER, BLACK = "#56B4E9", "#C98B00", "#222222"

_TAG = re.compile("<(?=[/!?a-zA-Z])")
_PADDING = {"left": 16, "right": 44, "top": 16, "bottom": 14}
"""Names stand at the right. In the font of whoever looks they are up to a fifth wider than where they were measured."""
_LONGEST = 2000
"""Characters of one text in a picture: nobody reads more, and a renderer measures each."""

Table = Any
"""A list of dictionaries, a dictionary of columns, or a frame."""


def altair(purpose: str) -> Any:
    try:
        import altair
    except ImportError:
        raise MissingExtra.of("plot", purpose) from None
    return altair


def records(table: Table) -> list[dict[str, Any]]:
    """The rows of a table, with names as they may be drawn."""
    return [{name: _drawable(value) for name, value in row.items()} for row in _rows(table)]


def _rows(table: Table) -> Iterable[Mapping[str, Any]]:
    if isinstance(table, Mapping):
        return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    if isinstance(table, Iterable) and not hasattr(table, "columns"):
        return table
    import narwhals as nw

    return [dict(row) for row in nw.from_native(table, eager_only=True).iter_rows(named=True)]


def _drawable(value: Any) -> Any:
    return drawn_text(value) if isinstance(value, str) else value


def drawn_text(text: str) -> str:
    """A name in a picture: short, visible, and no HTML, for a notebook puts the picture's words into a script.

    >>> drawn_text("age < 65 </script>")
    'age < 65 ‹/script>'
    """
    return _TAG.sub("‹", show_line(text[:_LONGEST]))


def data(alt: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Inline values, whole: a table handed over as a frame would be refused past 5,000 rows."""
    return alt.Data(values=[dict(row) for row in rows])


def of(rows: Sequence[dict[str, Any]], name: Any, column: str = "holdout") -> list[dict[str, Any]]:
    return [row for row in rows if row[column] == name]


def padded_range(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[float]:
    """From the lowest to the highest number, with a little room."""
    numbers = [float(row[column]) for row in rows for column in columns]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    room = 0.05 * (high - low) or 0.05 * max(abs(high), 1.0)
    return [low - room, high + room]


def number_format(domain: Sequence[float]) -> str:
    """How the ticks of an axis are written: thousands by their letter, where they are many; never as 2e+1."""
    return "~s" if max(map(abs, domain)) >= 10_000 else ",~f"


def apart(
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


SOURCES = {"final": PINK, "guess": BLUE, "surprise": ORANGE, "grid": GREEN, "exact": BLACK}
"""The colour of where a value comes from; that of all other sources is grey."""


def source_colour(alt: Any, rows: Sequence[Mapping[str, Any]], *, legend: bool = True) -> Any:
    """Colours by ``source``, with a legend of those that are there."""
    present = [source for source in SOURCES if any(row["source"] == source for row in rows)]
    others = sorted({row["source"] for row in rows} - set(SOURCES))
    return alt.Color(
        "source:N",
        scale=alt.Scale(domain=[*present, *others], range=[SOURCES[name] for name in present] + [GREY] * len(others)),
        legend=alt.Legend(title="where the value comes from", orient="bottom", titleLimit=300, symbolStrokeWidth=0)
        if legend
        else None,
    )


def axis(alt: Any, **options: Any) -> Any:
    return alt.Axis(
        labelFontSize=12, titleFontSize=13, titleFontWeight="normal", titlePadding=10, gridColor="#e6e6e6", **options
    )


def dress_chart(alt: Any, chart: Any, title: str, subtitle: str | Sequence[str]) -> Any:
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    head = alt.TitleParams(
        drawn_text(title),
        subtitle=[drawn_text(line) for line in lines if line],
        anchor="start",
        fontSize=17,
        subtitleFontSize=13,
        subtitleColor="#444444",
        subtitlePadding=6,
        offset=16,
    )
    return chart.properties(title=head, padding=_PADDING, background="white").configure(
        font="Helvetica, Arial, sans-serif", view=alt.ViewConfig(stroke=None)
    )
