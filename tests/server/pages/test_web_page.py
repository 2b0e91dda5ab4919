from __future__ import annotations

from unworn.boards.board_errors import InvalidSubmission
from unworn.errors import Exhausted
from unworn.server.pages.site_pages import show_problem
from unworn.server.pages.template_environment import render_html
from unworn.server.pages.web_page import NOBODY, notice_of, turn_pages


def test_problems_of_a_file_are_told_one_by_one() -> None:
    notice = notice_of(InvalidSubmission.of(["line 3: the id 'a' occurs twice", "2 ids are missing"]))
    assert notice.tone == "refused"
    assert notice.headline == "This file cannot be scored: 2 problems."
    assert notice.lines == ("line 3: the id 'a' occurs twice", "2 ids are missing")
    assert notice.text == "Nothing was charged: mend the file and send it again."


def test_a_refusal_keeps_its_numbers() -> None:
    notice = notice_of(Exhausted("the next answer would be ± 0.056\n  churn · 10 000 rows\n  Raise max_width."))
    assert notice.headline == "The next answer would be ± 0.056."
    assert notice.text == "churn · 10 000 rows Raise max_width."


def test_how_many_more_problems_there_are_stands_below_them() -> None:
    notice = notice_of(InvalidSubmission.of([f"line {line}: no" for line in range(2, 7)], 100))
    assert notice.lines[0] == "line 2: no"
    assert notice.lines[-1].startswith("…")
    assert notice.text == "Nothing was charged: mend the file and send it again."


def test_a_name_in_front_keeps_its_letters() -> None:
    assert notice_of(Exhausted("age may be missing: average it with fill")).headline.startswith("age may")


def test_nobody_may_do_anything() -> None:
    assert (NOBODY.can_submit, NOBODY.can_ask, NOBODY.is_owner) == (False, False, False)


def test_a_problem_says_what_to_do() -> None:
    page = show_problem(403, "this account may not see a board of that name")
    assert page.status == 403
    assert "ask whoever invited you" in render_html(page)


def test_pages_end_where_the_lines_end() -> None:
    assert turn_pages("/a", 1, 0) == {"before": None, "after": None}
    assert turn_pages("/a", 3, 120) == {"before": "/a?page=2", "after": None}
