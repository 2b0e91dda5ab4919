from __future__ import annotations

from tests.server.pages.page_gallery import COLUMNS, HOLDOUT, OWNER, holdout_answers
from unworn import col, share
from unworn.record.certificate import Certificate
from unworn.server.pages.holdout_pages import (
    AskWords,
    describe_answer,
    describe_quote,
    show_ask_form,
    show_card,
)
from unworn.server.pages.template_environment import render_html


def test_a_quote_tells_both_prices_before_anything_is_charged() -> None:
    holdout, _ = holdout_answers()
    asked = holdout.meter.asked
    quote = describe_quote(holdout.quote(share(col("age") > 40), 0.7), "share of age > 40", AskWords("age > 40", "0.7"))
    assert "If the rows agree with the guess" in quote["sentences"][0]
    assert "At worst" in quote["sentences"][1]
    assert holdout.meter.asked == asked
    html = render_html(show_ask_form(HOLDOUT, holdout.meter, columns=COLUMNS, answers=[], quote=quote), OWNER)
    assert "Ask, and be charged" in html
    assert 'action="/holdouts/churn/ask"' in html


def test_a_repeat_is_free_and_says_so() -> None:
    holdout, _ = holdout_answers()
    quote = describe_quote(
        holdout.quote(share(col("age") > 65), 0.33), "share of age > 65", AskWords("age > 65", "0.33")
    )
    assert quote["repeat"]
    assert "free" in quote["sentences"][0]


def test_the_card_on_the_page_is_the_card_that_is_verified() -> None:
    _, answers = holdout_answers()
    page = show_card(answers[0].certificate, place="churn", index=1, back="/holdouts/churn")
    Certificate.from_json(page.data["card"]).verify()
    assert page.twin == "/cards/churn/1.json"


def test_answers_are_marked_by_their_source() -> None:
    _, answers = holdout_answers()
    rows = [describe_answer(answer) for answer in answers]
    assert [row["surprise"] for row in rows] == [False, True, False]
    assert all(row["range"] == [0.0, 1.0] and row["has_value"] for row in rows)


def test_an_outcome_of_a_test_has_no_interval() -> None:
    holdout, _ = holdout_answers()
    verdict = holdout.test(share(col("age") > 65), above=0.1)
    html = render_html(show_card(verdict.certificate, place="churn", index=verdict.index, back="/"), OWNER)
    assert "rejected" in html
    assert 'class="reach"' not in html


def test_the_example_is_of_this_holdout() -> None:
    holdout, _ = holdout_answers()
    assert show_ask_form(HOLDOUT, holdout.meter, columns=COLUMNS, answers=[]).data["example"] == "age > 0"
    text = [{"name": "plan", "kind": "text"}]
    assert show_ask_form(HOLDOUT, holdout.meter, columns=text, answers=[]).data["example"] == "plan = 'yes'"
