"""How a request does something with a board: who may, in which thread, and in how much time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from unworn.server.account import Account
from unworn.server.guards import caller_of, check_may, services_of
from unworn.server.requests.answer_times import wait_for_grid
from unworn.server.requests.request_body import AnyRequest, UploadedFile, read_upload, run_in_thread
from unworn.server.requests.upload_checks import check_upload

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.boards.files.predictions_check import Predictions
    from unworn.server.services import Services

T = TypeVar("T")


async def use_board(
    request: AnyRequest,
    verb: str,
    place: str,
    work: Callable[[Board], T],
    uploads: Sequence[UploadedFile] = (),
    grid: float = 0.0,
) -> T:
    """Do something with a board that the caller may do this with, in a thread.

    With a ``grid`` it is something that is charged, and takes a multiple of so many seconds; of more where the
    organiser's own code grades, whose time may depend on rows.
    """
    services = services_of(request)
    check_may(caller_of(request), verb, "board", place)

    def work_in_thread() -> T:
        began, coarse = time.perf_counter(), 0.0
        try:
            with services.workspace.lease_board(place) as board:
                coarse = grid_of_board(services, board) if grid else 0.0
                return work(board)
        finally:
            if coarse > grid:
                wait_for_grid(began, coarse)

    return await run_in_thread(request, work_in_thread, uploads, grid)


def grid_of_board(services: Services, board: Board) -> float:
    """The grid of time on which what a board is charged for leaves."""
    return services.settings.model_grid if board.config.is_own_grader else services.settings.answer_grid


async def use_file(
    request: AnyRequest, place: str, work: Callable[[Board, Predictions], T], *, is_charged: bool = True
) -> T:
    """The same with the predictions in the request's body, which are read first."""
    check_may(caller_of(request), "submit", "board", place)
    services = services_of(request)
    services.workspace.folder("board", place)  # before anything is uploaded for nothing
    upload = await read_upload(request)

    def use(board: Board) -> T:
        return work(board, read_predictions(services, caller_of(request), board, upload))

    grid = services.settings.answer_grid if is_charged else 0.0
    return await use_board(request, "submit", place, use, [upload], grid)


def read_predictions(services: Services, caller: Account, board: Board, upload: UploadedFile) -> Predictions:
    """The predictions of a file, once it was looked at; large ones wait for their turn."""
    with services.reading.take(caller.name, upload.size):
        check_upload(upload, services.settings)
        return board.validate(upload.path, format=upload.format)
