"""The one question of a board, made of whatever predictions are sent: its metric, or its grader."""

from __future__ import annotations

import contextlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unworn.boards.board_config import BoardConfig
from unworn.boards.board_errors import GraderFailed, InvalidSubmission
from unworn.boards.files.prediction_shapes import prediction_shape
from unworn.boards.files.predictions_check import Predictions
from unworn.boards.graders.text_graders import CANONICAL, canonical_texts, numbers_in_texts
from unworn.boards.scoring_rules import PracticeScore
from unworn.errors import Unaskable
from unworn.queries.composite import Composite, Question
from unworn.queries.metrics.graded_metrics import NO_NUMBER, GradedRows, WithinTolerance
from unworn.queries.metrics.metric_catalogue import metric
from unworn.queries.row_protocol import Raised

if TYPE_CHECKING:
    from unworn.boards.graders.own_grader import OwnGrader
    from unworn.holdout import Holdout


class BoardQuestions:
    """Makes questions for one board's settings."""

    def __init__(self, config: BoardConfig, folder: Path) -> None:
        self._config, self._folder = config, folder

    @property
    def label(self) -> str:
        """What the score is called."""
        grader = self._config.grader
        return self._config.full_metric if grader is None else f"graded: {grader}"

    @cached_property
    def grader(self) -> OwnGrader:
        """The organiser's own code."""
        from unworn.boards.graders.own_grader import OwnGrader

        config = self._config
        return OwnGrader.open(self._folder, config.grader or "", config.grader_seconds, config.grader_megabytes)

    @property
    def grader_digest(self) -> str:
        return self.grader.digest

    def canonical(self, predictions: Predictions) -> Predictions:
        """Predictions in the form that the references have: texts by the grader's rule."""
        grader = self._config.grader
        if grader in CANONICAL:
            return Predictions(canonical_texts(grader, predictions.values.tolist()), predictions.rows)
        if grader == "numeric":
            numbers = numbers_in_texts(predictions.values.tolist())
            return Predictions(np.where(np.isfinite(numbers), numbers, NO_NUMBER), predictions.rows)
        return predictions

    def question(self, predictions: Predictions) -> Question:
        """What is asked about predictions in canonical form."""
        config = self._config
        if config.grader == "numeric":
            return WithinTolerance(predictions.source, config.tolerance, config.relative_tolerance)
        if config.is_own_grader:
            return GradedRows(predictions.source, self.grader)
        return metric(config.full_metric, predictions.source, **config.metric_options)

    def check(self, holdout: Holdout, predictions: Predictions) -> None:
        """Refuse, without rows, predictions that the metric cannot score: numbers where labels belong, say."""
        try:
            question = self.question(predictions)
            for part in question.questions if isinstance(question, Composite) else (question,):
                holdout._understand(part)
        except Unaskable as why:
            raise InvalidSubmission.of([why.message]) from None

    def sample_question(self, rows: int) -> Question:
        """A question like all of the board's, about predictions that nobody made."""
        shape = prediction_shape(self._config)
        if shape.form == "columns":
            count = len(shape.columns)
            return self.question(Predictions(np.full((rows, count), 1.0 / count), rows))
        if (shape.form == "text" and self._config.grader != "numeric") or (
            shape.form == "labels" and shape.kind == "text"
        ):
            texts = np.empty(rows, dtype=object)
            texts[:] = str(shape.classes[0]) if shape.classes else "a"
            return self.question(Predictions(texts, rows))
        first = shape.classes[0] if shape.classes else 0
        return self.question(Predictions(np.full(rows, first), rows))

    def practice(self, holdout: Holdout, question: Question) -> PracticeScore:
        """The exact score on practice rows; in words where there is none."""
        try:
            told = holdout.practice.ask(question)
        except Unaskable as why:
            if self._config.is_own_grader:
                cause = why.__cause__
                what = f": {cause.message}" if isinstance(cause, GraderFailed) else ""
                return PracticeScore(why=f"the grader failed on the practice rows{what}", failed=True)
            return PracticeScore(
                why="the metric has no value for these predictions on the practice rows, so there is nothing to check"
            )
        except GraderFailed as failure:
            return PracticeScore(why=f"the grader failed on the practice rows: {failure.message}", failed=True)
        return PracticeScore(told.value, told.error)

    def grade_ahead(self, holdout: Holdout, question: Question) -> None:
        """Run the organiser's grader before it is this submission's turn: a grader that hangs keeps nobody waiting.

        What it says is kept with the question, where only the ask that follows reads it; whether it failed is told by
        that ask's entry. So it is for questions that will be asked, and for no others.
        """
        if not isinstance(question, GradedRows):
            return
        with contextlib.suppress(Raised):
            holdout._sample.statistics([question])
