"""Writing a chart to a file, and whether that can be done here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from unworn.errors import MissingExtra, UnwornError

SUFFIXES = (".svg", ".png", ".html", ".json")


def save(chart: Any, path: str | os.PathLike[str]) -> Path:
    """Write a chart as SVG, PNG, HTML or Vega-Lite JSON, by the name's ending; no browser is needed.

    >>> from tempfile import TemporaryDirectory
    >>> from unworn.charts import widths
    >>> rows = [{"mechanism": "GuessAndCheck", "asks": k, "width": 0.04 + k / 1e4} for k in (1, 10, 100)]
    >>> with TemporaryDirectory() as folder:
    ...     save(widths(rows, title="Widths"), f"{folder}/plan.svg").read_text()[:4]
    '<svg'
    """
    target = check(path)
    suffix = target.suffix.lower()
    import vl_convert

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


def check(path: str | os.PathLike[str]) -> Path:
    """Refuse a name that could not be written, before anything is computed for it."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise UnwornError(f"cannot draw {target.name!r}: end its name in one of {', '.join(SUFFIXES)}")
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtra.of("plot", "writing a figure") from None
    if not target.absolute().parent.is_dir():
        raise UnwornError(f"the figure {target} could not be written: there is no folder {target.parent}")
    return target


def available() -> bool:
    """Whether charts can be drawn here: the extra ``plot`` is installed."""
    from importlib.util import find_spec

    return find_spec("altair") is not None and find_spec("vl_convert") is not None
