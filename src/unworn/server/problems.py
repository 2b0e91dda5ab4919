"""Every error as problem+json: what happened, the numbers, what to do next; and nothing about rows, files or code."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from unworn.basics.json_text import canonical
from unworn.errors import UnwornError
from unworn.server.server_errors import NOT_KEPT, names_places, status_of

if TYPE_CHECKING:
    from litestar import Request, Response

_SHORT = 2**16
MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger("unworn.server")


def problem_body(title: str, status: int, detail: str, numbers: dict[str, Any] | None = None) -> dict[str, Any]:
    """The body of every error that leaves the server."""
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, "numbers": numbers or {}}


def describe_error(error: Exception) -> dict[str, Any]:
    """What is told of an error. Of one that nobody meant to raise, only that there was one."""
    if names_places(error):
        again = f"{NOT_KEPT} Send it again in a moment, with the same Idempotency-Key"
        return problem_body(type(error).__name__, status_of(error), again)
    if isinstance(error, UnwornError):
        plain = {name: value for name, value in error.numbers.items() if _is_plain(value)}
        return problem_body(type(error).__name__, status_of(error), error.message, plain)
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and 400 <= status < 500:  # Litestar's own: no such route, no such method, a bad value
        phrase = HTTPStatus(status).phrase
        return problem_body(phrase.replace(" ", ""), status, _DETAILS.get(status, phrase))
    return problem_body(
        "ServerError", 500, "the server made a mistake; the details are not shown here but are in its log"
    )


_DETAILS = {
    400: "the request cannot be read: a parameter has a value of the wrong kind",
    404: "there is nothing at this address",
    405: "this address does not know this method",
    413: "the request is larger than this server takes",
}


_FOR_PROGRAMS = ("/api", "/mcp", "/health", "/ready", "/metrics", "/openapi.json")


def route_of(scope: Any) -> str:
    """Where a request went, as it is declared, for logs: the address itself may hold the code of a link."""
    return str(scope.get("path_template") or "(none)")


def _is_plain(value: Any, depth: int = 3) -> bool:
    """Whether a value of ``numbers`` may travel: plain, finite and of a modest size."""
    if isinstance(value, float):
        return value - value == 0
    if isinstance(value, list | tuple):
        return depth > 0 and len(value) <= 100 and all(_is_plain(each, depth - 1) for each in value)
    if isinstance(value, dict):
        return depth > 0 and len(value) <= 100 and all(_is_plain(each, depth - 1) for each in value.values())
    return value is None or isinstance(value, bool | int | str)


def is_long(request: Request[Any, Any, Any]) -> bool:
    """Whether a request has a body that may still be on its way."""
    length = request.headers.get("content-length", "0")
    return "transfer-encoding" in request.headers or not length.isdecimal() or int(length) > _SHORT


def answer_error(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """The response to an error: problem+json for programs, a page for whoever mistyped an address."""
    from litestar import Response

    if _is_for_people(request):
        from unworn.server.browser.page_reply import answer_page_error

        return answer_page_error(request, error)
    body = describe_error(error)
    if names_places(error):
        _log.error("%s: %s", type(error).__name__, error)
    elif body["status"] >= 500 and not isinstance(error, UnwornError):
        _log.error("mistake in %s: %s", route_of(request.scope), type(error).__name__, exc_info=error)
    headers = {}
    if body["status"] == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if body["status"] in (429, 503):
        headers["Retry-After"] = "1"
    if is_long(request):
        headers["Connection"] = "close"  # else a body that is not wanted would be received to its end
    allow = getattr(error, "headers", None) or {}
    if body["status"] == 405 and "Allow" in allow:
        headers["Allow"] = allow["Allow"]
    text = canonical(body).encode("utf-8", "replace")  # a message may quote half a surrogate pair that was sent
    return Response(text, media_type=MEDIA_TYPE, status_code=body["status"], headers=headers)


def _is_for_people(request: Request[Any, Any, Any]) -> bool:
    """Whether a browser asks for a page that is not there: its address is none of those for programs."""
    path, wanted = str(request.scope["path"]), request.headers.get("accept", "")
    for_programs = path.startswith(_FOR_PROGRAMS) or path.endswith(".json")
    return request.method == "GET" and "text/html" in wanted and not for_programs
