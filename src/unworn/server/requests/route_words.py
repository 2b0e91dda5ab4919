"""What is said of a route in the OpenAPI document, and what every route reads from its request."""

from __future__ import annotations

from typing import Any

from unworn.server.requests.request_body import AnyRequest
from unworn.server.requests.request_keys import check_key

FILES = ("text/csv", "application/x-ndjson", "application/vnd.apache.parquet")


def describe(
    summary: str,
    *,
    body: Any = None,
    files: tuple[str, ...] = (),
    form: tuple[str, ...] = (),
    options: Any = None,
    charges: bool = False,
    produces: str = "application/json",
    open_to_all: bool = False,
    status: int = 200,
) -> dict[str, Any]:
    """Words for the OpenAPI document: what a route does, what it is sent, whether an idempotency key helps."""
    words = {
        "body": body,
        "files": files,
        "form": form,
        "options": options,
        "charges": charges,
        "produces": produces,
        "status": status,
    }
    return {"summary": summary, "opt": {"words": words, "open": open_to_all}}


def request_key(request: AnyRequest) -> str | None:
    """The idempotency key of a request."""
    key = request.headers.get("idempotency-key")
    return None if key is None else check_key(key)
