"""The labels themselves as a submission: a board on which nobody could be right should not be made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unworn.boards.board_config import BoardConfig
from unworn.boards.files.prediction_shapes import prediction_shape
from unworn.boards.files.predictions_check import Predictions, check_predictions
from unworn.boards.files.sealed_labels import SealedLabels
from unworn.boards.files.table_files import FileTable

if TYPE_CHECKING:
    from unworn.boards.board_questions import BoardQuestions


def right_answers(config: BoardConfig, labels: SealedLabels, questions: BoardQuestions) -> Predictions | None:
    """What somebody would send who knows every label; None where predictions are no labels.

    ``InvalidSubmission`` where that could not be sent: a label outside of the declared classes, say.
    """
    shape = prediction_shape(config)
    if shape.form not in ("labels", "text") or config.grader == "numeric":
        return None
    columns = {config.id: labels.ids, shape.columns[0]: labels.columns[config.target].tolist()}
    table = FileTable(columns, len(labels.ids), lambda index: f"id {labels.ids[index]!r:.60}", lambda index: index)
    places = {name: place for place, name in enumerate(labels.ids)}
    return questions.canonical(check_predictions(table, shape, config.id, config.target, places))
