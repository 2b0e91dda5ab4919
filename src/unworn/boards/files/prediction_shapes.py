"""What a submission must have, from the metric alone: labels, a probability, a number, a column per class, or text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from unworn.boards.board_config import BoardConfig
from unworn.boards.board_errors import InvalidBoard
from unworn.queries.metrics.metric_catalogue import metric_name

Form = Literal["labels", "probability", "score", "number", "columns", "text"]
_NUMBERS = frozenset(("mae", "mse", "rmse", "r2", "mape", "pinball"))
_PER_CLASS = frozenset(("top_k_accuracy", "roc_auc_ovr"))


@dataclass(frozen=True)
class PredictionShape:
    """The columns of predictions, and what stands in them."""

    form: Form
    columns: tuple[str, ...]
    kind: str = "text"
    classes: tuple[Any, ...] | None = None
    sums_to_one: bool = False

    @property
    def words(self) -> str:
        """What a participant is told."""
        names = ", ".join(self.columns[:20])
        said = {
            "labels": f"the predicted label in the column {names} ({self.kind})",
            "probability": f"a probability between 0 and 1 in the column {names}",
            "score": f"a number in the column {names}, the higher the more likely",
            "number": f"a number in the column {names}",
            "columns": f"a {'probability' if self.sums_to_one else 'score'} per class in the columns {names}",
            "text": f"a text in the column {names}",
        }
        return said[self.form]


def needs_numbers(config: BoardConfig) -> bool:
    """Whether the metric measures how far predictions are off, so that labels are numbers."""
    return metric_name(config.full_metric).removeprefix("neg_") in _NUMBERS


def prediction_shape(config: BoardConfig) -> PredictionShape:
    """What the metric of a board wants."""
    one, classes = (config.prediction,), config.options.get("classes")
    declared = None if classes is None else tuple(classes)
    if config.grader is not None:
        return PredictionShape("text", one)
    own = metric_name(config.full_metric).removeprefix("neg_")
    if own in _PER_CLASS or (own == "log_loss" and declared is not None):
        if declared is None:
            raise InvalidBoard(
                f"{config.metric} has a column per class: name the classes, in [options] or with --classes",
                setting="options",
            )
        names = tuple(str(name) for name in declared)
        return PredictionShape("columns", names, config.kind, declared, own != "top_k_accuracy")
    if own in ("brier", "log_loss"):
        return PredictionShape("probability", one)
    if own == "roc_auc":
        return PredictionShape("score", one)
    if own in _NUMBERS:
        return PredictionShape("number", one)
    return PredictionShape("labels", one, config.kind, declared)
