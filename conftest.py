"""Nothing that is tested leaves a trace in the home of whoever runs it, or finds one there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

_SESSION = tempfile.TemporaryDirectory(prefix="unworn-home-", ignore_cleanup_errors=True)
os.environ["UNWORN_HOME"] = _SESSION.name  # for fixtures of modules and sessions, and what is opened at import


def pytest_configure(config: pytest.Config) -> None:
    """Most tests are about few rows, and warnings are errors: that rows are few has tests of its own."""
    config.addinivalue_line("filterwarnings", "ignore:.* are few. the first answer is:UserWarning")


@pytest.fixture(autouse=True)
def home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A per-user directory for each test and doctest."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("UNWORN_HOME", str(home))
    return home
