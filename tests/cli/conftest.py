"""A runner, and a small file of people to ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unworn.cli import app


class Run(Protocol):
    def __call__(self, *arguments: str, env: dict[str, str] | None = None, said: str | None = None) -> Any: ...


@pytest.fixture
def run() -> Run:
    runner = CliRunner()

    def invoke(*arguments: str, env: dict[str, str] | None = None, said: str | None = None) -> Any:
        setting = {"UNWORN_DEBUG": "", "COLUMNS": "120", **(env or {})}
        return runner.invoke(app, list(arguments), env=setting, input=said)

    return invoke


def people(rows: int = 2_000, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "plan": rng.choice(["basic", "pro"], rows),
            "income": rng.gamma(4, 10_000, rows).round(2),
            "team": rng.integers(0, 400, rows),
        }
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    return path


@pytest.fixture
def ledger(data: Path) -> str:
    return f"{data}.ledger.db"
