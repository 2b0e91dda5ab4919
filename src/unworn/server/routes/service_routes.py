"""Whether the server is there and ready, what it counts, what it can do, and who is asking."""

from __future__ import annotations

from typing import Any

from litestar import Response, get

from unworn.basics.json_text import canonical
from unworn.server.guards import caller_of, check_manager, services_of
from unworn.server.requests.counters import MEDIA_TYPE, memory_bytes
from unworn.server.requests.json_reply import reply_json, reply_text
from unworn.server.requests.request_body import AnyRequest
from unworn.server.requests.route_words import describe

Reply = Response[bytes]


@get("/health", sync_to_thread=False, **describe("Whether the process answers.", open_to_all=True))
def show_health() -> Reply:
    return reply_json({"status": "alive"})


@get("/ready", sync_to_thread=True, **describe("Whether the tables can be read.", open_to_all=True))
def show_readiness(request: AnyRequest) -> Reply:
    services_of(request).database.select("SELECT 1")
    return reply_json({"status": "ready"})


@get("/metrics", sync_to_thread=False, **describe("Counters for Prometheus: for the owner.", produces="text/plain"))
def show_metrics(request: AnyRequest) -> Reply:
    check_manager(caller_of(request))
    services = services_of(request)
    gauges = {
        "open_places": float(services.workspace.open_count),
        "boards": float(len(services.workspace.boards())),
        "holdouts": float(len(services.workspace.holdouts())),
        "memory_bytes": float(memory_bytes()),
    }
    return Response(services.counters.write(gauges).encode(), media_type=MEDIA_TYPE)


@get("/api/me", sync_to_thread=False, **describe("Whose token this is."))
def show_caller(request: AnyRequest) -> Reply:
    caller = caller_of(request)
    told: dict[str, Any] = {"account": caller.name, "team": caller.team, "role": caller.role}
    return reply_json({**told, "scopes": list(caller.scopes)})


@get("/openapi.json", sync_to_thread=False, **describe("This document.", open_to_all=True))
def show_openapi(request: AnyRequest) -> Reply:
    return reply_text(canonical(request.app.state.openapi))


ROUTES = [show_health, show_readiness, show_metrics, show_caller, show_openapi]
