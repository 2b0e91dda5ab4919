"""One of every page, made of values by hand: what the tests draw, and what is looked at when the design changes."""

from __future__ import annotations

import numpy as np

from unworn import Holdout, col, share
from unworn.boards.standings import Standings
from unworn.boards.submission import Submission
from unworn.record.answer import Answer
from unworn.server.pages import board_pages, holdout_pages, management_pages, site_pages
from unworn.server.pages.web_page import NOBODY, Notice, Viewer, WebPage

NASTY = "<script>alert(1)</script>\u202e\x1b[31m\"'><img src=x onerror=alert(2)>"
OWNER = Viewer("ann", "owner", "organisers", "c5rf", frozenset({"see", "submit", "ask", "manage"}))
PARTICIPANT = Viewer("bo", "participant", "Tidewater", "c5rf", frozenset({"see", "submit"}))
BOARD = board_pages.BoardFacts(
    "intents", "Customer intents, spring round", "accuracy", 5000, 5000, 0.95, False, "practice-and-check"
)
CLOSED = board_pages.BoardFacts(
    "intents", "Customer intents, spring round", "accuracy", 5000, 5000, 0.95, True, "practice-and-check"
)
LADDER = board_pages.BoardFacts("steps", "Steps", "accuracy", 5000, 0, 0.95, False, "ladder")
HOLDOUT = holdout_pages.HoldoutFacts("churn", 7500, 2500, 0.95, False)
COLUMNS = [{"name": "age", "kind": "number"}, {"name": "plan", "kind": "text"}, {"name": "churned", "kind": "bool"}]


def submission(number: int, team: str, value: float | None, **given: object) -> Submission:
    half = 0.021
    told: dict[str, object] = {
        "id": f"{number:016x}",
        "number": number,
        "team": team,
        "name": None,
        "message": None,
        "at": 1_790_000_000.0 + 3600 * number,
        "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "metric": "accuracy",
        "practice": None if value is None else round(value + 0.004, 4),
        "practice_error": 0.0057,
        "status": "checked",
        "why": None,
        "indexes": (number,),
        "value": value,
        "low": None if value is None else value - half,
        "high": None if value is None else value + half * 0.93,
        "source": "guess",
        "surprise": False,
    }
    return Submission(**{**told, **given})  # type: ignore[arg-type]


SUBMISSIONS = [
    submission(1, "Baseline", 0.6124, name="majority class per channel"),
    submission(2, "Tidewater", 0.7418, name="tf-idf, linear"),
    submission(3, "Northern Lights", 0.7931, name="small encoder"),
    submission(4, "Tidewater", 0.8312, name="encoder, 3 seeds", message="wider beam, label smoothing .1"),
    submission(5, "Octave", 0.8267, name="distilled, 8 bit"),
    submission(
        6,
        "Night Shift",
        0.781,
        name="vote of the best 150",
        practice=0.858,
        source="surprise",
        surprise=True,
        low=0.752,
        high=0.811,
    ),
    submission(7, "Tidewater", 0.8299, name="encoder, 5 seeds"),
    submission(
        8,
        "Sieve",
        None,
        name="probe 41",
        status="unchecked",
        why="The team has used up its 5 surprises: this is its practice score only.",
        practice=0.8473,
        indexes=(),
        source=None,
    ),
]


STEPS = [
    submission(number, team, None, practice=None, source=source)
    for number, team, source in (
        (1, "Octave", "first"),
        (2, "Sieve", "better"),
        (3, "Octave", "not better"),
        (4, "Octave", "better"),
    )
]


def nasty_submissions() -> list[Submission]:
    return [submission(number, NASTY, value, name=NASTY, message=NASTY) for number, value in ((1, 0.7), (2, 0.8))]


def standings(submissions: list[Submission]) -> Standings:
    return Standings.of(submissions, higher_is_better=True, rule="practice-and-check", closed=False)


