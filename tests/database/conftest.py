"""A database of either kind, to try the same on both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres_server import postgres_server, postgres_url  # noqa: F401
from unworn.database import Database, open_database


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a fresh database is."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/board.db"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def database(place: str) -> Iterator[Database]:
    opened = open_database(place)
    opened.migrate("teams", ["CREATE TABLE teams (name TEXT PRIMARY KEY, tries BIGINT NOT NULL, mark BLOB)"])
    yield opened
    opened.close()
