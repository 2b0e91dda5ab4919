"""Boards: what everybody may know, submitting, and what belongs to a team or to the organiser."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, FromQuery

from unworn.errors import UnwornError
from unworn.server.account import Account
from unworn.server.guards import caller_of, check_may, services_of
from unworn.server.requests.json_reply import reply_json
from unworn.server.requests.request_body import AnyRequest, read_object, run_in_thread
from unworn.server.requests.request_keys import tag_of
from unworn.server.requests.route_words import FILES, describe, request_key
from unworn.server.routes.board_access import use_board, use_file
from unworn.server.routes.released_entries import read_certificate
from unworn.server.server_errors import NotThere

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.boards.files.predictions_check import Predictions
    from unworn.boards.submission import Submission
    from unworn.record.certificate import Certificate
    from unworn.server.services import Services

T = TypeVar("T")
Reply = Response[bytes]
_BASE = "/api/boards/{place:str}"


LISTED_IN_FULL = 50
"""Boards up to which a list says more than their names."""


class CloseBody(msgspec.Struct, forbid_unknown_fields=True):
    """How many of the best get their final values when a board is closed."""

    top: int = 10


@get("/api/boards", **describe("The boards that this account can reach; of more than fifty only the names."))
async def list_boards(request: AnyRequest) -> Reply:
    services, caller = services_of(request), caller_of(request)

    def look() -> list[dict[str, Any]]:
        names = [name for name in services.workspace.boards() if caller.may("see", "board", name)]
        if len(names) > LISTED_IN_FULL:  # a look at a list must not open a thousand boards
            return [{"name": name} for name in names]
        return [list_board(services, name) for name in names]

    return reply_json(await run_in_thread(request, look))


def list_board(services: Services, name: str) -> dict[str, Any]:
    """A line of the list; of a board that cannot be opened just now its name alone."""
    try:
        with services.workspace.lease_board(name) as board:
            whole = describe_board(name, board)
    except UnwornError:
        return {"name": name}
    return {key: whole[key] for key in ("name", "title", "metric", "size", "practice_size", "closed", "submissions")}


@get(_BASE, **describe("What is public about a board: its rules, its promise, how many ids there are to predict."))
async def show_board(request: AnyRequest, place: FromPath[str]) -> Reply:
    return reply_json(await use_board(request, "see", place, lambda board: describe_board(place, board)))


def describe_board(place: str, board: Board) -> dict[str, Any]:
    """What everybody may know who can reach a board."""
    config, promise = board.config, board.promise()
    return {
        "name": place,
        "title": board.title,
        "metric": config.metric,
        "rule": config.rule,
        "id": config.id,
        "target": config.target,
        "prediction": config.prediction,
        "size": board.size,
        "practice_size": board.practice_size,
        "ids": len(board.ids),
        "closed": board.closed,
        "confidence": config.confidence,
        "surprises_per_team": config.surprise_cap,
        "submissions": len(board.submissions()),
        "promise": promise.to_json(),
    }


@get(f"{_BASE}/ids.csv", **describe("The ids to predict: a template to fill in.", produces="text/csv"))
async def show_ids(request: AnyRequest, place: FromPath[str]) -> Reply:
    def write(board: Board) -> bytes:
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow([board.config.id, board.config.prediction])
        writer.writerows([each, ""] for each in board.ids)
        return text.getvalue().encode()

    page = await use_board(request, "see", place, write)
    return Response(page, media_type="text/csv; charset=utf-8")


@post(f"{_BASE}/validate", status_code=200, **describe("Check a file, as often as you like.", files=FILES))
async def validate(request: AnyRequest, place: FromPath[str]) -> Reply:
    def check(board: Board, predictions: Predictions) -> dict[str, Any]:
        return {"valid": True, "rows": predictions.rows}

    return reply_json(await use_file(request, place, check, is_charged=False))


@post(f"{_BASE}/submissions", **describe("Submit a file of predictions.", files=FILES, charges=True, status=201))
async def submit(
    request: AnyRequest, place: FromPath[str], name: FromQuery[str | None] = None, message: FromQuery[str | None] = None
) -> Reply:
    caller, key = caller_of(request), request_key(request)

    def send(board: Board, predictions: Predictions) -> Submission:
        return board.submit(
            predictions,
            team=caller.team,
            name=name,
            message=message,
            request=None if key is None else tag_of(caller.name, key),
        )

    submission = await use_file(request, place, send)
    services_of(request).counters.count_submission(submission.status)
    return reply_json(submission.to_json(), 201)


@get(f"{_BASE}/submissions", **describe("An account's own submissions; all of them for the owner, unless mine=1."))
async def show_submissions(request: AnyRequest, place: FromPath[str], mine: FromQuery[bool] = False) -> Reply:
    caller = caller_of(request)
    everything = caller.may("manage", "board", place) and not mine

    def look(board: Board) -> list[dict[str, Any]]:
        return [each.to_json() for each in board.submissions(None if everything else caller.team)]

    return reply_json(await use_board(request, "see", place, look))


@get(f"{_BASE}/submissions/{{id:str}}", **describe("One submission: one's own, or one that is in the standings."))
async def show_submission(request: AnyRequest, place: FromPath[str], id: FromPath[str]) -> Reply:
    caller = caller_of(request)
    found = await use_board(request, "see", place, lambda board: find_submission(board, caller, place, id))
    return reply_json(found.to_json())


@get(f"{_BASE}/submissions/{{id:str}}/cards", **describe("The certificates behind a submission."))
async def show_cards(request: AnyRequest, place: FromPath[str], id: FromPath[str]) -> Reply:
    caller = caller_of(request)

    def look(board: Board) -> list[dict[str, Any]]:
        return [card.to_json() for card in board.cards(find_submission(board, caller, place, id).id)]

    return reply_json(await use_board(request, "see", place, look))


@get(
    f"{_BASE}/submissions/{{id:str}}/composite",
    **describe("How the score is made of the entries behind it, for metrics such as F1; null for plain ones."),
)
async def show_composite(request: AnyRequest, place: FromPath[str], id: FromPath[str]) -> Reply:
    caller = caller_of(request)

    def look(board: Board) -> dict[str, Any] | None:
        composite = board.composite(find_submission(board, caller, place, id).id)
        return None if composite is None else composite.to_json()

    return reply_json(await use_board(request, "see", place, look))


def find_submission(board: Board, caller: Account, place: str, id: str) -> Submission:
    """A submission that the caller may see: of others' only what the standings show, in the same words."""
    from unworn.boards.board_errors import UnknownSubmission

    try:
        found = board.submission(id)
    except UnknownSubmission:
        found = None
    if found is not None and (found.team == caller.team or caller.may("manage", "board", place)):
        return found
    if found is not None and any(row.submission.id == id for row in board.standings().rows):
        return replace(found, message=None)
    raise NotThere("there is no such submission")


