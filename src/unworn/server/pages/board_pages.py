"""The pages of a board, made of what it has released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from unworn.boards.standings import PROVED, STEP_SOURCES, Standings
from unworn.boards.submission import CHECKED, NOT_BETTER, Submission
from unworn.server.pages.web_page import PER_PAGE, Notice, Viewer, WebPage, turn_pages

_FRAME = ("number", "id", "team", "name", "at", "metric", "practice", "status", "value", "low", "high", "surprise")
"""What standings tell of a submission. Its message is its team's own."""


@dataclass(frozen=True)
class BoardFacts:
    """What everybody may know of a board, on all its pages."""

    name: str
    title: str
    metric: str
    size: int
    practice_size: int
    confidence: float
    closed: bool
    rule: str

    @property
    def address(self) -> str:
        return f"/boards/{quote(self.name, safe='')}"


def make_board_page(
    board: BoardFacts, section: str, words: str, data: Mapping[str, Any], *, path: str | None = None, status: int = 200
) -> WebPage:
    """A page with the board's head and tabs."""
    address = board.address + ("" if path is None else path)
    return WebPage(
        f"{section}.html",
        f"{words}: {board.title}" if words else board.title,
        {"board": asdict(board), **data},
        f"{address}.json",
        section,
        status,
    )


def show_standings(
    board: BoardFacts, standings: Standings, viewer: Viewer, *, chart: str | None = None, page: int = 1
) -> WebPage:
    """Who is ahead, as far as the intervals can tell; so many teams to a page."""
    shown = standings.rows[PER_PAGE * (page - 1) : PER_PAGE * page]
    rows = [
        {
            "rank": row.rank,
            "is_shared": row.is_shared,
            "is_step": row.is_step,
            "is_own": viewer.team is not None and row.team == viewer.team,
            "tries": row.tries,
            **{name: value for name, value in row.submission.to_json().items() if name in _FRAME},
            "verdict": describe_score(row.submission),
            "word": short_word(row.submission),
        }
        for row in shown
    ]
    data = {
        "standings": rows,
        "teams": len(standings.rows),
        "higher_is_better": standings.higher_is_better,
        "chart": chart if any(row["value"] is not None for row in rows) else None,
        "pages": turn_pages(board.address, page, len(standings.rows)),
        **_describe_columns(rows),
    }
    return make_board_page(board, "standings", "", data).at_page(page)


def show_submit_form(
    board: BoardFacts, *, ids: int, address: str, request: str, notice: Notice | None = None, status: int = 200
) -> WebPage:
    """Where a file is sent. ``request`` makes sure that a form sent twice is charged once."""
    data = {"ids": ids, "address": address, "request": request, "message": notice and notice.to_json()}
    return make_board_page(board, "submit", "Submit", data, path="/submit", status=status)


def show_history(
    board: BoardFacts,
    team: str | None,
    submissions: Sequence[Submission],
    *,
    surprises: int,
    allowed: int | None,
    page: int = 1,
) -> WebPage:
    """What a team has sent, the latest first, so many to a page."""
    latest = sorted(submissions, key=lambda each: -each.number)[PER_PAGE * (page - 1) : PER_PAGE * page]
    rows = [{**each.to_json(), "verdict": describe_score(each), "word": short_word(each)} for each in latest]
    data = {
        "team": team,
        "submissions": rows,
        "total": len(submissions),
        "spending": {"surprises": surprises, "allowed": allowed},
        "pages": turn_pages(f"{board.address}/mine", page, len(submissions)),
        **_describe_columns(rows),
    }
    return make_board_page(board, "mine", "My submissions", data, path="/mine").at_page(page)


def show_submission(
    board: BoardFacts, submission: Submission, *, is_own: bool, notice: Notice | None = None
) -> WebPage:
    """One submission with its interval and its certificates; the message is for its own team and the organiser."""
    told = submission.to_json() if is_own else {**submission.to_json(), "message": None}
    data = {"submission": told, "verdict": describe_score(submission), "message": notice and notice.to_json()}
    path = f"/submissions/{submission.id}"
    return make_board_page(board, "submission", f"Submission {submission.number}", data, path=path)


def show_rules(
    board: BoardFacts,
    *,
    promise: Sequence[str],
    scoring: Sequence[str],
    conduct: Sequence[str],
    numbers: Mapping[str, str],
) -> WebPage:
    """What the board promises and what it asks for."""
    data = {
        "promise": list(promise),
        "scoring": list(scoring),
        "conduct": list(conduct),
        "numbers": list(numbers.items()),
    }
    return make_board_page(board, "rules", "Rules", data, path="/rules")


def show_final(
    board: BoardFacts,
    finals: Sequence[Mapping[str, Any]],
    *,
    submissions: int,
    closed_at: float,
    higher_is_better: bool = True,
) -> WebPage:
    """What remains of a board that was closed, the best first; the JSON twin is the signed summary itself."""
    ordered = sorted(finals, key=lambda row: row["value"], reverse=higher_is_better)
    rows = [{**row, "surprise": False, "practice": None} for row in ordered]
    data = {"finals": rows, "submissions": submissions, "closed_at": closed_at}
    return make_board_page(board, "final", "Final numbers", data, path="/final")


def _describe_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    """Which columns a table needs: where steps alone are told there is nothing to draw."""
    has_intervals = any(row["low"] is not None for row in rows)
    has_practice = any(row["practice"] is not None for row in rows)
    return {
        "has_intervals": has_intervals,
        "has_practice": has_practice,
        "is_drawn": has_intervals or has_practice,
    }


def describe_score(submission: Submission) -> str:
    """What a score means, in a sentence."""
    if submission.status != CHECKED:
        return submission.why or "Not checked: this is the practice score only, and nothing is promised about it."
    if submission.source == NOT_BETTER:
        return "Not certainly better than the best so far; no value of its own is told."
    if submission.source == PROVED:
        return "A proven step: certainly better than the best before it."
    if submission.source in STEP_SOURCES:
        return "Better than the best before it by a rule of thumb, which proves nothing."
    if submission.low is None:
        return "The first one: those that follow are compared with it."
    if submission.surprise:
        return "A surprise: the sealed rows do not confirm the practice score. What they say is certified."
    return "Confirmed: the sealed rows agree with the practice score."


def short_word(submission: Submission) -> str:
    """What stands in a table in place of a value."""
    return submission.status if submission.status != CHECKED else submission.source or CHECKED
