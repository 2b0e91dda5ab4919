"""The application: settings in, Litestar out. Every module of routes is listed here, and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unworn.errors import MissingExtra
from unworn.server.settings import ServerSettings

if TYPE_CHECKING:
    from litestar import Litestar

ROUTE_MODULES = (
    "unworn.server.routes.service_routes",
    "unworn.server.routes.holdout_routes",
    "unworn.server.routes.score_routes",
    "unworn.server.routes.board_routes",
    "unworn.server.routes.gate_routes",
    "unworn.server.routes.account_routes",
    "unworn.server.agent_mount",
    "unworn.server.page_routes",
)
"""Each has ``ROUTES``, a list of handlers. Pages come last."""


def create_app(settings: ServerSettings, *, close_services: bool = True) -> Litestar:
    """The server as an application for uvicorn, or for a test's client."""
    try:
        from litestar import Litestar
        from litestar.datastructures import State
    except ImportError:
        raise MissingExtra.of("server", "serving boards and holdouts") from None
    from unworn.server.agent_mount import serve_agents
    from unworn.server.guards import admit
    from unworn.server.openapi import make_document
    from unworn.server.problems import answer_error
    from unworn.server.safe_headers import header_writer
    from unworn.server.services import Services

    services = Services.of(settings)
    handlers = [handler for module in ROUTE_MODULES for handler in _routes_of(module)]
    document = make_document(handlers, settings.address)
    return Litestar(
        handlers,
        state=State({"services": services, "openapi": document}),
        guards=[admit],
        exception_handlers={Exception: answer_error},
        before_send=[header_writer(settings.secure_cookies)],
        lifespan=[serve_agents, keep_notes],
        on_shutdown=[lambda _: services.close()] if close_services else [],
        openapi_config=None,
        request_max_body_size=2 * settings.max_upload + 2**20,
        logging_config=None,
    )


@asynccontextmanager
async def keep_notes(app: Litestar) -> AsyncIterator[None]:
    """Write what is noted in memory to the tables now and then, as long as the application runs."""
    import anyio

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(app.state.services.write_notes)
        yield
        tasks.cancel_scope.cancel()


def _routes_of(module: str) -> list[Any]:
    return list(import_module(module).ROUTES)
