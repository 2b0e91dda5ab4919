"""Board: a leaderboard over a holdout. Anyone may submit as often as they like, and nobody can overfit it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from unworn.basics.display import show_value
from unworn.basics.plain_text import plain_text
from unworn.boards.board_errors import BoardClosed, InvalidSubmission
from unworn.boards.board_view import BoardView
from unworn.boards.files.prediction_shapes import prediction_shape
from unworn.boards.files.predictions_check import Predictions, check_predictions, place_of_fraction
from unworn.boards.files.table_files import read_table_file
from unworn.boards.scoring_rules import FIRST, PracticeScore
from unworn.boards.standings import STEP_SOURCES
from unworn.boards.submission import Submission
from unworn.boards.submission_table import DraftSubmission
from unworn.database import RunSQL
from unworn.errors import Refused
from unworn.queries.composite import Question

if TYPE_CHECKING:
    from unworn.boards.closing.board_summary import BoardSummary

T = TypeVar("T")
LONGEST_TEAM, LONGEST_NAME, LONGEST_MESSAGE, LONGEST_REQUEST = 100, 200, 2_000, 200


class Board(BoardView):
    """The board in a folder. ``Board.create`` makes one; this opens it.

    Everything that is shown of it is a function of the ledger and of what was sent. ``ledger`` and ``database`` say
    where these are, if not in the folder; ``board.toml`` may say so too.
    """

    @classmethod
    def create(cls, folder: str | Path, labels: Any, **settings: Any) -> Board:
        """Make a board: ``create(folder, labels, id=, target=, metric=, …)``; see :func:`create_board`."""
        from unworn.boards.board_making import create_board

        return create_board(folder, labels, **settings)

    # ---- submitting

    def validate(self, source: Any, format: str | None = None) -> Predictions:
        """Check a file without looking at labels: free and unlimited. ``InvalidSubmission`` names lines."""
        if isinstance(source, Predictions):
            return source
        most = 2 * len(self._places) + 1000
        table = read_table_file(source, format, max_bytes=self.config.max_bytes, max_rows=most)
        shape = prediction_shape(self.config)
        found = self._questions.canonical(
            check_predictions(table, shape, self.config.id, self.config.target, self._places)
        )
        try:
            self._questions.check(self.holdout, found)
        except InvalidSubmission as why:
            place = place_of_fraction(table, shape, self.config.target)
            raise InvalidSubmission.of([place + why.numbers["problems"][0]]) from None
        return found

    def submit(
        self,
        source: Any,
        *,
        team: str,
        name: str | None = None,
        message: str | None = None,
        format: str | None = None,
        request: str | None = None,
    ) -> Submission:
        """Score a file of predictions, and record it. The same file by the same team again is free, and the same.

        ``request`` is an idempotency key: whoever repeats a request that was cut off gets what it made.
        """
        team = _checked(team, "team", LONGEST_TEAM)
        name = None if not name else _checked(name, "name", LONGEST_NAME)
        message = None if not message else _checked(message, "message", LONGEST_MESSAGE)
        request = None if request is None else _checked(request, "request", LONGEST_REQUEST)
        predictions = self.validate(source, format)
        id = self.submission_id(team, predictions)
        known = self._table.find(id)
        if known is not None and request is None:
            return known
        if known is None:
            self._check_open()
        begun = self._table.begin(id, team, predictions, name, message, request)
        if isinstance(begun, Submission):
            return begun
        return self._finish(begun, self.question(predictions))

    def submission_id(self, team: str, predictions: Predictions) -> str:
        """A submission is known by its team and its predictions: sent twice, it is the same."""
        whole = f"{self._facts['holdout']}\0{team}\0{predictions.digest}"
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def practice(self, question: Question) -> PracticeScore:
        """The exact score on the practice rows: free, and may wear out."""
        return self._questions.practice(self.holdout, question)

    def _finish(self, draft: DraftSubmission, question: Question, *, is_left: bool = False) -> Submission:
        """Ask, then enter what was told. ``is_left`` marks what a crash left charged and untold."""
        practice = self._practised(draft, question)

        def work(run: RunSQL) -> Submission | None:
            if run("SELECT 1 FROM submissions WHERE id = :id AND finished IS NOT NULL", id=draft.id):
                return None  # another thread or process was quicker
            best = partial(self._best_question, run)
            if not is_left:
                self._check_nothing_left(run, draft.id)
            if self._table.is_closed(run) and not self._rule.was_answered(question, best):
                self._refuse_closed()
            outcome = self._rule.score(draft, question, practice, best)
            made = Submission(
                draft.id,
                draft.number,
                draft.team,
                draft.name,
                draft.message,
                draft.at,
                draft.digest,
                self._questions.label,
                practice.value,
                practice.error,
                outcome.status,
                outcome.why,
                outcome.indexes,
                outcome.value,
                outcome.low,
                outcome.high,
                outcome.source,
                outcome.surprise,
            )
            self._table.finish(run, made)
            return made

        try:
            made = self.in_turn(work)
        except _LeftByCrash as left:
            self._finish(left.draft, left.question, is_left=True)
            return self._finish(draft, question)
        except Refused:
            self._table.drop(draft.id)
            raise
        return self.submission(draft.id) if made is None else made

    def in_turn(self, work: Callable[[RunSQL], T]) -> T:
        """Do what asks the check rows; whoever comes meanwhile waits, in this process and in others.

        What a team has left, and whether the board is closed, is looked at by ``work``, in its turn: of those who come
        at once, only as many are asked for as there is left. It may be done again, and asks the same then.
        """
        self.holdout  # noqa: B018  opened before the turn is taken: opening may need one itself

        def take(run: RunSQL) -> T:
            self._table.take_turn(run)
            return work(run)

        with self._turn:
            return self._table.database.transact(take)

    def _check_nothing_left(self, run: RunSQL, id: str) -> None:
        """Where rows are compared with the best: who crashed with an answer is told it before there is another best.

        Whoever holds the turn is the only one who asks, so a draft with an answer is one that its asker did not tell.
        """
        if not self._rule.compares_with_best:
            return
        for other in self._table.drafts(run):
            if other.id != id:
                question = self.question(self._table.predictions(other.digest, run))
                if self._rule.was_answered(question, partial(self._best_question, run)):
                    raise _LeftByCrash(other, question)

    def _practised(self, draft: DraftSubmission, question: Question) -> PracticeScore:
        """What can be done before it is this submission's turn."""
        try:
            practice = self.practice(question) if self.practice_size else PracticeScore()
            if self.config.is_own_grader and self._rule.will_ask(draft, question, practice, self._best_question):
                self._questions.grade_ahead(self.holdout, question)
        except Refused:
            self._table.drop(draft.id)
            raise
        return practice

    def _best_question(self, run: RunSQL | None = None) -> Question | None:
        """What a new submission must beat, where rows are compared: the last step, else the first submission."""
        known = self._table.finished(run)
        steps = [each for each in known if each.source in STEP_SOURCES or each.source == FIRST]
        if not steps:
            return None
        last = max(steps, key=lambda each: each.answered)
        return self.question(self._table.predictions(last.digest, run))

    def _reconcile(self) -> None:
        """Finish what a crash left unfinished and the ledger has answered: it was charged, and is told."""
        for draft in self._table.drafts():
            question = self.question(self._table.predictions(draft.digest))
            if self._rule.was_answered(question, self._best_question):
                self._finish(draft, question, is_left=True)

    def _check_open(self) -> None:
        if self.closed:
            self._refuse_closed()

    def _refuse_closed(self) -> None:
        raise BoardClosed(
            f"the board {self.name!r} is closed, and its rows are retired.\n"
            "  Its standings, cards and final numbers stay; a new board needs fresh labels.",
            board=self.name,
        )

    def retire_rows(self, top: int = 0) -> dict[str, Any]:
        """Take no more submissions, for good; ``top`` teams will have final numbers. What was noted first stays."""
        return dict(self._table.note("closed", {"at": round(time.time(), 3), "top": int(top)}, in_turn=True))

    def close_board(self, top: int = 10) -> BoardSummary:
        """Retire the rows: final numbers of the best ``top`` teams, a page, all cards and a signed summary."""
        from unworn.boards.closing.board_closing import close_board

        return close_board(self, top)


class _LeftByCrash(Exception):
    """A submission that was answered and not told."""

    def __init__(self, draft: DraftSubmission, question: Question) -> None:
        super().__init__(draft.id)
        self.draft, self.question = draft, question


def _checked(text: Any, what: str, most: int) -> str:
    plain = plain_text(text, most)
    if not plain or not plain.strip() or "\0" in plain:
        raise InvalidSubmission(f"{what} is a text of 1 to {most:,} characters, not {show_value(text)}")
    return plain.strip()
