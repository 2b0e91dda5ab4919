from __future__ import annotations

from tests.server.pages.page_gallery import BOARD, NASTY, SUBMISSIONS, holdout_answers, nasty_submissions, standings
from unworn.server.pages.drawn_charts import draw_answers, draw_standings


def test_standings_are_drawn_by_the_one_chart_module() -> None:
    svg = draw_standings(BOARD, standings(SUBMISSIONS))
    assert svg.startswith("<svg")
    assert "Northern Lights" in svg
    assert "Sieve" not in svg  # nothing of it is certified


def test_names_in_a_picture_are_text() -> None:
    svg = draw_standings(BOARD, standings(nasty_submissions()))
    assert "<script" not in svg
    assert "<img" not in svg
    _, answers = holdout_answers()
    assert "<script" not in draw_answers(NASTY, answers[::-1])
