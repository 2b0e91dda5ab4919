"""unworn mcp: what is wrong is said before an agent waits for it. Its tools are tried in tests/client."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.client.real_server import RunningServer


def test_what_cannot_be_served(run: Run, tmp_path: Path) -> None:
    assert run("mcp", "--to", "bench/").exit_code == 2
    missing = run("mcp", "--to", "http://127.0.0.1:1", "--folder", str(tmp_path / "none"))
    assert missing.exit_code == 2
    assert "is not a folder" in missing.stderr


def test_a_token_that_does_not_hold_is_noticed_at_the_start(server: RunningServer, run: Run) -> None:
    refused = run("mcp", "--to", server.board, env={"UNWORN_TOKEN": "unw_" + "0" * 40})
    assert refused.exit_code == 3
    assert "SignInNeeded" in refused.stderr
