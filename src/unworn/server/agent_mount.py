"""Tools for agents at ``/mcp``: the Model Context Protocol over HTTP, for whoever has a token."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from litestar import Litestar, asgi
from litestar.exceptions import MethodNotAllowedException

from unworn.errors import MissingExtra, UnwornError
from unworn.server.account import ANYBODY, Account
from unworn.server.guards import check_may
from unworn.server.requests.answer_times import wait_for_grid
from unworn.server.routes.board_access import grid_of_board
from unworn.server.routes.released_entries import is_closed
from unworn.server.server_errors import NotSignedIn, names_places, words_of

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.server.services import Services
    from unworn.server.settings import ServerSettings

T = TypeVar("T")
_log = logging.getLogger("unworn.server")
_CHARGED = ("submit", "gate", "finish", "ask")
_LONGEST = 16 * 2**20
"""Bytes of a call: predictions come as text in it, which is read in memory."""


def be_quiet(verb: Callable[..., T]) -> Callable[..., T]:
    """The same verb; of a mistake of ours, and of files and hosts, nothing is told: the protocol would pass it on."""

    @wraps(verb)
    def run(*arguments: Any, **options: Any) -> T:
        try:
            return verb(*arguments, **options)
        except UnwornError as error:
            if not names_places(error):
                raise
            told = words_of(error)
        except Exception as error:
            _log.error("mistake in a tool: %s", type(error).__name__, exc_info=error)
            told = "the server made a mistake; the details are not shown here but are in its log"
        raise UnwornError(told)

    return run


def keep_time(verb: Callable[..., T], grid: float) -> Callable[..., T]:
    """The same verb, which takes a multiple of so many seconds: as over HTTP, time must not tell what the rows said."""

    @wraps(verb)
    def run(*arguments: Any, **options: Any) -> T:
        began = time.perf_counter()
        try:
            return verb(*arguments, **options)
        finally:
            wait_for_grid(began, grid)

    return run


class QuietVerbs:
    """The verbs of a board or a holdout, each of them quiet about mistakes of ours; those that charge keep time."""

    def __init__(self, verbs: Any, grid: float) -> None:
        for name in ("submit", "gate", "finish", "standings", "budget", "ask", "quote"):
            if hasattr(verbs, name):
                verb = getattr(verbs, name)
                setattr(self, name, be_quiet(keep_time(verb, grid) if name in _CHARGED else verb))


class AccountVerbs:
    """What the tools of an agent can do for one account: what its routes would let it do, and no more."""

    def __init__(self, services: Services, caller: Account) -> None:
        self._services, self._caller = services, caller

    def boards(self) -> Sequence[str]:
        return [name for name in self._services.workspace.boards() if self._caller.may("submit", "board", name)]

    def holdouts(self) -> Sequence[str]:
        return [name for name in self._services.workspace.holdouts() if self._caller.may("ask", "holdout", name)]

    @be_quiet
    def board(self, name: str) -> Any:
        from unworn.client.agent_verbs import BoardOfTeam

        check_may(self._caller, "submit", "board", name)
        board = self._services.workspace.board(name)
        verbs = QuietVerbs(BoardOfTeam(board, self._caller.team), grid_of_board(self._services, board))
        for verb in ("submit", "gate"):
            setattr(verbs, verb, self._read_first(board, getattr(verbs, verb)))
        return verbs

    def _read_first(self, board: Board, verb: Callable[..., T]) -> Callable[..., T]:
        """The same verb, of predictions that were read when it was their turn."""

        def run(source: bytes, *arguments: Any, format: str | None = None, **options: Any) -> T:
            with self._services.reading.take(self._caller.name, len(source)):
                predictions = be_quiet(board.validate)(source, format)
            return verb(predictions, *arguments, **options)

        return run

    @be_quiet
    def holdout(self, name: str) -> Any:
        from unworn.client.agent_verbs import HoldoutOfAccount

        check_may(self._caller, "ask", "holdout", name)
        holdout = self._services.workspace.holdout(name)
        verbs = HoldoutOfAccount(holdout, self._caller.name, is_closed(holdout))
        return QuietVerbs(verbs, self._services.settings.answer_grid)


@asynccontextmanager
async def serve_agents(app: Litestar) -> AsyncIterator[None]:
    """Keep the protocol's own tasks running as long as the application does."""
    services: Services = app.state.services
    try:
        manager = make_manager(services)
    except MissingExtra:
        app.state.agents = None
        yield
        return
    async with manager.run():
        app.state.agents = manager
        yield
        app.state.agents = None


def make_manager(services: Services) -> Any:
    """What speaks the protocol: each request stands alone, so that any worker can answer it."""
    try:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    except ImportError:
        raise MissingExtra.of("agents", "tools for agents over MCP") from None
    from unworn.client.mcp_tools import make_mcp_server

    @be_quiet
    def find_verbs(headers: Mapping[str, str] | None) -> AccountVerbs:
        token = (headers or {}).get("authorization", "").partition(" ")[2].strip()
        caller = services.accounts.account_of_token(token)
        if caller is None:
            raise NotSignedIn("this token is not valid")
        return AccountVerbs(services, caller)

    for name in ("mcp", "mcp.server"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return StreamableHTTPSessionManager(
        make_mcp_server(find_verbs)._lowlevel_server,
        json_response=True,
        stateless=True,
        max_request_body_size=min(services.settings.max_upload, _LONGEST),
    )


@asgi("/mcp", is_mount=True, copy_scope=True)
async def answer_agent(scope: Any, receive: Any, send: Any) -> None:
    """Hand a request on to the protocol; its token was checked at the door."""
    manager = scope["app"].state.agents if "app" in scope else None
    if manager is None:
        raise MissingExtra.of("agents", "tools for agents over MCP")
    caller = scope.get("state", {}).get("unworn_caller", ANYBODY)
    if not caller.name:
        raise NotSignedIn("tools are for accounts: send 'Authorization: Bearer unw_…'")
    if scope["method"] != "POST":  # each request stands alone: there is no stream to listen to, or to end
        raise MethodNotAllowedException(headers={"Allow": "POST"})
    services = scope["app"].state.services
    async with services.share_of(caller.name):  # tools run in threads that everybody needs
        await manager.handle_request(scope, receive_in_time(receive, services.settings), send)


def receive_in_time(receive: Callable[[], Awaitable[Any]], settings: ServerSettings) -> Callable[[], Awaitable[Any]]:
    """The pieces of a body; one that takes too long is as if its sender had left."""
    ends, is_whole = time.monotonic() + settings.request_seconds, False

    async def next_piece() -> Any:
        nonlocal is_whole
        if is_whole:  # what is still to come is that the sender leaves, and for that one waits
            return await receive()
        try:
            async with asyncio.timeout(min(settings.upload_gap_seconds, max(ends - time.monotonic(), 0.0))):
                event = await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        is_whole = event["type"] != "http.request" or not event.get("more_body", False)
        return event

    return next_piece


ROUTES = [answer_agent]
