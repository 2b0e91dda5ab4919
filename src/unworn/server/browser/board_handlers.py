"""A board in the browser: standings, submitting, one's own submissions, the rules."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from litestar import Response, get, post
from litestar.params import FromPath

from unworn import charts
from unworn.errors import UnwornError
from unworn.server.browser.form_body import SentForm, read_form
from unworn.server.browser.page_reply import (
    Reply,
    go_to,
    name_of,
    option,
    page_number,
    reply_page,
    viewer_of,
    wants_twin,
)
from unworn.server.guards import caller_of, check_may, services_of
from unworn.server.pages.board_pages import (
    BoardFacts,
    show_final,
    show_history,
    show_rules,
    show_standings,
    show_submission,
    show_submit_form,
)
from unworn.server.pages.drawn_charts import draw_standings
from unworn.server.pages.kept_texts import KeptTexts
from unworn.server.pages.web_page import Notice, WebPage, notice_of
from unworn.server.requests.request_body import AnyRequest
from unworn.server.requests.request_keys import tag_of
from unworn.server.routes.board_access import read_predictions, use_board
from unworn.server.routes.board_routes import find_submission
from unworn.server.server_errors import Malformed, NotThere, WrongType, status_of

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.boards.submission import Submission

_PLACE = "/boards/{place:str}"
_OPEN: dict[str, Any] = {"open": True}
_FORM: dict[str, Any] = {"form": True}
_SCORING = {
    "practice-and-check": (
        "Every submission gets its exact score on the practice rows at once. That score may wear out: whoever tries a "
        "thousand times finds one that is too good.",
        "It is also the guess that the sealed rows check. If they agree, the score gets a certified interval, and that "
        "is nearly free. If they do not, it is a surprise: the interval then says what the sealed rows found.",
    ),
    "ladder": (
        "Every submission is compared with the best so far, row by row, and is told whether it is certainly better: a "
        "proven step, or “not better”. No other score is told.",
    ),
    "ladder of steps": (
        "A submission is told a score, rounded to steps, only where it beats the best so far by a step; else it is "
        "told “not better”.",
    ),
    "mechanism": ("Scores are made by the mechanism that the organiser chose; every interval holds as promised.",),
}
_CONDUCT = (
    "Predict row by row, by a rule that was fixed without the labels behind this board.",
    "If you find these labels elsewhere, tell the organiser and leave them alone: the intervals assume that nobody "
    "sees these rows except through this board.",
    "Submit as often as you like. Nobody gains by it, and nobody else’s intervals suffer beyond your team’s surprises.",
)
pictures = KeptTexts()


def facts_of(place: str, board: Board) -> BoardFacts:
    """What stands at the head of each page."""
    config = board.config
    return BoardFacts(
        place,
        board.title,
        config.full_metric,
        board.size,
        board.practice_size,
        config.confidence,
        board.closed,
        config.rule,
    )


@get([_PLACE], opt=_OPEN)
async def standings(request: AnyRequest, place: FromPath[str]) -> Reply:
    place = name_of(place)
    viewer = viewer_of(request, "board", place)

    def look(board: Board) -> WebPage:
        facts = facts_of(place, board)
        address = f"{facts.address}/standings.svg" if charts.available() else None
        return show_standings(facts, board.standings(), viewer, chart=address, page=page_number(request))

    return reply_page(request, await use_board(request, "see", place, look), viewer)


@get(f"{_PLACE}/standings.svg", opt=_OPEN)
async def standings_chart(request: AnyRequest, place: FromPath[str]) -> Reply:
    """The figure of the one chart module, drawn once for each state of the ledger."""

    def look(board: Board) -> str | None:
        told = board.standings()
        if not told.rows:
            return None
        version = (board.holdout.head, len(board.submissions()), told.closed)
        return pictures.get(version, lambda: draw_standings(facts_of(place, board), told))

    svg = await use_board(request, "see", place, look)
    if svg is None:
        raise NotThere("there is nothing to draw yet")
    return reply_svg(svg)


def reply_svg(svg: str) -> Reply:
    """A picture, which can load and run nothing."""
    headers = {
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-cache",
    }
    return Response(svg.encode(), media_type="image/svg+xml", headers=headers)


@get([f"{_PLACE}/submit", f"{_PLACE}/submit.json"], opt=_OPEN)
async def submit_form(request: AnyRequest, place: FromPath[str]) -> Reply:
    page = await use_board(request, "see", place, lambda board: _form_page(request, place, board))
    return reply_page(request, page, viewer_of(request, "board", place))


def _form_page(
    request: AnyRequest, place: str, board: Board, notice: Notice | None = None, status: int = 200
) -> WebPage:
    facts = facts_of(place, board)
    address = f"{services_of(request).settings.address}{facts.address}"
    key = secrets.token_urlsafe(16)
    count = board.size + board.practice_size
    return show_submit_form(facts, ids=count, address=address, request=key, notice=notice, status=status)


@post(f"{_PLACE}/submit", opt=_FORM)
async def submit(request: AnyRequest, place: FromPath[str]) -> Response[Any]:
    """A file: scored and shown, or refused in a line, with every problem below it."""
    check_may(caller_of(request), "submit", "board", place)
    form = await read_form(request, takes_file=True)
    services, caller = services_of(request), caller_of(request)

    def send(board: Board) -> Submission | WebPage:
        try:
            return _send_file(board, form)
        except UnwornError as error:
            return _form_page(request, place, board, notice_of(error), status_of(error))

    def _send_file(board: Board, form: SentForm) -> Submission | WebPage:
        if form.file is None or not form.file.size:
            raise Malformed("no file was chosen, or it is empty: choose a file of predictions")
        if not form.file.format:
            raise WrongType("this is not a file of predictions: its name ends in .csv, .jsonl or .parquet")
        predictions = read_predictions(services, caller, board, form.file)
        if form.text("action") == "validate":
            done = Notice(
                "done", "This file can be scored.", f"It has all {len(board.ids):,} ids. Nothing was charged."
            )
            return _form_page(request, place, board, done)
        key = form.optional("request")
        return board.submit(
            predictions,
            team=caller.team,
            name=form.optional("name"),
            message=form.optional("message"),
            request=None if key is None else tag_of(caller.name, key),
        )

    files = [] if form.file is None else [form.file]
    done = await use_board(request, "submit", place, send, files, services.settings.answer_grid)
    if isinstance(done, WebPage):
        return reply_page(request, done, viewer_of(request, "board", place))
    services.counters.count_submission(done.status)
    return go_to(f"/boards/{place}/submissions/{done.id}?sent=1")


@get(f"{_PLACE}/submissions/{{id:str}}", opt=_OPEN)
async def submission(request: AnyRequest, place: FromPath[str], id: FromPath[str]) -> Reply:
    caller = caller_of(request)

    def look(board: Board) -> WebPage:
        found = find_submission(board, caller, place, name_of(id))
        own = bool(caller.name) and (found.team == caller.team or caller.may("manage", "board", place))
        sent = Notice("done", "Received and scored.", found.line) if own and option(request, "sent") else None
        return show_submission(facts_of(place, board), found, is_own=own, notice=sent)

    return reply_page(request, await use_board(request, "see", place, look), viewer_of(request, "board", place))


@get([f"{_PLACE}/mine", f"{_PLACE}/mine.json"], opt=_OPEN)
async def mine(request: AnyRequest, place: FromPath[str]) -> Reply:
    team = caller_of(request).team or None

    def look(board: Board) -> WebPage:
        own = [] if team is None else board.submissions(team)
        surprises = 0 if team is None else board.team_spending(team).surprises  # also behind the gate
        allowed, number = board.config.surprise_cap, page_number(request)
        return show_history(facts_of(place, board), team, own, surprises=surprises, allowed=allowed, page=number)

    return reply_page(request, await use_board(request, "see", place, look), viewer_of(request, "board", place))


@get([f"{_PLACE}/rules", f"{_PLACE}/rules.json"], opt=_OPEN)
async def rules(request: AnyRequest, place: FromPath[str]) -> Reply:
    def look(board: Board) -> WebPage:
        config = board.config
        numbers = {
            "metric": config.full_metric,
            "sealed rows": f"{board.size:,}",
            **({"practice rows": f"{board.practice_size:,}"} if board.practice_size else {}),
            **({} if config.surprise_cap is None else {"surprises per team": f"{config.surprise_cap:,}"}),
            "confidence": f"{100 * config.confidence:g} %",
            "id column": config.id,
            "prediction column": config.prediction,
        }
        return show_rules(
            facts_of(place, board),
            promise=board.promise().words,
            scoring=_SCORING["ladder of steps" if config.rule == "ladder" and config.step else config.rule],
            conduct=_CONDUCT,
            numbers=numbers,
        )

    return reply_page(request, await use_board(request, "see", place, look), viewer_of(request, "board", place))


@get([f"{_PLACE}/final", f"{_PLACE}/final.json"], opt=_OPEN)
async def final(request: AnyRequest, place: FromPath[str]) -> Reply:
    """The final numbers of a closed board; the twin is the summary as it was signed."""

    def look(board: Board) -> bytes | WebPage:
        try:
            text = (board.folder / "final" / "summary.json").read_bytes() if board.closed else None
        except OSError:
            text = None
        if text is None:
            raise NotThere("this board has no final numbers yet: they are released when it is closed")
        if wants_twin(request):
            return text
        told = json.loads(text)
        return show_final(
            facts_of(place, board),
            told["finals"],
            submissions=told["submissions"],
            closed_at=told["closed_at"],
            higher_is_better=told["standings"]["higher_is_better"],
        )

    found = await use_board(request, "see", place, look)
    if isinstance(found, WebPage):
        return reply_page(request, found, viewer_of(request, "board", place))
    headers = {"Content-Disposition": 'attachment; filename="summary.json"', "X-Content-Type-Options": "nosniff"}
    return Response(found, media_type="application/json", headers=headers)


BOARD_HANDLERS = [standings, standings_chart, submit_form, submit, submission, mine, rules, final]
