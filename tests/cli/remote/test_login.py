"""unworn login: a token is tried, kept for its owner alone, and never printed."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from tests.cli.conftest import Run
from tests.client.real_server import RunningServer


def test_sign_in_and_out(server: RunningServer, run: Run, home_of_its_own: Path) -> None:
    token = server.tokens["blue"]
    done = run("login", server.board, said=f"{token}\n")
    assert done.exit_code == 0, done.output
    assert done.stdout == f"signed in to {server.url} as blue (participant)\n"
    assert token not in done.output
    where = home_of_its_own / "tokens.json"
    assert stat.S_IMODE(where.stat().st_mode) == 0o600
    assert json.loads(where.read_text()) == {server.url: token}
    assert run("standings", "--to", server.board).exit_code == 0
    assert "is gone" in run("login", server.url, "--forget").stdout
    assert run("standings", "--to", server.board).exit_code == 3
    assert "no token was kept" in run("login", server.url, "--forget").stdout


def test_a_wrong_token_is_not_kept(server: RunningServer, run: Run, home_of_its_own: Path) -> None:
    wrong = "unw_" + "0" * 40
    refused = run("login", server.url, said=f"{wrong}\n")
    assert refused.exit_code == 3
    assert "SignInNeeded" in refused.stderr
    assert wrong not in refused.output
    assert not (home_of_its_own / "tokens.json").exists()
    empty = run("login", server.url, said="\n")
    assert empty.exit_code == 2
    assert "not a token" in empty.stderr


def test_keys_are_forgotten(server: RunningServer, run: Run) -> None:
    run("login", server.url, said=f"{server.tokens['ann']}\n")
    assert run("ask", "age > 65", "--to", server.holdout, "--guess", "0.33").exit_code == 0
    told = json.loads(run("login", server.url, "--forget-keys", "--json").stdout)
    assert told["keys_forgotten"] == 1
    assert "forgot 0 keys" in run("login", server.url, "--forget-keys").stdout


def test_what_is_no_url(run: Run) -> None:
    assert run("login", "bench/").exit_code == 2
