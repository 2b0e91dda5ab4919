from __future__ import annotations

from typing import Any

from tests.server.pages.page_gallery import BOARD, HOLDOUT, OWNER
from unworn.server.pages.management_pages import show_board_management, show_holdout_management
from unworn.server.pages.template_environment import render_html

SPENDING = [{"team": name, "submissions": 1, "surprises": 0, "nats": nats} for name, nats in (("a", 1.0), ("b", 3.0))]
PEOPLE: dict[str, Any] = {"accounts": [], "roles": ["participant"]}


def test_spending_is_sorted_and_shares_add_up() -> None:
    page = show_board_management(BOARD, spending=SPENDING, allowed=5, **PEOPLE)
    assert [(row["team"], row["share"]) for row in page.data["spending"]] == [("b", 0.75), ("a", 0.25)]
    assert page.data["secret"] is None


def test_a_holdout_tells_who_asked_and_knows_no_teams() -> None:
    spending = [*SPENDING, {"team": "", "submissions": 2, "surprises": 1, "nats": 0.0}]
    page = show_holdout_management(HOLDOUT, spending=spending, currency="nats", **PEOPLE)
    assert [(row["account"], row["asked"]) for row in page.data["spending"]] == [("b", 1), ("a", 1), (None, 2)]
    html = render_html(page, OWNER)
    assert "no account" in html
    assert 'name="team"' not in html
    assert 'action="/holdouts/churn/manage"' in html
    assert "Close the board" not in html
    assert "one without a guess, and a final value" in html  # which are counted as surprises in the table


def test_a_role_is_not_broken_in_two() -> None:
    people = {"accounts": [{"name": "a", "team": "t", "role": "participant", "tokens": 1}], "roles": ["participant"]}
    html = render_html(show_board_management(BOARD, spending=SPENDING, allowed=5, **people), OWNER)
    assert 'class="word" data-label="Role">participant<' in html


def test_nothing_was_spent_yet() -> None:
    assert "Nothing has been asked yet." in render_html(
        show_holdout_management(HOLDOUT, spending=[], currency="nats", **PEOPLE), OWNER
    )
