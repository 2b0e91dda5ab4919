"""The gate over HTTP: for loops that try, and keep or revert."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litestar import get, post
from litestar.params import FromPath, FromQuery

from unworn.server.guards import caller_of, services_of
from unworn.server.requests.json_reply import reply_json
from unworn.server.requests.request_body import AnyRequest
from unworn.server.requests.request_keys import tag_of
from unworn.server.requests.route_words import FILES, describe, request_key
from unworn.server.routes.board_access import use_board, use_file
from unworn.server.routes.board_routes import Reply, find_card
from unworn.server.routes.released_entries import read_certificate

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.boards.files.predictions_check import Predictions

_BASE = "/api/boards/{place:str}/gate"


@post(_BASE, status_code=200, **describe("Propose a change: keep or revert?", files=FILES, charges=True))
async def propose(
    request: AnyRequest,
    place: FromPath[str],
    lane: FromQuery[str] = "main",
    message: FromQuery[str | None] = None,
    check: FromQuery[bool] = False,
    prove: FromQuery[bool] = False,
) -> Reply:
    caller, key = caller_of(request), request_key(request)

    def try_it(board: Board, predictions: Predictions) -> Any:
        from unworn.boards.gate import Gate

        gate = Gate(board, caller.team, lane=lane, prove=prove)
        verdict = gate.propose(
            predictions,
            message=message,
            check=check,
            request=None if key is None else tag_of(caller.name, key),
        )
        return verdict.to_json()

    return reply_json(await use_file(request, place, try_it))


@get(_BASE, **describe("Where a lane of the gate stands."))
async def show_gate(request: AnyRequest, place: FromPath[str], lane: FromQuery[str] = "main") -> Reply:
    caller = caller_of(request)

    def look(board: Board) -> Any:
        from unworn.boards.gate import Gate

        return Gate(board, caller.team, lane=lane).state.to_json()

    return reply_json(await use_board(request, "submit", place, look))


@get(f"{_BASE}/cards/{{index:int}}", **describe("The certificate behind a milestone of a lane, or its claim."))
async def show_milestone(
    request: AnyRequest, place: FromPath[str], index: FromPath[int], lane: FromQuery[str] = "main"
) -> Reply:
    """The entry may be another team's, who proposed the same before: the same question has one answer."""
    caller = caller_of(request)

    def look(board: Board) -> Any:
        from unworn.boards.gate import Gate

        gate = Gate(board, caller.team, lane=lane)
        is_own = any(each.index == index for each in gate.state.milestones)
        is_own = is_own or (gate.claim is not None and index in gate.claim.indexes)
        return (read_certificate(board.holdout, index) if is_own else find_card(board, caller, place, index)).to_json()

    return reply_json(await use_board(request, "submit", place, look))


@post(f"{_BASE}/finish", status_code=200, **describe("End a lane with its final, certified claim.", charges=True))
async def finish_lane(request: AnyRequest, place: FromPath[str], lane: FromQuery[str] = "main") -> Reply:
    caller = caller_of(request)

    def end(board: Board) -> Any:
        from unworn.boards.gate import Gate

        return Gate(board, caller.team, lane=lane).finish().to_json()

    grid = services_of(request).settings.answer_grid
    return reply_json(await use_board(request, "submit", place, end, grid=grid))


ROUTES = [propose, show_gate, show_milestone, finish_lane]
