"""Around the whole application: every request is counted and written down in a line of JSON.

A line says who, what kind of request, how long and with what outcome. It has no token, no question, no name of
a file, and nothing that was answered.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import TYPE_CHECKING, Any

from unworn.server.account import ANYBODY
from unworn.server.problems import route_of

if TYPE_CHECKING:
    from unworn.server.services import Services

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class RequestLog:
    """An ASGI application that passes everything on, counts it and logs it."""

    def __init__(self, app: Any, services: Services) -> None:
        self._app, self._services = app, services
        self._log = logging.getLogger("unworn.requests")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def send_on(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Any, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        route = route_of(scope)
        self._services.counters.count_request(method, route, status, seconds)
        if self._services.settings.log_requests:
            caller = scope.get("state", {}).get("unworn_caller", ANYBODY)
            told = {"method": method, "route": route, "status": status, "ms": round(1000 * seconds, 1)}
            self._log.info("request", extra={"told": {**told, "account": caller.name}})


class JsonLines(logging.Formatter):
    """A log record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        told: dict[str, Any] = {"at": at, "level": record.levelname.lower(), "message": record.getMessage()}
        told |= getattr(record, "told", {})
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
            told["where"] = _places(record.exc_info[2])
        return json.dumps(told, ensure_ascii=True)


def _places(trace: Any) -> list[str]:
    """Where in the code something went wrong: files and lines, without values."""
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename.rpartition('site-packages/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return places[-12:]


def set_up_logs() -> None:
    """Send what the server says about itself to standard error, a line of JSON each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("unworn.requests", "unworn.server", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name.startswith("unworn") else logging.WARNING)
    logging.getLogger("uvicorn.access").handlers = []
