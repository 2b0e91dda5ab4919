"""Forms as nobody's browser sends them."""

from __future__ import annotations

import pytest

from tests.server.browser.site_under_test import Site, predictions
from unworn.server.guards import COOKIE
from unworn.server.routes import board_access

_SUBMIT = "/boards/intents/submit"
_KIND = "multipart/form-data; boundary=b0undary"


def _part(name: str, value: str, more: str = "") -> str:
    return f'--b0undary\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", "x"),
        ("multipart/form-data; boundary=", "x"),
        (_KIND, ""),
        (_KIND, "nonsense"),
        (_KIND, _part("a", "b")),  # cut off
        (_KIND, "".join(_part(f"f{place}", "x") for place in range(40)) + "--b0undary--\r\n"),
        (_KIND, _part("long", "x" * 70_000) + "--b0undary--\r\n"),
        (_KIND, _part("file", "x", '; filename="a.csv"') * 2 + "--b0undary--\r\n"),
        ("application/x-www-form-urlencoded", "&".join(f"f{place}=1" for place in range(40))),
        ("application/x-www-form-urlencoded", "a=%ff%fe"),
        ("application/x-www-form-urlencoded", "ä=1"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(site: Site, kind: str, body: str) -> None:
    bo = site.visit("bo")
    reply = bo.client.post(_SUBMIT, content=body.encode(), headers={"Content-Type": kind})
    assert reply.status_code == 400
    assert "<h1>" in reply.text


def test_other_kinds_of_bodies_have_no_session_in_them(site: Site) -> None:
    bo = site.visit("bo")
    for kind in ("application/json", "text/plain", ""):
        reply = bo.client.post(_SUBMIT, content=b'{"_csrf": "x"}', headers={"Content-Type": kind})
        assert reply.status_code == 403


def test_a_file_in_a_field_of_text_is_no_token(site: Site) -> None:
    bo = site.visit("bo")
    token = site.accounts.csrf_of(bo.client.cookies[COOKIE])
    body = _part("_csrf", token, '; filename="x.csv"') + "--b0undary--\r\n"
    assert bo.client.post(_SUBMIT, content=body.encode(), headers={"Content-Type": _KIND}).status_code == 403


def test_a_file_that_is_too_large_is_refused_before_it_is_kept(site: Site) -> None:
    bo = site.visit("bo")
    announced = {"Content-Type": _KIND, "Content-Length": str(10 * 2**30)}
    assert bo.client.post(_SUBMIT, content=b"x", headers=announced).status_code == 413


def test_nothing_is_unpacked(site: Site) -> None:
    headers = {"Content-Type": _KIND, "Content-Encoding": "gzip"}
    assert site.visit("bo").client.post(_SUBMIT, content=b"x", headers=headers).status_code == 415


def test_only_the_form_that_asks_for_a_file_takes_one(site: Site) -> None:
    body = _part("file", "x" * 2**21, '; filename="a.csv"') + "--b0undary--\r\n"
    headers = {"Content-Type": _KIND}
    assert site.visit().client.post("/sign-in", content=body.encode(), headers=headers).status_code == 413
    reply = site.visit("ed").client.post("/boards/intents/manage", content=body.encode(), headers=headers)
    assert reply.status_code == 413


def test_files_of_forms_are_counted_until_they_are_gone(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    bo, services, seen = site.visit("bo"), site.app.state.services, []
    check = board_access.check_upload
    monkeypatch.setattr(
        board_access, "check_upload", lambda *given: (seen.append(services.uploads["bo"]), check(*given))
    )
    assert bo.submit(predictions(site.seed, 0.7)).status_code == 303
    assert bo.submit(b"nonsense").status_code == 422
    assert bo.client.post(_SUBMIT, data={"_csrf": "x"}, files={"file": ("a.csv", b"x")}).status_code == 403
    assert seen == [1, 1]
    assert not services.uploads
    most = 4 * services.settings.threads
    services.uploads["bo"] = most
    try:
        assert bo.submit(predictions(site.seed, 0.6)).status_code == 429
    finally:
        del services.uploads["bo"]
