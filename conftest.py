"""Nothing that is tested leaves a trace in the home of whoever runs it, or finds one there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import typer.main
import typer.testing
from tests.key_seeds import keys_for

_SESSION = tempfile.TemporaryDirectory(prefix="unworn-home-", ignore_cleanup_errors=True)
os.environ["UNWORN_HOME"] = _SESSION.name  # for fixtures of modules and sessions, and what is opened at import
_HOMES = count()
# A runner makes every command anew out of its signature, each time it is called: that takes longer than most commands.
typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]


def pytest_configure(config: pytest.Config) -> None:
    """Most tests are about few rows, and warnings are errors: that rows are few has tests of its own."""
    config.addinivalue_line("filterwarnings", "ignore:.* are few( for .* plan)?. the first answer is:UserWarning")


@pytest.fixture(autouse=True)
def home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A per-user directory for each test and doctest."""
    # Counted here: ``mktemp`` looks for the next free number through all the folders that there are, thousands of them.
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_HOMES))
    home.mkdir(0o700, parents=True)
    monkeypatch.setenv("UNWORN_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def keys_of_its_own(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keys that are the same in every run, for each test and doctest."""
    with keys_for(request.node.nodeid):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """The same for what several tests share, whichever of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    with keys_for(f"{fixturedef.baseid}/{fixturedef.argname}/{getattr(request, 'param_index', 0)}"):
        return (yield)
