"""The pages that belong to no board and no holdout: the first one, signing in and out, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unworn.boards.standings import Standings
from unworn.server.pages.web_page import Notice, WebPage, end_sentence, turn_pages

_TITLES = {
    401: "Please sign in",
    403: "Not for this account",
    404: "There is nothing here",
    405: "Not this way",
    409: "Refused",
    413: "Too large",
    422: "That cannot be used",
    429: "Too many requests",
    503: "Not at the moment",
}
_ADVICE = {
    401: "Open the link from your invitation, or paste your token on the sign-in page.",
    403: "If you should have access, ask whoever invited you.",
    404: "The address may be mistyped, or be for another account.",
    429: "Wait a moment and load the page again.",
    503: "Nothing was charged for what was not answered. Try again in a moment.",
}


def show_home(
    boards: Sequence[Mapping[str, Any]],
    holdouts: Sequence[Mapping[str, Any]],
    pages: Mapping[str, str | None] | None = None,
) -> WebPage:
    """What there is to see for this viewer."""
    data = {
        "boards": [dict(board) for board in boards],
        "holdouts": [dict(holdout) for holdout in holdouts],
        "pages": dict(pages or turn_pages("/", 1, 0)),
    }
    return WebPage("home.html", "Boards and holdouts", data, "/index.json")


def front_of(standings: Standings, most: int = 5) -> list[dict[str, Any]]:
    """The first few with an interval, for a board's line on the first page."""
    known = [row for row in standings.rows if row.submission.is_checked and row.submission.value is not None]
    return [
        {
            "team": row.team,
            "value": row.submission.value,
            "low": row.submission.low,
            "high": row.submission.high,
            "surprise": row.submission.surprise,
        }
        for row in known[:most]
    ]


def show_sign_in(
    *,
    code: str | None = None,
    name: str | None = None,
    back: str = "/",
    notice: Notice | None = None,
    status: int = 200,
) -> WebPage:
    """Sign in by a one-time link, its code or a token; ``back`` is where to go then."""
    data = {"code": code, "name": name, "back": back, "message": notice and notice.to_json()}
    return WebPage("sign_in.html", "Sign in", data, None, None, status)


def show_signed_out() -> WebPage:
    return WebPage("signed_out.html", "Signed out", {}, None)


def show_problem(status: int, detail: str) -> WebPage:
    """What went wrong, and what to do next."""
    title = _TITLES.get(status, "Something went wrong" if status >= 500 else "That did not work")
    sentence = end_sentence(detail[:1].upper() + detail[1:])
    data = {"status": status, "detail": sentence, "advice": _ADVICE.get(status, "")}
    return WebPage("problem.html", title, data, None, None, status)
