"""The whole command line: help, version, exit codes, and two real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from unworn import __version__

COMMANDS = ("demo", "ask", "plan", "ledger", "verify")


def test_without_arguments_it_shows_help(run: Run) -> None:
    result = run()
    assert "Exit codes" in result.output
    assert all(command in result.output for command in COMMANDS)


def test_version(run: Run) -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"unworn {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_examples(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert f"unworn {command}" in result.stdout.split("Examples:")[1]


def test_help_has_no_colour_or_boxes_in_a_pipe(run: Run) -> None:
    shown = run("ask", "--help").stdout
    assert "\x1b" not in shown
    assert not set(shown) & set("─│╭╮╰╯")


def test_an_unknown_command_is_bad_usage(run: Run) -> None:
    result = run("aks")
    assert result.exit_code == 2
    assert "ask" in result.stderr


def test_an_unexpected_error_is_one_and_names_the_switch(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(sys.modules["unworn.cli.plan"], "solve", broken)
    result = run("plan", "--rows", "100", "--asks", "10")
    assert result.exit_code == 1
    assert "RuntimeError: out of luck" in result.stderr
    assert "UNWORN_DEBUG" in result.stderr


def test_debug_raises_instead_of_printing(run: Run) -> None:
    result = run("--debug", "verify", "nowhere.json")
    assert type(result.exception).__name__ == "BadInput"
    assert run("verify", "nowhere.json", env={"UNWORN_DEBUG": "1"}).exception is not None
    assert isinstance(run("verify", "nowhere.json").exception, SystemExit)


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "unworn", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": "src", **environment},
        cwd=Path(__file__).parents[2],
    )


def test_a_real_process_plays_the_demo(tmp_path: Path) -> None:
    done = process("demo", "--rows", "600", "--asks", "60", "--out", str(tmp_path / "figures"), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [outcome["holdout"] for outcome in told["outcomes"]] == ["plain holdout", "unworn"]
    assert (tmp_path / "figures" / "unworn-demo.svg").read_text().startswith("<svg")
    assert (tmp_path / "figures" / "unworn-demo.png").read_bytes()[:4] == b"\x89PNG"


def test_a_real_process_refuses_a_bad_card(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text("{not json")
    done = process("verify", str(tmp_path / "card.json"))
    assert done.returncode == 4
    assert done.stdout == ""
    assert done.stderr.startswith("Tampered: ")
    assert "Traceback" not in done.stderr


def test_an_ascii_terminal_gets_an_answer_too() -> None:
    done = process("plan", "--rows", "1e4", "--asks", "1e3", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "0.0375" in done.stdout