def holdout_answers() -> tuple[Holdout, list[Answer]]:
    rng = np.random.default_rng(3)
    holdout = Holdout(
        {"age": rng.integers(18, 90, 7500), "plan": rng.choice(["basic", "pro"], 7500)}, name="churn", ledger=None
    )
    answers = [
        holdout.ask(share(col("age") > 65), guess=0.33, by="ann"),
        holdout.ask(share(col("plan") == "basic"), guess=0.2, by="bo", name="basic plans"),
        holdout.ask(share((col("age") > 30) & (col("plan") == "pro")), guess=0.41),
    ]
    return holdout, answers


def gallery() -> dict[str, tuple[WebPage, Viewer]]:
    """Every page by a short name, with who looks at it."""
    holdout, answers = holdout_answers()
    latest = answers[::-1]
    quote = holdout_pages.describe_quote(
        holdout.quote(share(col("age") > 40), 0.7), "share of age > 40", holdout_pages.AskWords("age > 40", "0.7")
    )
    boards = [
        {
            "name": "intents",
            "title": BOARD.title,
            "metric": "accuracy",
            "size": 5000,
            "submissions": 8,
            "closed": False,
            "front": site_pages.front_of(standings(SUBMISSIONS)),
        },
        {
            "name": "toxicity",
            "title": "Toxicity, 2026",
            "metric": "f1",
            "size": 12000,
            "submissions": 1204,
            "closed": True,
            "front": [],
        },
    ]
    holdouts = [{"name": "churn", "size": 7500, "closed": False, "meter": holdout.meter.to_json()}]
    refusal = Notice(
        "refused",
        "This file cannot be scored: 3 problems.",
        "Nothing was charged: mend the file and send it again.",
        (
            "line 4: the id '17' occurs a second time",
            "line 9: the id 'x' is not one of this board's",
            "3 ids are missing, such as '88'",
        ),
    )
    chain = [
        {
            "index": answer.index,
            "what": answer.full_label,
            "hash": answer.certificate.head,
            "at": answer.certificate.record.at,
        }
        for answer in latest
    ] + [{"index": 0, "what": "the terms", "hash": answers[0].certificate.first.hash, "at": None}]
    ledger = {
        "length": 4,
        "page": 1,
        "head": holdout.head,
        "public_key": holdout.terms.public,
        "mechanism": "GuessAndCheck",
    }
    spending = [
        {"team": "Tidewater", "submissions": 3, "surprises": 0, "nats": 0.4},
        {"team": "Sieve", "submissions": 46, "surprises": 5, "nats": 51.2},
        {"team": "Night Shift", "submissions": 152, "surprises": 1, "nats": 10.9},
    ]
    accounts = [
        {"name": "ann", "team": "organisers", "role": "owner", "tokens": 1},
        {"name": "bo", "team": "Tidewater", "role": "participant", "tokens": 2},
    ]
    own = [each for each in SUBMISSIONS if each.team == "Tidewater"]
    promise = {
        "promise": [
            "With 5,000 sealed rows, a confirmed score is good to ± 0.029, all together with probability 95 %."
        ],
        "scoring": ["Practice rows give the exact score; the sealed rows confirm it, or say what they find."],
        "conduct": ["Make predictions row by row, by a rule that was fixed without these rows."],
        "numbers": {"sealed rows": "5,000", "practice rows": "5,000", "surprises a team": "5"},
    }
    manage = {
        "spending": spending,
        "allowed": 5,
        "accounts": accounts,
        "roles": ["participant", "viewer", "analyst", "owner"],
    }
    finals = [
        {
            "team": "Tidewater",
            "submission": "4",
            "value": 0.8304,
            "low": 0.8193,
            "high": 0.8411,
            "indexes": [9],
            "is_difference": False,
        },
        {
            "team": "Octave",
            "submission": "5",
            "value": 0.8281,
            "low": 0.8168,
            "high": 0.8389,
            "indexes": [10],
            "is_difference": False,
        },
    ]
    return {
        "final": (board_pages.show_final(CLOSED, finals, submissions=8, closed_at=1.79e9), PARTICIPANT),
        "final-empty": (board_pages.show_final(CLOSED, [], submissions=0, closed_at=1.79e9), NOBODY),
        "home": (site_pages.show_home(boards, holdouts), PARTICIPANT),
        "home-empty": (site_pages.show_home([], []), NOBODY),
        "standings": (board_pages.show_standings(BOARD, standings(SUBMISSIONS), PARTICIPANT, chart=None), PARTICIPANT),
        "standings-empty": (board_pages.show_standings(BOARD, standings([]), NOBODY), NOBODY),
        "submit": (
            board_pages.show_submit_form(
                BOARD, ids=10000, address="http://127.0.0.1:8765/boards/intents", request="k3y"
            ),
            PARTICIPANT,
        ),
        "submit-refused": (
            board_pages.show_submit_form(
                BOARD,
                ids=10000,
                address="http://127.0.0.1:8765/boards/intents",
                request="k3y",
                notice=refusal,
                status=422,
            ),
            PARTICIPANT,
        ),
        "submit-closed": (board_pages.show_submit_form(CLOSED, ids=10000, address="", request="k3y"), PARTICIPANT),
        "mine": (board_pages.show_history(BOARD, "Tidewater", own, surprises=0, allowed=5), PARTICIPANT),
        "mine-empty": (board_pages.show_history(BOARD, "Tidewater", [], surprises=0, allowed=5), PARTICIPANT),
        "rules": (board_pages.show_rules(BOARD, **promise), NOBODY),
        "manage": (
            management_pages.show_board_management(
                BOARD,
                **manage,
                secret={
                    "name": "cy",
                    "link": "http://127.0.0.1:8765/sign-in/Zx81k3yZx81k3yZx81k3y",
                    "token": "unw_4cJ0example",
                },
            ),
            OWNER,
        ),
        "manage-holdout": (
            management_pages.show_holdout_management(
                HOLDOUT,
                spending=[
                    {"team": "ann", "submissions": 41, "surprises": 3, "nats": 30.1},
                    {"team": "", "submissions": 2, "surprises": 0, "nats": 0.02},
                ],
                currency="nats",
                accounts=accounts[:1],
                roles=["analyst", "viewer", "owner"],
            ),
            OWNER,
        ),
        "standings-of-steps": (
            board_pages.show_standings(LADDER, standings(STEPS), PARTICIPANT, chart=None),
            PARTICIPANT,
        ),
        "mine-of-steps": (board_pages.show_history(LADDER, "Octave", STEPS, surprises=0, allowed=None), PARTICIPANT),
        "submission": (
            board_pages.show_submission(
                BOARD, SUBMISSIONS[3], is_own=True, notice=Notice("done", "Scored.", SUBMISSIONS[3].line)
            ),
            PARTICIPANT,
        ),
        "submission-surprise": (board_pages.show_submission(BOARD, SUBMISSIONS[5], is_own=False), PARTICIPANT),
        "submission-unchecked": (board_pages.show_submission(BOARD, SUBMISSIONS[7], is_own=False), NOBODY),
        "holdout": (holdout_pages.show_ask_form(HOLDOUT, holdout.meter, columns=COLUMNS, answers=latest), OWNER),
        "holdout-quote": (
            holdout_pages.show_ask_form(HOLDOUT, holdout.meter, columns=COLUMNS, answers=latest, quote=quote),
            OWNER,
        ),
        "answers": (holdout_pages.show_answers(HOLDOUT, latest, total=120, page=1, chart=None), OWNER),
        "ledger": (
            holdout_pages.show_ledger(
                HOLDOUT,
                chain,
                **ledger,
                notice=Notice("done", "The ledger holds.", "4 entries, every hash, signature, price and interval."),
            ),
            OWNER,
        ),
        "report": (holdout_pages.show_report(HOLDOUT, holdout.meter), OWNER),
        "card": (
            holdout_pages.show_card(answers[1].certificate, place="churn", index=2, back="/holdouts/churn"),
            NOBODY,
        ),
        "sign-in": (site_pages.show_sign_in(), NOBODY),
        "sign-in-link": (site_pages.show_sign_in(code="Zx81", name="bo"), NOBODY),
        "signed-out": (site_pages.show_signed_out(), NOBODY),
        "problem": (site_pages.show_problem(404, "there is no board of that name here"), NOBODY),
    }
