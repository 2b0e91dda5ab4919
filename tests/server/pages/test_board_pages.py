from __future__ import annotations

from dataclasses import replace

from tests.server.pages.page_gallery import (
    BOARD,
    LADDER,
    OWNER,
    PARTICIPANT,
    STEPS,
    SUBMISSIONS,
    standings,
    submission,
)
from unworn.server.pages.board_pages import (
    describe_score,
    show_final,
    show_history,
    show_standings,
    show_submission,
    show_submit_form,
)
from unworn.server.pages.template_environment import render_html
from unworn.server.pages.web_page import Notice


def test_standings_tell_no_messages() -> None:
    page = show_standings(BOARD, standings(SUBMISSIONS), PARTICIPANT)
    assert "message" not in page.data["standings"][0]
    assert "wider beam" not in render_html(page, OWNER)


def test_a_team_without_a_rank_has_a_dash_and_no_interval() -> None:
    page = show_standings(BOARD, standings(SUBMISSIONS), PARTICIPANT)
    last = page.data["standings"][-1]
    assert (last["team"], last["rank"], last["low"], last["status"]) == ("Sieve", None, None, "unchecked")
    assert 'class="n rank">–<' in render_html(page, PARTICIPANT)


def test_shared_ranks_are_told_to_those_who_do_not_see_the_sign() -> None:
    assert "shared</span>" in render_html(show_standings(BOARD, standings(SUBMISSIONS), PARTICIPANT), PARTICIPANT)


def test_not_better_is_never_a_value() -> None:
    told = submission(9, "Octave", None, source="not better", low=0.7, high=0.9, practice=None)
    for page in (
        show_submission(BOARD, told, is_own=True),
        show_history(BOARD, "Octave", [told], surprises=0, allowed=None),
        show_standings(BOARD, standings([told]), PARTICIPANT),
    ):
        html = render_html(page, PARTICIPANT)
        assert "not better" in html
        assert 'class="dot" cx="5' not in html


def test_a_message_is_for_its_own_team() -> None:
    own, other = (show_submission(BOARD, SUBMISSIONS[3], is_own=own) for own in (True, False))
    assert "wider beam" in render_html(own, PARTICIPANT)
    assert "wider beam" not in render_html(other, PARTICIPANT)
    assert other.data["submission"]["message"] is None


def test_a_ladder_is_told_in_its_own_words() -> None:
    first, better = (submission(9, "Octave", None, source=word, practice=None) for word in ("first", "better"))
    assert describe_score(first) == "The first one: those that follow are compared with it."
    assert describe_score(better) == "A proven step: certainly better than the best before it."
    assert ">first</" in render_html(show_history(BOARD, "Octave", [first], surprises=0, allowed=None), PARTICIPANT)


def test_a_failed_grading_says_why() -> None:
    failed = submission(9, "Octave", None, status="failed", why="The grader failed.", practice=0.5)
    assert describe_score(failed) == "The grader failed."


def test_where_steps_alone_are_told_nothing_empty_is_drawn() -> None:
    """No axis without intervals, no column without practice rows, and no promise about intervals that are not there."""
    page = show_standings(LADDER, standings(STEPS), PARTICIPANT)
    html = render_html(page, PARTICIPANT)
    assert (page.data["has_intervals"], page.data["has_practice"], page.data["is_drawn"]) == (False, False, False)
    assert "proven step was better than the best before it" in html
    for word in ("Practice", "practice", 'class="axis"', 'class="legend"', "certified intervals"):
        assert word not in html
    with_intervals = render_html(show_standings(BOARD, standings(SUBMISSIONS), PARTICIPANT), PARTICIPANT)
    for word in ("Practice", 'class="axis"', 'class="legend"', "certified intervals"):
        assert word in with_intervals


def test_the_picture_of_one_submission_is_explained() -> None:
    for one, words, missing in (
        (SUBMISSIONS[3], ("> certified<", "practice score, exact"), ("a surprise",)),
        (SUBMISSIONS[5], ("certified, and a surprise", "practice score, exact"), ("> certified<",)),
        (STEPS[1], ("A proven step",), ("legend", "Practice")),
    ):
        html = render_html(show_submission(BOARD, one, is_own=True), PARTICIPANT)
        assert all(word in html for word in words)
        assert not any(word in html.partition("<article")[2].partition("</article")[0] for word in missing)


def test_a_long_refusal_shows_its_beginning() -> None:
    """Whoever mistook the file sees what is wrong at a glance; the rest is there for whoever opens it."""
    lines = tuple(f"id 'r{number}' is missing" for number in range(20))
    notice = Notice("refused", "This file cannot be scored: 20 problems.", "Nothing was charged.", lines)
    for shown, is_long in ((notice, True), (replace(notice, lines=lines[:5]), False)):
        page = show_submit_form(BOARD, ids=1, address="", request="k", notice=shown)
        html = render_html(page, PARTICIPANT)
        assert ("<details>" in html) == is_long
        assert html.count("<li>id &#39;r") == len(shown.lines)
        assert html.partition("<details>")[0].count("is missing") == 5


def test_a_rule_of_thumb_is_not_called_proven() -> None:
    told = describe_score(submission(9, "Octave", None, source="heuristically better", practice=None))
    assert "proves nothing" in told
    assert "certainly" not in told


def test_final_numbers_stand_in_order() -> None:
    numbers = [
        {
            "team": team,
            "value": value,
            "low": value - 0.01,
            "high": value + 0.01,
            "indexes": [1],
            "is_difference": False,
        }
        for team, value in (("a", 0.49), ("b", 0.51), ("c", 0.5))
    ]
    for is_higher, order in ((True, ["b", "c", "a"]), (False, ["a", "c", "b"])):
        page = show_final(BOARD, numbers, submissions=3, closed_at=0.0, higher_is_better=is_higher)
        assert [row["team"] for row in page.data["finals"]] == order


def test_the_latest_submission_comes_first() -> None:
    page = show_history(BOARD, "Tidewater", SUBMISSIONS, surprises=0, allowed=5)
    assert [row["number"] for row in page.data["submissions"]] == [8, 7, 6, 5, 4, 3, 2, 1]


def test_long_tables_are_turned_page_by_page() -> None:
    many = [submission(number, f"team {number}", 0.5 + number / 1000) for number in range(1, 121)]
    first, last = (show_standings(BOARD, standings(many), PARTICIPANT, page=page) for page in (1, 3))
    assert len(first.data["standings"]) == 50
    assert len(last.data["standings"]) == 20
    assert first.data["pages"] == {"before": None, "after": "/boards/intents?page=2"}
    assert "Lower ranks" in render_html(first, PARTICIPANT)
    assert (first.twin, last.twin) == ("/boards/intents.json", "/boards/intents.json?page=3")
    history = show_history(BOARD, "all", many, surprises=0, allowed=5, page=2)
    assert [row["number"] for row in history.data["submissions"]] == list(range(70, 20, -1))
