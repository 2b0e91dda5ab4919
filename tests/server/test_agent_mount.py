"""Tools for agents at /mcp: what an account may do, and no more."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from tests.server.served_site import Site, predictions_csv
from unworn.database.database_errors import Unreachable
from unworn.errors import Failed, Refused, UnwornError
from unworn.server.agent_mount import QuietVerbs, be_quiet, receive_in_time
from unworn.server.app import create_app
from unworn.server.settings import ServerSettings

ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def call(site: Site, name: str | None, tool: str, **arguments: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = ACCEPT if name is None else {**ACCEPT, **site.headers(name)}
    return site.client.post("/mcp", headers=headers, json=body)


def test_an_agent_submits_and_asks(site: Site) -> None:
    reply = call(site, "ann", "submit", predictions=predictions_csv(site.truth["bench"], 40))
    assert reply.status_code == 200
    result = reply.json()["result"]
    assert not result.get("isError"), result
    told = call(site, "ana", "ask", question="age > 65", guess=0.3).json()["result"]
    assert not told.get("isError"), told
    budget = json.dumps(call(site, "ana", "budget").json())
    assert "people" in budget
    assert "others" not in budget
    assert "bench" not in budget


def test_no_tool_reaches_beyond_the_account(site: Site) -> None:
    assert call(site, None, "budget").status_code == 401
    for name, tool, arguments in (
        ("ann", "standings", {"board": "rival"}),
        ("ann", "ask", {"question": "age > 5", "holdout": "people"}),
        ("ana", "ask", {"question": "age > 5", "holdout": "others"}),
        ("vic", "ask", {"question": "age > 5", "holdout": "people"}),
        ("vic", "submit", {"predictions": "id,prediction\n", "board": "bench"}),
    ):
        result = call(site, name, tool, **arguments).json()["result"]
        assert result["isError"]
        assert "NotAllowed" in json.dumps(result)


def test_no_stream_stays_open(site: Site) -> None:
    headers = {**ACCEPT, **site.headers("ann")}
    for reply in (site.client.get("/mcp", headers=headers), site.client.delete("/mcp", headers=headers)):
        assert reply.status_code == 405
        assert reply.headers["Allow"] == "POST"


def test_passers_by_have_no_tools(tmp_path: Path) -> None:
    with TestClient(create_app(ServerSettings(tmp_path, public=True))) as client:
        assert client.get("/mcp", headers=ACCEPT).status_code == 401


def test_mistakes_of_ours_are_not_told() -> None:
    def fail() -> None:
        raise ValueError("row 7 has the label 1")

    with pytest.raises(UnwornError) as told:
        be_quiet(fail)()
    assert "row 7" not in str(told.value)
    assert told.value.__cause__ is None
    assert told.value.__context__ is None


def test_what_is_charged_takes_a_multiple_of_the_grid() -> None:
    class Verbs:
        def ask(self, seconds: float) -> None:
            time.sleep(seconds)
            if seconds:
                raise Failed(Failed.MESSAGE)

        def quote(self) -> str:
            return "free"

    verbs, told = QuietVerbs(Verbs(), 0.2), []
    for seconds in (0.0, 0.05):
        began = time.perf_counter()
        with suppress(Failed):
            verbs.ask(seconds)
        told.append(time.perf_counter() - began)
    assert min(told) >= 0.2
    began = time.perf_counter()
    assert verbs.quote() == "free"
    assert time.perf_counter() - began < 0.2


def test_a_call_that_does_not_come_to_its_end_is_let_go() -> None:
    """Who sends half a call, or a piece now and then, does not keep a place for ever."""
    settings = ServerSettings(Path("/nowhere"), request_seconds=0.2, upload_gap_seconds=0.05)

    async def never() -> Any:
        await asyncio.sleep(60)

    async def drip() -> Any:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def count_pieces(receive: Any) -> int:
        pieces, next_piece = 0, receive_in_time(receive, settings)
        while (await next_piece())["type"] == "http.request":
            pieces += 1
        return pieces

    assert asyncio.run(count_pieces(never)) == 0
    assert 1 <= asyncio.run(count_pieces(drip)) <= 20


def test_a_call_is_no_larger_than_text_may_be(site: Site) -> None:
    assert call(site, "ann", "submit", predictions="x" * (17 * 2**20)).status_code == 413


def test_no_agent_is_told_where_files_and_hosts_are() -> None:
    """Errors of ledgers and tables name them; what else was refused is told as it is."""

    def fail(error: UnwornError) -> None:
        raise error

    with pytest.raises(UnwornError, match="cannot be used just now") as hidden:
        be_quiet(fail)(Unreachable("/srv/secret/board.db cannot be used: disk full"))
    assert "secret" not in str(hidden.value)
    with pytest.raises(Refused, match="the board is closed"):
        be_quiet(fail)(Refused("the board is closed"))
