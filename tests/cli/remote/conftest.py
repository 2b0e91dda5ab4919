"""One server for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.client.real_server import RunningServer, serve_everything


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serve_everything(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNWORN_TOKEN", raising=False)
