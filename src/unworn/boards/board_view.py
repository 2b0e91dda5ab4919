"""What can be seen of a board: what it is, what was submitted, who is ahead, who spent what, what it can promise."""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from unworn.basics.display import show_value
from unworn.basics.json_text import canonical
from unworn.boards.board_config import BoardConfig
from unworn.boards.board_errors import InvalidBoard, UnknownSubmission
from unworn.boards.board_promise import BoardPromise
from unworn.boards.board_questions import BoardQuestions
from unworn.boards.files.board_toml import read_board_toml
from unworn.boards.files.predictions_check import Predictions
from unworn.boards.files.sealed_labels import SealedLabels, label_frame
from unworn.boards.scoring_rules import ScoringRule, is_pairable, mechanism_of
from unworn.boards.standings import Standings
from unworn.boards.submission import Submission
from unworn.boards.submission_table import open_tables
from unworn.boards.team_spending import SpendingFold, TeamSpending
from unworn.errors import RepeatedRows, SmallHoldout
from unworn.queries.composite import Composite, Question
from unworn.queries.metrics.scored_query import Metric

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.record.certificate import Certificate

LEDGER, DATABASE = "ledger.db", "board.db"
_ROWS_OF_A_POOL = 100


class BoardView:
    """The half of :class:`~unworn.boards.board.Board` that submits nothing."""

    def __init__(self, folder: str | Path, *, ledger: Any = None, database: Any = None) -> None:
        self.folder = Path(folder)
        self.config: BoardConfig = read_board_toml(self.folder)
        self._ledger = ledger or self.config.ledger or self.folder / LEDGER
        self._table = open_tables(database or self.config.database or self.folder / DATABASE, self.config.name)
        self._turn, self._opening = threading.RLock(), threading.RLock()
        self._standings: tuple[int, bool, Standings] | None = None
        self._rows: Holdout | None = None
        self._facts: dict[str, Any] = self._table.fact("board") or {}
        if not self._facts:
            raise InvalidBoard(
                f"the tables of board {self.config.name!r} are not in {self._table.database.url}: give database= as it "
                "was when the board was made, or bring board.db back"
            )
        self._check_same()
        if self._table.drafts():
            self.holdout  # noqa: B018  which finishes what a crash left, if it was charged

    def _check_same(self) -> None:
        """Refuse settings that would change what the scores on the board mean."""
        now, then = self.config.fixed(), self._facts["fixed"]
        if self.config.is_own_grader:
            now = {**now, "grader_code": self._questions.grader_digest}
        changed = sorted(name for name in then if _plain(now.get(name)) != then[name])
        if changed:
            name = changed[0]
            raise InvalidBoard(
                f"board.toml: {name} is {show_value(now.get(name))}, and the board was made with "
                f"{show_value(then[name])}: its scores would no longer be comparable.\n"
                "  Put it back, or make a new board with fresh labels."
            )

    # ---- what it is

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def title(self) -> str:
        return self.config.title

    @property
    def size(self) -> int:
        """How many rows check."""
        return int(self._facts["size"])

    @property
    def practice_size(self) -> int:
        """How many rows are for practice."""
        return int(self._facts["practice_size"])

    @property
    def closed(self) -> bool:
        """Whether the rows are retired."""
        return self._table.fact("closed") is not None

    @cached_property
    def _labels(self) -> SealedLabels:
        labels = SealedLabels.load(self.folder)
        if digest_of_ids(labels.ids) != self._facts["ids"]:
            raise InvalidBoard(
                f"labels.sealed has other ids than the board {self.name!r} was made with, so predictions would be "
                "joined to wrong labels.\n  Bring the file back from a backup."
            )
        return labels

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self._labels.ids)}

    @property
    def ids(self) -> Sequence[str]:
        """The ids that a submission must predict, in the order of the rows."""
        return self._labels.ids

    @property
    def label_words(self) -> str:
        """What the labels are, for the organiser to see at a glance: a mistyped one would be a class of its own."""
        kinds = {"number": "numbers", "bool": "true or false", "text": "text"}
        different = len(set(self._labels.columns[self.config.target].tolist()))
        return f"{kinds[self.config.kind]} ({different:,} different)"

    @cached_property
    def _questions(self) -> BoardQuestions:
        return BoardQuestions(self.config, self.folder)

    @property
    def holdout(self) -> Holdout:
        """The rows behind the board, opened when they are first wanted."""
        with self._opening:
            if self._rows is None:
                self._check_ledger()
                self._rows = open_rows(self.config, self._labels, self._questions, self._ledger)
                self._spending = SpendingFold(self._rows)
                self._rule = ScoringRule(self.config, self._rows, self._spending.surprises)
                self._reconcile()
            return self._rows

    def _check_ledger(self) -> None:
        """Refuse to seal the rows once more where their ledger is gone: another budget, and another split."""
        from unworn.ledger import open_store

        store = open_store(self._ledger, write=False)
        try:
            known = self._facts["holdout"] in store.holdouts()
        finally:
            if store is not self._ledger:
                store.close()
        if not known:
            raise InvalidBoard(
                f"the ledger {self._ledger} does not have the answers of board {self.name!r}.\n"
                "  Bring it back, with its .keys folder, or name it with ledger=: without it nothing can be asked."
            )

    # ---- looking

    def submissions(self, team: str | None = None) -> list[Submission]:
        """All of them, in order; or a team's own history."""
        return [each for each in self._table.finished() if team is None or each.team == team]

    def submission(self, id: str) -> Submission:
        found = self._table.find(id)
        if found is None:
            raise UnknownSubmission(f"the board {self.name!r} has no submission {show_value(id)}")
        return found

    def predictions(self, id: str) -> Predictions:
        """What was sent with a submission."""
        return self._table.predictions(self.submission(id).digest)

    def standings(self) -> Standings:
        """Who is ahead, as far as intervals can tell."""
        known, closed = self._table.finished(), self.closed
        if self._standings is None or self._standings[:2] != (len(known), closed):
            made = Standings.of(
                known, higher_is_better=self.config.higher_is_better, rule=self.config.rule, closed=closed
            )
            self._standings = len(known), closed, made
        return self._standings[2]

    def cards(self, id: str) -> list[Certificate]:
        """The certificates of a submission: one per entry in the ledger."""
        indexes, desk = self.submission(id).indexes, self.holdout._desk
        with desk.order():
            desk.released()
            return [desk.answer(index).certificate for index in indexes]

    def composite(self, id: str) -> Composite | None:
        """How a submission's score is made of its entries (F1, RMSE, an average over classes); none of a plain one."""
        question = self.question(self.predictions(id))
        return question if isinstance(question, Composite) else None

    def spending(self) -> list[TeamSpending]:
        """What each team has spent of everybody's intervals."""
        self.holdout  # noqa: B018
        return self._spending.spending()

    def team_spending(self, team: str) -> TeamSpending:
        """The same of one team: what its submissions spent, and its lanes behind the gate."""
        return next((each for each in self.spending() if each.team == team), TeamSpending(team, 0, 0, 0.0))

    def promise(self, submissions: int = 1000, surprises: int | None = None) -> BoardPromise:
        """What the board can promise with its rows after so many submissions, in words and numbers.

        No more of them than it may ever be asked; where submissions are compared with the best, ``surprises`` are those
        that were better.
        """
        config, question = self.config, self._questions.sample_question(1)
        parts, span = int(self._facts["parts"]), float(self._facts.get("span", 1.0))
        wrong = config.surprises_per_team if surprises is None else surprises
        if config.asks is not None:
            submissions = min(submissions, max(config.asks // parts, 1))
        is_mean = is_pairable(question)
        kinds = {"zero_one": not is_mean or (isinstance(question, Metric) and question.zero_one), "is_mean": is_mean}
        numbers = (self.size, self.practice_size, submissions, wrong, config.confidence, parts)
        if config.rule == "practice-and-check":
            return BoardPromise.of(*numbers, config.rule, span, **kinds)
        return BoardPromise.of_mechanism(mechanism_of(config, question), *numbers, span, asks=config.asks, **kinds)

    def question(self, predictions: Predictions) -> Question:
        """What is asked about predictions: the metric of the board."""
        return self._questions.question(predictions)

    def _reconcile(self) -> None:
        """Finish what a crash left unfinished; :class:`~unworn.boards.board.Board` can."""

    def release(self) -> None:
        """Let go of files."""
        with self._opening:
            if self._rows is not None:
                self._rows.close()
            self._table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"Board({self.name!r}, {self.size:,} rows, {self.practice_size:,} for practice)"


def open_rows(config: BoardConfig, labels: SealedLabels, questions: BoardQuestions, ledger: Any) -> Holdout:
    """The holdout of a board; sealed where its ledger does not have these rows yet."""
    from unworn.holdout import Holdout

    with warnings.catch_warnings():
        # Rows have ids, so none of them is another's copy; and how wide few rows are is said by the promise.
        warnings.simplefilter("ignore", RepeatedRows)
        warnings.simplefilter("ignore", SmallHoldout)
        return Holdout(
            dict(label_frame(labels)),
            config.target,
            practice=config.practice,
            mechanism=mechanism_of(config, questions.sample_question(len(labels.ids))),
            confidence=config.confidence,
            asks=config.asks,
            ledger=ledger,
            name=config.name,
        )


def check_pools(pools: int, practice_rows: int) -> None:
    """Refuse so many pools of practice rows that nothing could be told from one of them."""
    if not 1 <= pools <= max(practice_rows // _ROWS_OF_A_POOL, 1):
        raise InvalidBoard(
            f"{practice_rows:,} practice rows cannot be in {show_value(pools)} pools: each needs at least "
            f"{_ROWS_OF_A_POOL} of them",
            setting="pools",
        )


def digest_of_ids(ids: Sequence[str]) -> str:
    """Which ids a board was made with, in their order."""
    return hashlib.sha256(canonical(list(ids)).encode("utf-8", "surrogatepass")).hexdigest()


def count_parts(question: Question) -> int:
    """How many questions of the ledger one submission is."""
    return len(question.questions) if isinstance(question, Composite) else 1


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    return value
