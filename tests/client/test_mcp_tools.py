"""Tools for agents, used by the SDK's own client: over standard input and output, and over HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import pytest

from tests.client.real_server import RunningServer, make_labels, predict

mcp = pytest.importorskip("mcp")
LABELS = make_labels()
TOOLS = {"submit", "gate", "finish", "ask", "quote", "standings", "budget"}
T = TypeVar("T")


def csv_of(right: float, seed: int) -> str:
    return pd.DataFrame(predict(LABELS, right, seed)).to_csv(index=False)


def over_stdio(server: RunningServer, team: str, folder: Path, home: Path, use: Callable[[Any], Awaitable[T]]) -> T:
    """Start ``unworn mcp`` as an agent's host would, and use it."""
    parameters = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "unworn", "mcp", "--to", server.url, "--folder", str(folder)],
        env={"UNWORN_TOKEN": server.tokens[team], "UNWORN_HOME": str(home)},
    )

    async def run() -> T:
        async with mcp.Client(parameters) as client:
            return await use(client)

    return asyncio.run(asyncio.wait_for(run(), 120))


def over_http(server: RunningServer, team: str, use: Callable[[Any], Awaitable[T]]) -> T:
    """Use ``/mcp`` of the server itself, with a token in the header."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async def run() -> T:
        headers = {"Authorization": f"Bearer {server.tokens[team]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            mcp.Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
        ):
            return await use(client)

    return asyncio.run(asyncio.wait_for(run(), 120))


def test_an_agent_on_standard_input(server: RunningServer, tmp_path: Path, home_of_its_own: Path) -> None:
    (tmp_path / "preds.csv").write_text(csv_of(0.8, seed=21))
    (tmp_path.parent / "outside.csv").write_text(csv_of(0.8, seed=22))
    (tmp_path / "notes.txt").write_text("secret")

    async def use(client: Any) -> None:
        assert "surprise" in (client.instructions or "")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == TOOLS
        assert "file" in tools["submit"].input_schema["properties"]
        assert all(tool.output_schema is not None and "guess" in str(client.instructions) for tool in tools.values())
        told = (await client.call_tool("submit", {"file": "preds.csv", "name": "by file"})).structured_content
        assert told["status"] == "checked"
        assert told["low"] < 0.8 < told["high"]
        assert told["rank"] == 1
        standings = (await client.call_tool("standings", {})).structured_content
        assert standings["rows"][0]["team"] == "blue"
        for file, words in [
            ("../outside.csv", "below"),
            ("notes.txt", "ends in"),
            ("/etc/passwd", "below"),
            ("none.csv", "there is no file"),
        ]:
            refused = await client.call_tool("submit", {"file": file})
            assert refused.is_error
            assert words in refused.content[0].text
        wrong = await client.call_tool("submit", {"predictions": "id,prediction\nr0,1\n"})
        assert wrong.is_error
        assert "InvalidSubmission" in wrong.content[0].text
        neither = await client.call_tool("submit", {})
        assert "either file" in neither.content[0].text
        verdict = (await client.call_tool("gate", {"file": "preds.csv", "message": "start"})).structured_content
        assert verdict["keep"] is True
        proven = (
            await client.call_tool("gate", {"file": "preds.csv", "lane": "proven", "prove": True})
        ).structured_content
        assert proven["keep"] is True
        other = await client.call_tool("gate", {"file": "preds.csv", "lane": "proven", "message": "other mode"})
        assert "started with prove" in other.content[0].text
        started = (await client.call_tool("gate", {"file": "preds.csv", "lane": "ended"})).structured_content
        assert started["kept"] == 1
        claim = (await client.call_tool("finish", {"lane": "ended"})).structured_content
        assert claim["score_low"] < 0.8 < claim["score_high"]
        assert "nothing was gained" in claim["summary"]
        ended = await client.call_tool("gate", {"file": "preds.csv", "message": "more", "lane": "ended"})
        assert "GateFinished" in ended.content[0].text
        standings = (await client.call_tool("standings", {})).structured_content
        assert standings["rows"][0]["is_certified_step"] is False
        budget = (await client.call_tool("budget", {})).structured_content["result"]
        assert [each["kind"] for each in budget] == ["board"]
        assert budget[0]["surprises_left"] == 4  # the last word on a lane costs as much as a surprise
        asked = await client.call_tool("ask", {"question": "age > 65"})
        assert asked.is_error  # a participant of a board asks no holdout

    over_stdio(server, "blue", tmp_path, home_of_its_own, use)


def test_questions_on_standard_input(server: RunningServer, tmp_path: Path, home_of_its_own: Path) -> None:
    async def use(client: Any) -> None:
        price = (await client.call_tool("quote", {"question": "age > 65", "guess": 0.33})).structured_content
        assert price["cost"] < 1 < price["surprise_cost"]
        told = (await client.call_tool("ask", {"question": "age > 65", "guess": 0.33})).structured_content
        assert told["source"] == "guess"
        assert not told["surprise"]
        assert told["low"] < 1 / 3 < told["high"]
        mean = {"question": "coalesce(age, 0)", "low": 0, "high": 100, "guess": 53.5}
        assert (await client.call_tool("ask", mean)).structured_content["source"] == "guess"
        half = await client.call_tool("ask", {"question": "age", "low": 0})
        assert "both ends" in half.content[0].text
        nonsense = await client.call_tool("ask", {"question": "import os"})
        assert nonsense.is_error
        budget = (await client.call_tool("budget", {"holdout": "people"})).structured_content["result"]
        assert budget[0]["asked"] >= 2

    over_stdio(server, "ann", tmp_path, home_of_its_own, use)


def test_an_agent_over_http(server: RunningServer) -> None:
    async def use(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == TOOLS
        assert "file" not in tools["submit"].input_schema["properties"]  # a path would be one of the server
        told = (await client.call_tool("submit", {"predictions": csv_of(0.75, seed=23)})).structured_content
        assert told["team"] == "red"
        assert told["low"] < 0.75 < told["high"]
        verdict = (await client.call_tool("gate", {"predictions": csv_of(0.75, seed=23)})).structured_content
        assert verdict["keep"] is True
        worse = (await client.call_tool("gate", {"predictions": csv_of(0.6, seed=24)})).structured_content
        assert worse["keep"] is False
        assert worse["kept"] == 1
        assert "go back to" in (tools["gate"].description or "")
        claim = (await client.call_tool("finish", {})).structured_content
        assert (claim["proposal"], claim["proposals"]) == (1, 2)
        assert claim["score_low"] < 0.75 < claim["score_high"]
        budget = (await client.call_tool("budget", {})).structured_content["result"]
        assert [(each["kind"], each["name"]) for each in budget] == [("board", "bench")]
        asked = await client.call_tool("ask", {"question": "age > 65", "holdout": "people"})
        assert asked.is_error

    over_http(server, "red", use)


def test_an_analyst_over_http(server: RunningServer) -> None:
    async def use(client: Any) -> Any:
        return (await client.call_tool("ask", {"question": "age > 50", "guess": 0.55})).structured_content

    told = over_http(server, "ann", use)
    assert told["low"] < 0.55 < told["high"]
    assert told["indexes"][0] >= 1
