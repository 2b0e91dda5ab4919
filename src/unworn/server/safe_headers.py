"""Headers on every response, whoever made it: a handler, an error, a protocol that is mounted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

SAFE_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""A response that says nothing else of its own is not taken for another type, framed, run, kept by a cache for the next
reader, or told where a reader came from."""
REPORT_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
"""For a page that was written to be saved and read anywhere: it has its style and its pictures in itself."""
_ONLY_TLS: Final = ("Strict-Transport-Security", "max-age=31536000")


def header_writer(is_secure: bool) -> Callable[[Any, Any], Awaitable[None]]:
    """What adds these headers to a response that has none of the name; with TLS, that it is always to be used."""
    pairs = [*SAFE_HEADERS.items(), *([_ONLY_TLS] if is_secure else [])]
    known = [(name.lower().encode(), value.encode()) for name, value in pairs]

    async def add_headers(message: Any, _: Any) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            there = {name.lower() for name, _ in given}
            message["headers"] = [*given, *(pair for pair in known if pair[0] not in there)]

    return add_headers
