"""How a board ends: nothing more is taken, exact values are told once, and everything is written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unworn.basics.durable_files import write_durably
from unworn.basics.json_text import write_json
from unworn.boards.closing.board_summary import BoardSummary, FinalScore, sign_summary
from unworn.boards.closing.final_page import final_page
from unworn.boards.metered_asks import is_answered
from unworn.boards.standings import Standing, Standings
from unworn.boards.submission import Submission
from unworn.errors import Refused, Unaskable
from unworn.queries.composite import Question
from unworn.queries.metrics.paired_query import compare_questions
from unworn.record.derived_answer import DerivedAnswer

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.record.answer import Answer

_FAILED = ("failed", "interrupted")


def close_board(board: Board, top: int) -> BoardSummary:
    """Close a board, or finish closing it: what was told before is told again, and nothing is charged twice.

    The board is marked as closed first, so that no submission comes after the final numbers.
    """
    if top < 1:
        raise Refused(f"top is a whole number of at least 1, not {top!r:.40}")
    board.holdout  # noqa: B018  opened before the turn is taken: opening may need one itself
    with board._turn:
        board._reconcile()  # what was charged is told, also where another process crashed
        closing = board.retire_rows(top)
        standings = board.standings()
        chosen = [row for row in standings.rows if row.rank is not None][: closing["top"]]
        finals = _finals(board, chosen)
        return _write(board, standings, finals, closing["at"])


def _finals(board: Board, chosen: list[Standing]) -> tuple[FinalScore, ...]:
    """Exact values of the best, all fixed together; none where the mechanism has none to give."""
    if not chosen:
        return ()
    is_paired = board.config.rule == "ladder" and board.config.step is None
    rows = [row.submission for row in chosen]
    questions = [board.question(board.predictions(one.id)) for one in rows]
    if is_paired:
        best, rows = questions[0], rows[1:]
        questions = [compare_questions(each, best) for each in questions[1:]]
    if not questions:
        return ()
    asked = [_answer(board, question, one) for question, one in zip(questions, rows, strict=True)]
    try:
        told = board.holdout.final(asked, by="the organiser")
    except Unaskable:
        return ()
    made = []
    for one, answer in zip(rows, told, strict=True):
        if answer.source in _FAILED:
            continue
        parts = answer.parts if isinstance(answer, DerivedAnswer) else (answer,)
        indexes = tuple(part.index for part in parts)
        made.append(FinalScore(one.team, one.id, answer.value, answer.low, answer.high, indexes, is_paired))
    return tuple(made)


def _answer(board: Board, question: Question, one: Submission) -> Any:
    """What a final value is the last word on: the recorded answer, with its name and tags, where there is one."""
    if not is_answered(board.holdout, question):
        return question
    found: Answer | DerivedAnswer = board.holdout.ask(question, by=one.team)
    return found


def _write(board: Board, standings: Standings, finals: tuple[FinalScore, ...], at: float) -> BoardSummary:
    folder = board.folder / "final"
    folder.mkdir(mode=0o755, exist_ok=True)
    holdout = board.holdout
    key = holdout._desk.writable()
    told = {
        "board": board.name,
        "title": board.title,
        "settings": board.config.public(),
        "rows": board.size,
        "practice_rows": board.practice_size,
        "confidence": board.config.confidence,
        "closed_at": at,
        "submissions": len(board.submissions()),
        "finals": [each.to_json() for each in finals],
        "standings": standings.to_json(),
        "spending": [each.to_json() for each in board.spending()],
        "ledger": {"holdout": holdout.id, "head": holdout.head, "answers": holdout.meter.asked},
    }
    document = sign_summary(json.loads(json.dumps(told)), holdout._desk.transcript.first, key)
    _write_cards(board, finals, folder / "cards")
    write_durably(folder / "index.html", final_page(document).encode(), mode=0o644, replace=True)
    write_durably(folder / "summary.json", write_json(document).encode(), mode=0o644, replace=True)
    return BoardSummary(finals, standings, document, folder)


def _write_cards(board: Board, finals: tuple[FinalScore, ...], folder: Path) -> None:
    """One card per entry: of every submission, and of every final number."""
    folder.mkdir(mode=0o755, exist_ok=True)
    wanted = {index for one in board.submissions() for index in one.indexes}
    wanted |= {index for each in finals for index in each.indexes}
    desk = board.holdout._desk
    for index in sorted(wanted):
        with desk.order():
            card = desk.answer(index).certificate
        (folder / f"answer-{index:06}.json").write_text(write_json(card.to_json()), encoding="utf-8")
