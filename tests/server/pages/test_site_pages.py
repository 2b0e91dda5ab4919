from __future__ import annotations

from tests.server.pages.page_gallery import SUBMISSIONS, standings, submission
from unworn.server.pages.site_pages import front_of, show_home, show_problem, show_sign_in
from unworn.server.pages.template_environment import render_html


def test_the_front_is_of_those_with_an_interval() -> None:
    front = front_of(standings(SUBMISSIONS), most=3)
    assert [row["team"] for row in front] == ["Tidewater", "Octave", "Northern Lights"]
    unchecked = submission(1, "Sieve", None, status="unchecked", why="why", practice=0.9)
    assert front_of(standings([unchecked])) == []


def test_home_says_what_to_do_where_there_is_nothing() -> None:
    assert 'href="/sign-in"' in render_html(show_home([], []))


def test_a_link_is_shown_with_its_name_and_is_not_used_up_by_looking() -> None:
    html = render_html(show_sign_in(code="c0de", name="bo"))
    assert "Sign in as bo" in html
    assert 'method="post"' in html
    assert 'name="code" value="c0de"' in html


def test_every_status_has_words() -> None:
    for status in (400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 501, 503):
        page = show_problem(status, "nothing was charged")
        html = render_html(page)
        assert page.status == status
        assert f"<h1>{page.title}</h1>" in html
        assert "Nothing was charged" in html
