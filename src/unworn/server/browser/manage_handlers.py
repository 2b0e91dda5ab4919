"""For whoever manages a board or a holdout: who spent what, invitations, and the end of a board."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litestar import get, post
from litestar.params import FromPath

from unworn.boards.team_spending import SpendingFold
from unworn.errors import UnwornError
from unworn.server.browser.board_handlers import facts_of
from unworn.server.browser.form_body import SentForm, read_form
from unworn.server.browser.holdout_handlers import facts_of_holdout
from unworn.server.browser.invitations import Invitations, Outcome
from unworn.server.browser.page_reply import Reply, reply_page, viewer_of
from unworn.server.guards import caller_of, check_may, services_of
from unworn.server.pages.management_pages import show_board_management, show_holdout_management
from unworn.server.pages.web_page import Notice, WebPage, notice_of
from unworn.server.requests.request_body import AnyRequest
from unworn.server.routes.board_access import use_board
from unworn.server.routes.holdout_routes import use_holdout
from unworn.server.server_errors import Malformed, status_of

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.holdout import Holdout

_BOARD = "/boards/{place:str}/manage"
_HOLDOUT = "/holdouts/{place:str}/manage"
_OPEN: dict[str, Any] = {"open": True}
_FORM: dict[str, Any] = {"form": True}


@get([_BOARD, f"{_BOARD}.json"], opt=_OPEN)
async def manage(request: AnyRequest, place: FromPath[str]) -> Reply:
    people = _invitations(request, "board", place)
    page = await use_board(request, "manage", place, lambda board: _board_page(people, board))
    return reply_page(request, page, viewer_of(request, "board", place))


@post(_BOARD, opt=_FORM)
async def change(request: AnyRequest, place: FromPath[str]) -> Reply:
    """An invitation, a new link, an end of access, or the end of the board."""
    check_may(caller_of(request), "manage", "board", place)
    form, people = await read_form(request), _invitations(request, "board", place)

    def work(board: Board) -> WebPage:
        try:
            notice, secret = _close(board, place, form) if form.text("action") == "close" else people.act(form)
        except UnwornError as error:
            return _board_page(people, board, notice=notice_of(error), status=status_of(error))
        return _board_page(people, board, notice=notice, secret=secret)

    page = await use_board(request, "manage", place, work)
    return reply_page(request, page, viewer_of(request, "board", place))


@get([_HOLDOUT, f"{_HOLDOUT}.json"], opt=_OPEN)
async def manage_holdout(request: AnyRequest, place: FromPath[str]) -> Reply:
    people = _invitations(request, "holdout", place)
    page = await use_holdout(request, "manage", place, lambda holdout: _holdout_page(people, holdout))
    return reply_page(request, page, viewer_of(request, "holdout", place))


@post(_HOLDOUT, opt=_FORM)
async def change_holdout(request: AnyRequest, place: FromPath[str]) -> Reply:
    """An invitation, a new link, or an end of access."""
    check_may(caller_of(request), "manage", "holdout", place)
    form, people = await read_form(request), _invitations(request, "holdout", place)

    def work(holdout: Holdout) -> WebPage:
        try:
            notice, secret = people.act(form)
        except UnwornError as error:
            return _holdout_page(people, holdout, notice=notice_of(error), status=status_of(error))
        return _holdout_page(people, holdout, notice=notice, secret=secret)

    page = await use_holdout(request, "manage", place, work)
    return reply_page(request, page, viewer_of(request, "holdout", place))


def _invitations(request: AnyRequest, kind: str, place: str) -> Invitations:
    return Invitations(services_of(request), caller_of(request), kind, place)


def _close(board: Board, place: str, form: SentForm) -> Outcome:
    if form.text("confirm") != place:
        raise Malformed(f"nothing was closed: type {place} to confirm")
    board.close_board()
    return Notice("done", "The board is closed.", "Its standings are final, and its rows are retired."), None


def _board_page(people: Invitations, board: Board, **given: Any) -> WebPage:
    return show_board_management(
        facts_of(people.place, board),
        spending=[each.to_json() for each in board.spending()],
        allowed=board.config.surprise_cap,
        accounts=people.people(),
        roles=people.roles,
        **given,
    )


def _holdout_page(people: Invitations, holdout: Holdout, **given: Any) -> WebPage:
    return show_holdout_management(
        facts_of_holdout(people.place, holdout),
        spending=[each.to_json() for each in SpendingFold(holdout).spending()],
        currency=holdout.meter.currency,
        accounts=people.people(),
        roles=people.roles,
        **given,
    )


MANAGE_HANDLERS = [manage, change, manage_holdout, change_holdout]
