"""Errors as problem+json: every status, and nothing that was not meant to be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from tests.server.served_site import Site
from unworn.errors import Exhausted, Failed, LedgerError, Mismatch, MissingExtra, ReadOnly, Unaskable, UnwornError
from unworn.server import app as app_module
from unworn.server.app import create_app
from unworn.server.problems import describe_error
from unworn.server.server_errors import BodyTooLarge, NotAllowed, status_of
from unworn.server.settings import ServerSettings

SECRET = "row 7 has the label 1"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Exhausted("no asks left", asked=10), 409),
        (Mismatch("other rows"), 409),
        (ReadOnly("no key"), 409),
        (Failed(Failed.MESSAGE), 409),
        (Unaskable("no such column"), 422),
        (MissingExtra("needs onnx"), 501),
        (NotAllowed("no"), 403),
        (BodyTooLarge("no"), 413),
        (UnwornError("something"), 400),
    ],
)
def test_each_error_has_its_status_and_numbers(error: UnwornError, status: int) -> None:
    told = describe_error(error)
    assert (told["status"], told["title"], told["detail"]) == (status, type(error).__name__, error.message)
    assert status_of(error) == status
    assert told["numbers"] == error.numbers


def test_files_and_hosts_of_a_ledger_are_not_named() -> None:
    told = describe_error(LedgerError("/srv/secret/ledger.db: disk full", path="/srv/secret"))
    assert told["status"] == 503
    assert "secret" not in str(told)


def test_numbers_that_cannot_travel_are_left_out() -> None:
    error = UnwornError(
        "x", bad=float("nan"), rows=object(), fine=[1, 2.5, "a", None], deep=[[[[[1]]]]], many=[0] * 101
    )
    assert describe_error(error)["numbers"] == {"fine": [1, 2.5, "a", None]}


def test_a_mistake_of_ours_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from litestar import get

    @get("/broken", opt={"open": True}, sync_to_thread=False)
    def break_down() -> None:
        raise ValueError(SECRET)

    routes = app_module._routes_of

    def more_routes(module: str) -> list[Any]:
        return [*routes(module), break_down] if module.endswith("service_routes") else routes(module)

    monkeypatch.setattr(app_module, "_routes_of", more_routes)
    with TestClient(create_app(ServerSettings(tmp_path)), raise_server_exceptions=False) as client:
        reply = client.get("/broken")
    assert (reply.status_code, reply.json()["title"]) == (500, "ServerError")
    assert SECRET not in reply.text
    assert "Traceback" not in reply.text
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nothing", 404),
        ("DELETE", "/api/me", 405),
        ("PATCH", "/api/boards/bench", 405),
        ("GET", "/api/holdouts/people/cards/notanumber", 404),
        ("GET", "/api/holdouts/people/cards/99999999999999999999999", 404),
        ("GET", "/api/holdouts/people/entries?start=x", 400),
        ("GET", "/api/holdouts/people/entries?start=99999999999999999999999", 200),
        ("GET", "/api/boards/bench/submissions?mine=perhaps", 400),
        ("GET", "/api/boards/bench/submissions/%3Cscript%3E", 404),
    ],
)
def test_what_the_framework_refuses_is_a_problem_too(site: Site, method: str, path: str, status: int) -> None:
    reply = site.client.request(method, path, headers=site.headers("owner"))
    assert reply.status_code == status
    if status >= 400:
        assert reply.headers["content-type"] == "application/problem+json"
        assert set(reply.json()) == {"type", "title", "status", "detail", "numbers"}
        assert "<script>" not in reply.text
