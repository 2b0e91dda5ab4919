"""Charts of the one chart module as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from unworn import charts
from unworn.boards.standings import Standings
from unworn.record.answer import Answer
from unworn.server.pages.board_pages import BoardFacts

_MOST_TEAMS = 40
_LONGEST_LABEL = 32
"""Characters of a team's name: browsers have wider letters than whoever lays out the figure, and would cut it off."""


def draw_standings(board: BoardFacts, standings: Standings) -> str:
    """The best teams, each with its interval."""
    rows = [
        {
            "index": row.submission.number,
            "label": row.team if len(row.team) <= _LONGEST_LABEL else f"{row.team[: _LONGEST_LABEL - 1]}…",
            "value": row.submission.value,
            "low": row.submission.low,
            "high": row.submission.high,
            "source": "surprise" if row.submission.surprise else row.submission.source or "",
        }
        for row in standings.rows
        if row.submission.is_checked and row.submission.value is not None
    ]
    chart = charts.ranking(
        rows[:_MOST_TEAMS],
        metric=board.metric,
        title=board.title,
        subtitle=f"certified intervals, {100 * board.confidence:g} % together, on {board.size:,} sealed rows",
    )
    return charts.svg_text(chart)


def draw_answers(name: str, answers: Sequence[Answer]) -> str:
    """Answers in the order of the ledger."""
    rows = [answer.row() for answer in reversed(answers)]
    return charts.svg_text(charts.intervals(rows, title=f"What {name} was asked", subtitle="each with its interval"))
