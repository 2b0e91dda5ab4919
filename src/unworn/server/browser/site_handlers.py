"""The first page, signing in and out, and the two files that pages load."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

from litestar import Response, get, post
from litestar.params import FromPath

from unworn.boards.standings import Standings
from unworn.errors import UnwornError
from unworn.server.account import Account
from unworn.server.browser.form_body import read_form
from unworn.server.browser.page_reply import Reply, go_to, option, page_number, read_local, reply_page, viewer_of
from unworn.server.guards import caller_of, cookie_of, services_of, session_of
from unworn.server.pages.site_pages import front_of, show_home, show_sign_in, show_signed_out
from unworn.server.pages.web_page import NOBODY, PER_PAGE, Notice, WebPage, turn_pages
from unworn.server.requests.request_body import AnyRequest, run_in_thread
from unworn.server.routes.released_entries import is_closed
from unworn.server.services import Services

_STATIC = {"unworn.css": "text/css", "mark.svg": "image/svg+xml"}
_OPEN: dict[str, Any] = {"open": True}
_FORM: dict[str, Any] = {"open": True, "form": True}


@get(["/", "/index.json"], opt=_OPEN)
async def home(request: AnyRequest) -> Reply:
    services, caller = services_of(request), caller_of(request)
    page = await run_in_thread(request, lambda: _list_places(services, caller, page_number(request)))
    return reply_page(request, page, viewer_of(request))


def _list_places(services: Services, caller: Account, page: int) -> WebPage:
    """So many to a page: opening a thousand of them would take a while."""
    workspace = services.workspace
    places = [("board", name) for name in workspace.boards()] + [("holdout", name) for name in workspace.holdouts()]
    mine = [(kind, name) for kind, name in places if caller.may("see", kind, name)]
    shown = mine[PER_PAGE * (page - 1) : PER_PAGE * page]
    return show_home(
        [_describe(_describe_board, services, name) for kind, name in shown if kind == "board"],
        [_describe(_describe_holdout, services, name) for kind, name in shown if kind == "holdout"],
        pages=turn_pages("/", page, len(mine)),
    )


def _describe(describe: Callable[[Services, str], dict[str, Any]], services: Services, name: str) -> dict[str, Any]:
    """A line of the list; of a place that cannot be opened just now its name alone: the others can be."""
    try:
        return describe(services, name)
    except UnwornError:
        return {"name": name, "title": name, "size": None, "front": []}


def _describe_board(services: Services, name: str) -> dict[str, Any]:
    with services.workspace.lease_board(name) as board:
        standings: Standings = board.standings()
        return {
            "name": name,
            "title": board.title,
            "metric": board.config.full_metric,
            "size": board.size,
            "submissions": sum(row.tries for row in standings.rows),
            "closed": board.closed,
            "front": front_of(standings),
        }


def _describe_holdout(services: Services, name: str) -> dict[str, Any]:
    with services.workspace.lease_holdout(name) as holdout:
        return {"name": name, "size": holdout.size, "closed": is_closed(holdout), "meter": holdout.meter.to_json()}


@get("/static/{name:str}", opt=_OPEN, sync_to_thread=False)
def static(name: FromPath[str]) -> Reply:
    """The style and the mark: two names, and no others."""
    kind = _STATIC.get(name)
    if kind is None:
        return Response(b"", status_code=404, media_type="text/plain")
    body = files("unworn.server.pages").joinpath("static", name).read_bytes()
    headers = {"Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}
    return Response(body, media_type=kind, headers=headers)


@get("/sign-in", opt=_OPEN, sync_to_thread=False)
def sign_in_form(request: AnyRequest) -> Reply:
    return reply_page(request, show_sign_in(back=read_local(option(request, "next", "/"))), viewer_of(request))


@get("/sign-in/{code:str}", opt=_OPEN, sync_to_thread=True)
def sign_in_link(request: AnyRequest, code: FromPath[str]) -> Reply:
    """A one-time link: shown first, and used up by a button, since programs that look at links open them too."""
    account = services_of(request).accounts.peek_link(code)
    page = _refuse_code() if account is None else show_sign_in(code=code, name=account.name)
    return reply_page(request, page, viewer_of(request))


@post("/sign-in", opt=_FORM)
async def sign_in(request: AnyRequest) -> Response[Any]:
    form, services = await read_form(request, needs_session=False), services_of(request)
    session = await run_in_thread(request, lambda: _open_session(services, form.text("code")))
    if session is None:
        return reply_page(request, _refuse_code(), NOBODY)
    reply = go_to(read_local(form.text("next") or "/"))
    reply.set_cookie(
        key=cookie_of(request),
        value=session,
        max_age=int(services.settings.session_seconds),
        httponly=True,
        samesite="lax",
        secure=services.settings.secure_cookies,
        path="/",
    )
    return reply


def _open_session(services: Services, given: str) -> str | None:
    """A session for the code of a link, for the whole link, or for a token that stands for its whole account."""
    accounts, seconds = services.accounts, services.settings.session_seconds
    code = given.rstrip("/").rpartition("/")[2]
    return accounts.begin_session(code, seconds) or accounts.redeem_link(code, seconds)


def _refuse_code() -> WebPage:
    notice = Notice("refused", "This does not open anything.", "A link works once, for a day. Ask for a new one.")
    return show_sign_in(notice=notice, status=401)


@post("/sign-out", opt=_FORM)
async def sign_out(request: AnyRequest) -> Response[Any]:
    await read_form(request)
    session, accounts = session_of(request), services_of(request).accounts
    if session is not None:
        await run_in_thread(request, lambda: accounts.end_session(session))
    reply = go_to("/sign-out")
    reply.delete_cookie(cookie_of(request), path="/")
    return reply


@get("/sign-out", opt=_OPEN, sync_to_thread=False)
def signed_out(request: AnyRequest) -> Reply:
    return reply_page(request, show_signed_out(), viewer_of(request))


SITE_HANDLERS = [home, static, sign_in_form, sign_in_link, sign_in, sign_out, signed_out]
