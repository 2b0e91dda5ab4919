"""Writing a chart to a file, and whether that can be done here."""

from __future__ import annotations

import json
import math
import os
from functools import cache
from pathlib import Path
from typing import Any

from unworn.basics.display import show_line
from unworn.basics.output_files import IsOwn, as_path, check_output, write_output
from unworn.charts.page import write_page
from unworn.errors import MissingExtra, UnwornError

_MARKS = {
    ".svg": b"<svg",
    ".png": b"\x89PNG\r\n",
    ".html": b'<div id="chart"></div>',
    ".json": b'"$schema": "https://vega.github.io/schema/vega-lite',
}
"""What the first lines of a figure have, by its ending."""
SUFFIXES = tuple(_MARKS)


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
    try:
        write_output(target, _drawn(clean_spec(chart), target), *_kept(target))
    except OSError as error:
        raise _unwritten(target, error) from None
    except ValueError as error:
        raise UnwornError(f"the figure {target} could not be drawn: {str(error)[:200]}") from None
    return target


def svg_text(chart: Any) -> str:
    """A chart as SVG, to be put into a page."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(clean_spec(chart)))


def clean_spec(chart: Any) -> str:
    """What a chart says, as JSON that its renderer can read.

    A control character or half a surrogate pair would stop the renderer, and the interpreter with it; NaN is no JSON.
    """
    return json.dumps(_clean(chart.to_dict()), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return show_line(value)
    if isinstance(value, dict):
        return {show_line(name): _clean(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _drawn(spec: str, target: Path) -> bytes:
    import vl_convert

    match target.suffix.lower():
        case ".png":
            return bytes(vl_convert.vegalite_to_png(spec, scale=2))
        case ".svg":
            text = vl_convert.vegalite_to_svg(spec)
        case ".html":
            text = write_page(spec, _page_program(), target.stem)
        case _:
            text = spec
    return str(text).encode()


@cache
def _page_program() -> str:
    """What draws the chart of a page: the same for all of them, and a second of work."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def check(path: str | os.PathLike[str]) -> Path:
    """Refuse a name that could not be written, before anything is computed for it."""
    try:
        target = as_path(path)
    except OSError as error:
        raise _unwritten(path, error) from None
    if target.suffix.lower() not in SUFFIXES:
        raise UnwornError(f"cannot draw {target.name!r}: end its name in one of {', '.join(SUFFIXES)}")
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtra.of("plot", "writing a figure") from None
    try:
        return check_output(target, *_kept(target))
    except OSError as error:
        raise _unwritten(target, error) from None


def _kept(target: Path) -> tuple[str, IsOwn]:
    """What a figure may replace, in words, and whether a file begins like it."""
    ending = target.suffix.lower()
    return f"a figure ({ending})", lambda head: _MARKS[ending] in head


def _unwritten(path: object, error: OSError) -> UnwornError:
    return UnwornError(f"the figure {show_line(path)[:200]} could not be written: {error.strerror}")


def available() -> bool:
    """Whether charts can be drawn here: the extra ``plot`` is installed."""
    from importlib.util import find_spec

    return find_spec("altair") is not None and find_spec("vl_convert") is not None
