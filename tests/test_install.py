"""What a stranger gets from `pip install unworn`: the core alone, without any extra."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_CODE = """
import sys
import numpy as np
from unworn import Holdout, col, plan, share
from unworn.errors import MissingExtra

rng = np.random.default_rng(0)
holdout = Holdout({"x": rng.normal(size=2000)}, rng.integers(0, 2, 2000), practice=0, ledger="core.db")
answer = holdout.ask(share(col("x") > 0), guess=0.5)
holdout.sharpen(answer)
holdout.verify()
assert holdout.answers["index"] == [1, 2], "without a frame library answers are a dict of lists"
assert plan(rows=2000, asks=100).best == "GuessAndCheck"
for module in ("pandas", "polars", "pyarrow", "sklearn", "altair", "sqlglot"):
    assert module not in sys.modules
assert holdout.ask("x > 0").index == 1, "SQL text is read by the core, and asks the same question"
try:
    Holdout("people.parquet")
except MissingExtra as error:
    assert "unworn[sql]" in str(error)
else:
    raise AssertionError("Parquet needs an extra")
"""


@pytest.mark.slow
def test_the_core_works_alone(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    quiet = ["--quiet", "--disable-pip-version-check"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(python, "-m", "pip", "install", *quiet, "--constraint", ROOT / "constraints.txt", ROOT)
    (tmp_path / "people.parquet").touch()
    (tmp_path / "people.csv").write_text("age,plan\n" + "70,basic\n30,pro\n41.5,\n" * 1000)
    run(python, "-c", _CODE)
    told = json.loads(
        run(python, "-m", "unworn", "ask", "people.csv", "age > 65 and plan = 'basic'", "--guess", "0.33", "--json")
    )
    assert told["low"] <= 1 / 3 <= told["high"]
    assert '"best": "GuessAndCheck"' in run(python, "-m", "unworn", "plan", "--rows", "2000", "--asks", "100", "--json")
    assert "asked 2" in run(python, "-m", "unworn", "ledger", "core.db")
    assert "plain holdout" in run(python, "-m", "unworn", "demo", "--out", tmp_path)  # says that figures need an extra


@pytest.mark.slow
def test_the_demo_ends_within_a_minute(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "unworn", "demo", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "unworn-demo.svg").stat().st_size > 10_000
    assert (tmp_path / "unworn-demo.png").stat().st_size > 10_000
