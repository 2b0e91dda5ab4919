"""How a page leaves: as HTML, or as its JSON twin; and what is shown when something goes wrong."""

from __future__ import annotations

import logging
from typing import Any

from litestar import Response
from litestar.response import Redirect

from unworn.errors import UnwornError
from unworn.server.accounts import Accounts
from unworn.server.guards import caller_of, is_by_cookie, session_of
from unworn.server.pages.site_pages import show_problem, show_sign_in
from unworn.server.pages.template_environment import PAGE_HEADERS, render_html, render_json
from unworn.server.pages.web_page import Notice, Viewer, WebPage
from unworn.server.problems import answer_error, describe_error, is_long, route_of
from unworn.server.requests.request_body import AnyRequest

Reply = Response[bytes]
VERBS = ("see", "submit", "ask", "manage")
TWIN = ".json"
_log = logging.getLogger("unworn.server")


def viewer_of(request: AnyRequest, kind: str = "board", place: str = "") -> Viewer:
    """Who looks, and what they may do at this place."""
    caller, session = caller_of(request), session_of(request)
    rights = frozenset(verb for verb in VERBS if place and caller.may(verb, kind, place))
    if not caller.name:
        return Viewer(rights=rights)
    csrf = Accounts.csrf_of(session) if session is not None and is_by_cookie(request) else ""
    return Viewer(caller.name, caller.role, caller.team, csrf, rights)


def wants_twin(request: AnyRequest) -> bool:
    """Whether the address is that of the JSON twin."""
    return str(request.scope["path"]).endswith(TWIN)


def name_of(place: str) -> str:
    """The name in an address, which may be that of the twin."""
    return place.removesuffix(TWIN)


def reply_page(request: AnyRequest, page: WebPage, viewer: Viewer) -> Reply:
    """The page, in the form that was asked for."""
    if wants_twin(request):
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        return Response(render_json(page), media_type="application/json", status_code=page.status, headers=headers)
    html = render_html(page, viewer).encode()
    return Response(html, media_type="text/html", status_code=page.status, headers=PAGE_HEADERS)


def go_to(address: str) -> Redirect:
    """What follows a form that was accepted: loading the page again then sends nothing twice."""
    return Redirect(address, status_code=303)


def answer_page_error(request: AnyRequest, error: Exception) -> Response[bytes]:
    """An error as a page in the words of problem+json; without a sign-in, the page to sign in."""
    if wants_twin(request):
        return answer_error(request, error)
    told = describe_error(error)
    status = told["status"]
    if status >= 500 and not isinstance(error, UnwornError):
        _log.error("mistake in %s: %s", route_of(request.scope), type(error).__name__, exc_info=error)
    if status == 401:
        back = str(request.scope["path"]) if request.method == "GET" else "/"
        notice = Notice("refused", "Please sign in first.", "This page is for people who were invited.")
        page = show_sign_in(back=back, notice=notice, status=401)
    else:
        page = show_problem(status, told["detail"])
    try:
        viewer = viewer_of(request)
    except Exception:  # the tables of accounts may be what failed
        viewer = Viewer()
    reply = reply_page(request, page, viewer)
    if is_long(request):
        reply.headers["Connection"] = "close"
    return reply


def read_local(address: str) -> str:
    """Where to go after signing in: an address of this server, whatever the form says.

    >>> read_local("/boards/bench"), read_local("//elsewhere.example"), read_local("https://elsewhere.example")
    ('/boards/bench', '/', '/')
    """
    plain = address.isascii() and address.isprintable() and "\\" not in address
    return address if plain and address.startswith("/") and not address.startswith("//") else "/"


def page_number(request: AnyRequest) -> int:
    """Which page of a long table is wanted; the first for what is not a number."""
    given = str(option(request, "page", "1"))
    return min(max(int(given), 1), 10**9) if given.isascii() and given.isdecimal() and len(given) < 10 else 1


def option(request: AnyRequest, name: str, default: Any = "") -> Any:
    """A parameter of the address."""
    return request.query_params.get(name, default)