def find_card(board: Board, caller: Account, place: str, index: int) -> Certificate:
    """A certificate that the caller may see: their team's, what the standings show, and the last word at closing."""
    found = read_certificate(board.holdout, index)
    shown = [*board.submissions(caller.team), *(row.submission for row in board.standings().rows)]
    if (
        found.record.by == caller.team
        or caller.may("manage", "board", place)
        or any(index in each.indexes for each in shown)
        or (board.closed and found.source == "final")
    ):
        return found
    raise NotThere("there is no answer of that number")


@get(f"{_BASE}/standings", **describe("Who is ahead, as far as intervals can tell."))
async def show_standings(request: AnyRequest, place: FromPath[str]) -> Reply:
    return reply_json(await use_board(request, "see", place, lambda board: board.standings().to_json()))


@get(f"{_BASE}/spending", **describe("Who spent what: for the owner."))
async def show_spending(request: AnyRequest, place: FromPath[str]) -> Reply:
    return reply_json(await use_board(request, "manage", place, _spending))


@get(f"{_BASE}/spending/mine", **describe("What an account's own team has spent, also behind the gate."))
async def show_own_spending(request: AnyRequest, place: FromPath[str]) -> Reply:
    team = caller_of(request).team
    return reply_json(await use_board(request, "see", place, lambda board: board.team_spending(team).to_json()))


def _spending(board: Board) -> list[dict[str, Any]]:
    return [each.to_json() for each in board.spending()]


@post(f"{_BASE}/close", status_code=200, **describe("Close a board for good: for the owner.", body=CloseBody))
async def close(request: AnyRequest, place: FromPath[str]) -> Reply:
    check_may(caller_of(request), "manage", "board", place)
    body, _ = await read_object(request, CloseBody)
    summary = await use_board(request, "manage", place, lambda board: board.close_board(top=body.top).to_json())
    return reply_json(summary)


ROUTES = [
    list_boards,
    show_board,
    show_ids,
    validate,
    submit,
    show_submissions,
    show_submission,
    show_cards,
    show_composite,
    show_standings,
    show_spending,
    show_own_spending,
    close,
]
