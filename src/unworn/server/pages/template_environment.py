"""Templates, with everything escaped: a name is text wherever it stands, and none of it can run."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from unworn.basics.display import escape_json, show_text
from unworn.errors import MissingExtra
from unworn.server.pages.interval_scale import IntervalScale
from unworn.server.pages.template_filters import FILTERS, show_half_width
from unworn.server.pages.web_page import NOBODY, Viewer, WebPage

if TYPE_CHECKING:
    from jinja2 import Environment

CONTENT_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""No script at all, from anywhere: the pages need none, and so none that somebody smuggles in can run."""

PAGE_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def render_html(page: WebPage, viewer: Viewer = NOBODY) -> str:
    """The page as HTML.

    >>> "&lt;b&gt;" in render_html(WebPage("problem.html", "<b>", {"status": 404, "detail": "", "advice": ""}))
    True
    """
    template = _environment().get_template(page.template)
    return template.render(page=page, viewer=viewer, **page.data)


def render_json(page: WebPage) -> bytes:
    """The page's JSON twin: the same data, under the page's title."""
    text = json.dumps({"title": page.title, **page.data}, ensure_ascii=False, allow_nan=False, indent=1)
    return escape_json(text).encode()


@cache
def _environment() -> Environment:
    try:
        import jinja2
    except ImportError:
        raise MissingExtra.of("server", "drawing pages") from None
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("unworn.server.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters.update(FILTERS)
    environment.globals.update(scale_of=IntervalScale.of, half_width=show_half_width)
    return environment


def _visible(value: Any) -> Any:
    """Text with every character to be seen; what templates have already made safe stays as it is."""
    return show_text(value) if type(value) is str else value
