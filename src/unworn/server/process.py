"""One process of the server, or several: what uvicorn is given, and how it ends."""

from __future__ import annotations

import socket
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from unworn.errors import MissingExtra, ShortRange
from unworn.server.settings import ServerSettings

if TYPE_CHECKING:
    from unworn.server.requests.request_log import RequestLog

_LAST_SECONDS: Final = 30
"""Seconds that requests which have begun get when the server is told to end."""
_FILES: Final = 65_536


def make_application(settings: ServerSettings) -> RequestLog:
    """The application with its log around it."""
    from unworn.server.app import create_app
    from unworn.server.requests.answer_times import first_step
    from unworn.server.requests.request_log import RequestLog, set_up_logs

    set_up_logs()
    warnings.filterwarnings("ignore", category=ShortRange)  # what strangers declare is no matter for the server's log
    app = create_app(settings)
    if settings.ask_step is None:
        first_step()  # before anybody can make this process busy
    return RequestLog(app, app.state.services)


def run_server(settings: ServerSettings, host: str, port: int, workers: int = 1) -> None:
    """Serve until SIGTERM or an interrupt; what has begun is finished first."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra.of("server", "serving boards and holdouts") from None
    from unworn.server.bounded_connection import BoundedConnection

    options: dict[str, Any] = {
        "http": BoundedConnection,
        "host": host,
        "port": port,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "date_header": False,
        "timeout_graceful_shutdown": _LAST_SECONDS,
        "timeout_keep_alive": 30,
        "ws": "none",
    }
    allow_many_files()
    if workers == 1:
        uvicorn.run(make_application(settings), **options)
        return
    from unworn.server.requests.request_log import set_up_logs
    from unworn.server.worker_watch import WorkerWatch

    set_up_logs()
    bound = uvicorn.Config(_none, **options).bind_socket()
    WorkerWatch(partial(serve_on, settings, options), bound, workers, _LAST_SECONDS).run()


def allow_many_files() -> None:
    """As many open files as the system lets us have: a board that is in use has nine, and a shell's limit is 1,024."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve_on(settings: ServerSettings, options: dict[str, Any], bound: socket.socket) -> None:
    """One of several workers, on a socket that they share."""
    import uvicorn

    uvicorn.Server(uvicorn.Config(make_application(settings), **options)).run(sockets=[bound])


async def _none(*_: Any) -> None:
    """No application: whoever binds the socket answers nothing."""
