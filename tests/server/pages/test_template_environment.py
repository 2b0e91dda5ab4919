"""Every page is whole, says in JSON what it says in HTML, and shows what others wrote as text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from tests.server.pages.page_gallery import (
    BOARD,
    HOLDOUT,
    NASTY,
    OWNER,
    PARTICIPANT,
    gallery,
    nasty_submissions,
    standings,
)
from unworn.server.pages import board_pages, holdout_pages, management_pages, site_pages
from unworn.server.pages.template_environment import CONTENT_POLICY, render_html, render_json
from unworn.server.pages.web_page import Notice, Viewer

PAGES = gallery()
_VOID = {"meta", "link", "input", "br", "img", "line", "circle", "path", "rect"}


class Outline(HTMLParser):
    """The elements of a page, and whether they are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag, tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_well_formed_and_has_its_landmarks(name: str) -> None:
    page, viewer = PAGES[name]
    outline = Outline(render_html(page, viewer))
    assert outline.open == []
    assert len(outline.all("main")) == len(outline.all("h1")) == len(outline.all("header")) == 1
    assert outline.all("html") == [{"lang": "en"}]
    assert any(link.get("href") == "#main" for link in outline.all("a"))
    ids = [attrs["id"] for _, attrs in outline.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    labels = {label["for"] for label in outline.all("label")}
    for field in [*outline.all("input"), *outline.all("select")]:
        assert field.get("type") == "hidden" or field["id"] in labels
    assert len(outline.all("caption")) == len(outline.all("table"))
    assert all(head.get("scope") for head in outline.all("th"))
    for part in ("aria-labelledby", "aria-describedby"):
        assert {attrs[part] for _, attrs in outline.elements if part in attrs} <= set(ids)


@pytest.mark.parametrize("name", PAGES)
def test_no_page_needs_more_than_its_policy_allows(name: str) -> None:
    page, viewer = PAGES[name]
    outline = Outline(render_html(page, viewer))
    assert "script" not in CONTENT_POLICY.replace("default-src 'none'", "")
    assert outline.all("script") == outline.all("style") == []
    for _, attrs in outline.elements:
        assert not any(attr == "style" or attr.startswith("on") for attr in attrs)
        for place in ("href", "src", "action"):
            assert (attrs.get(place) or "/").startswith(("/", "#"))


@pytest.mark.parametrize("name", PAGES)
def test_every_form_carries_the_session(name: str) -> None:
    page, viewer = PAGES[name]
    html = render_html(page, viewer)
    for form in re.findall(r"<form.*?</form>", html, re.S):
        if 'method="post"' in form and 'action="/sign-in"' not in form:
            assert f'name="_csrf" value="{viewer.csrf}"' in form


@pytest.mark.parametrize("name", PAGES)
def test_the_twin_says_the_same(name: str) -> None:
    page, _ = PAGES[name]
    told = json.loads(render_json(page))
    assert told == {"title": page.title, **json.loads(json.dumps(page.data))}
    assert page.twin is None or page.twin.endswith(".json")


def test_what_others_wrote_is_text_everywhere() -> None:
    viewer = Viewer(NASTY, "participant", NASTY, NASTY, OWNER.rights)
    sent = nasty_submissions()
    board = board_pages.BoardFacts(NASTY, NASTY, NASTY, 10, 10, 0.95, False, "ladder")
    account = {"name": NASTY, "team": NASTY, "role": NASTY, "tokens": 1}
    spent = {"team": NASTY, "submissions": 1, "surprises": 0, "nats": 1.0}
    secret = {"name": NASTY, "link": NASTY, "token": NASTY}
    notice = Notice("refused", NASTY, NASTY, (NASTY,))
    holdout = holdout_pages.HoldoutFacts(NASTY, 10, 0, 0.95, False)
    meter = PAGES["holdout"][0].data["meter"]
    entry = {"index": 1, "what": NASTY, "hash": NASTY, "at": 0.0}
    front = site_pages.front_of(standings(sent))
    place = {"name": NASTY, "title": NASTY, "metric": NASTY, "size": 1, "submissions": 1, "closed": False}
    words = [NASTY]
    pages = [
        site_pages.show_home([{**place, "front": front}], [{**place, "meter": meter}]),
        site_pages.show_sign_in(code=NASTY, name=NASTY, back=NASTY, notice=notice),
        site_pages.show_problem(404, NASTY),
        board_pages.show_standings(board, standings(sent), viewer, chart=NASTY),
        board_pages.show_submit_form(board, ids=3, address=NASTY, request=NASTY, notice=notice),
        board_pages.show_history(board, NASTY, sent, surprises=0, allowed=5),
        board_pages.show_submission(board, sent[0], is_own=True, notice=notice),
        board_pages.show_rules(board, promise=words, scoring=words, conduct=words, numbers={NASTY: NASTY}),
        management_pages.show_board_management(
            board, spending=[spent], allowed=5, accounts=[account], roles=words, secret=secret, notice=notice
        ),
        holdout_pages.show_ledger(
            holdout, [entry], length=2, page=1, head=NASTY, public_key=NASTY, mechanism=NASTY, notice=notice
        ),
    ]
    for page in pages:
        html = render_html(page, viewer)
        outline = Outline(html)
        assert outline.open == []
        assert outline.all("script") == []
        assert not any(attr.startswith("on") for _, attrs in outline.elements for attr in attrs)
        assert "\u202e" not in html
        assert "\x1b" not in html
        assert "&lt;script&gt;" in html
        twin = render_json(page).decode()
        assert "\u202e" not in twin
        assert json.loads(twin)["title"] == page.title


def test_what_an_answer_was_called_is_text_too() -> None:
    from unworn import Holdout

    holdout = Holdout({"age": [20, 70] * 300}, name=NASTY, ledger=None)
    answer = holdout.ask("age > 65", guess=0.5, by=NASTY, name=NASTY, tags={"<b>": NASTY})
    card = holdout_pages.show_card(answer.certificate, place=NASTY, index=1, back="/")
    form = holdout_pages.show_ask_form(
        HOLDOUT, holdout.meter, columns=[{"name": NASTY, "kind": "text"}], answers=[answer]
    )
    for page in (card, form):
        html = render_html(page, OWNER)
        assert "<script" not in html
        assert "<img src=x" not in html
        assert "\u202e" not in html


def test_a_viewer_sees_what_concerns_them() -> None:
    page = board_pages.show_standings(BOARD, standings([]), PARTICIPANT)
    assert "Manage" not in render_html(page, PARTICIPANT)
    assert "/manage" in render_html(page, OWNER)
    assert "Sign out" in render_html(page, OWNER)
    assert "Sign in" in render_html(page)
