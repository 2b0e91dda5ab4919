"""What a lane asks of a board: the score of a proposal, and by how much one is better than another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unworn.boards.metered_asks import is_answered
from unworn.queries.composite import Question
from unworn.queries.metrics.metric_catalogue import metric
from unworn.queries.metrics.paired_query import compare_questions

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.boards.files.predictions_check import Predictions

_REMEMBERED = 8


class GateQuestions:
    """Questions about the predictions of one board's lanes, made once each: with them is kept what a grader said."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._scores: dict[str, Question] = {}

    def score(self, predictions: Predictions) -> Question:
        """The board's own question."""
        digest = predictions.digest
        if digest not in self._scores:
            if len(self._scores) >= _REMEMBERED:
                self._scores.clear()
            self._scores[digest] = self._board.question(predictions)
        return self._scores[digest]

    def gain(self, after: Predictions, before: Predictions) -> Question:
        """By how much ``after`` is better: row by row, where the metric is a mean over rows."""
        config = self._board.config
        if config.grader is None and config.full_metric.startswith("neg_"):
            loss, options = config.full_metric.removeprefix("neg_"), config.metric_options
            return compare_questions(*(metric(loss, each.source, **options) for each in (before, after)))
        pair = (after, before) if config.higher_is_better else (before, after)
        return compare_questions(*map(self.score, pair))

    def are_answered(self, asked: Sequence[Question]) -> bool:
        """Whether the ledger has all the answers, so that asking is free."""
        return all(is_answered(self._board.holdout, each) for each in asked)

    def grade_ahead(self, asked: Sequence[Question], *graded: Predictions) -> None:
        """Run the organiser's grader before it is a lane's turn, for what will be asked: nobody waits for it."""
        if self._board.config.is_own_grader and not self.are_answered(asked):
            for each in graded:
                self._board._questions.grade_ahead(self._board.holdout, self.score(each))
