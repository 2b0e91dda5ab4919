"""unworn ask --to URL: the lines and the document of an ask, from a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.client.real_server import RunningServer


@pytest.fixture(autouse=True)
def signed_in(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWORN_TOKEN", server.tokens["ann"])


def test_ask_quote_and_card(server: RunningServer, run: Run, tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    price = run("ask", "age > 65", "--to", server.holdout, "--guess", "0.33", "--quote")
    assert price.exit_code == 0, price.output
    assert "costs" in price.stdout
    done = run("ask", "age > 65", "--to", server.holdout, "--guess", "0.33", "--card", str(card), "--tag", "year=2026")
    assert done.exit_code == 0, done.output
    assert "the rows agree with the guess" in done.stdout
    assert f"server {server.holdout}" in done.stdout
    assert run("verify", str(card)).exit_code == 0
    told = json.loads(run("ask", "age > 65", "--to", server.holdout, "--json").stdout)
    assert told["repeat"] is True
    assert told["low"] < 1 / 3 < told["high"]
    assert told["tags"] == {"year": 2026}
    whole = json.loads(run("ask", "age > 65", "--to", server.url, "--json").stdout)
    assert whole["index"] == told["index"]
    mean = run("ask", "coalesce(age, 0)", "--to", server.holdout, "--range", "0", "100", "--guess", "53.5")
    assert mean.exit_code == 0, mean.output


def test_what_cannot_be_asked(server: RunningServer, run: Run, data: Path) -> None:
    assert run("ask", "height > 3", "--to", server.holdout).exit_code == 2
    both = run("ask", str(data), "age > 65", "--to", server.holdout)
    assert both.exit_code == 2
    assert "Leave DATA" in both.stderr
    assert run("ask", "age > 65", "--to", server.board).exit_code == 2
    assert run("ask", "age > 65", "--to", f"{server.url}/holdouts/none").exit_code == 3
    alone = run("ask", str(data))
    assert alone.exit_code == 2
    assert "say what to ask" in alone.stderr
