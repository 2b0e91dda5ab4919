"""The area under the ROC curve: how often a positive row is scored above a negative one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.language.evaluation import truth
from unworn.queries.language.expressions import Expression, require_predicate
from unworn.queries.language.schema_check import check
from unworn.queries.metrics.class_labels import Class, check_classes, is_class
from unworn.queries.metrics.hit_metrics import classes_of_columns
from unworn.queries.metrics.prediction_types import check_decision_columns
from unworn.queries.metrics.scored_query import Metric, check_given
from unworn.queries.predictions import FeatureFrame, FromModel, GivenPredictions, as_feature_frame, predictions_on
from unworn.queries.query import Facts
from unworn.queries.ranking_query import RankingQuery, ranking_facts
from unworn.queries.row_protocol import Bools, Frame, Raised
from unworn.queries.schema import ColumnKind, Schema


@dataclass(frozen=True, eq=False)
class RocAuc(Metric, RankingQuery):
    """How often a row of the ``positive`` class has a higher score than a row of any other class; ties count one half.

    A row without a label takes no part. A model's score that is not a finite number is the worst there is: below all
    others for a positive row, above all others for a negative one. ``classes`` names the columns of scores, where
    there are several.
    """

    positive: Class
    classes: tuple[Class, ...] | None = None
    where: Expression | None = None

    metric: ClassVar[str] = "roc_auc"
    greater_is_better: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(1, 2), numbers=True)
        check_decision_columns(self.source, self.metric, one_for_two=True)
        columns = self.source.shape[1:] if isinstance(self.source, GivenPredictions) else ()
        if columns and (self.classes is None or len(self.classes) != columns[0]):
            known = "no" if self.classes is None else str(len(self.classes))
            raise Unaskable(f"there are {columns[0]} columns of scores but {known} classes: give classes=")
        if self.classes is not None and self.positive not in self.classes:
            raise Unaskable(f"positive={self.positive!r} is not one of the classes {list(self.classes)[:10]}")
        if self.where is not None:
            require_predicate(self.where, self.where.kind, "where= needs a predicate")

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def label(self) -> str:
        name = f"{self.metric} of {self.source.label}" + ("" if self.positive == 1 else f" for {self.positive!r}")
        return name if self.where is None else f"{name} where {self.where!r}"

    def settings(self) -> dict[str, Any]:
        where = {} if self.where is None else {"where": self.where.to_json()}
        return {"positive": self.positive, **where}

    def layout(self) -> dict[str, Any]:
        return {"classes": None if self.classes is None else list(self.classes)}

    def fits(self, kind: ColumnKind) -> None:
        check_classes((self.positive,), kind, "positive")

    def _facts(self, schema: Schema, size: int) -> Facts:
        ranking_facts(schema, self.metric)  # refuses groups
        if self.where is not None:
            require_predicate(self.where, check(self.where, schema).kind, "where= needs a predicate")
        return ranking_facts(schema, self.metric, super()._facts(schema, size).runs_code)

    def values(self, frame: Frame) -> NoReturn:
        RankingQuery.values(self, frame)

    def ranked(self, frame: Frame) -> tuple[NDArray[Any], Bools, Bools]:
        rows = as_feature_frame(frame)
        scores = self._scores(rows)
        positive = is_class(rows.labels, self.positive)
        missing = rows.labels.missing
        negative = ~positive if missing is None else ~positive & ~missing
        if not isinstance(self.source, GivenPredictions) and scores.dtype.kind == "f":
            strange = ~np.isfinite(scores)
            if strange.any():
                scores = np.where(strange, np.where(positive, -np.inf, np.inf), scores)
        if self.where is not None:
            group = truth(self.where, frame)
            positive, negative = positive & group, negative & group
        return scores, positive, negative

    def _scores(self, rows: FeatureFrame) -> NDArray[Any]:
        """The column of the positive class, from one column of scores or from several."""
        guesses = predictions_on(self.source, rows)
        values = guesses.values
        classes = self.classes
        if guesses.kind == "text":
            raise Raised
        if guesses.missing is not None:
            values = np.where(guesses.missing, np.nan, values.astype(np.float64))
        if values.ndim == 2:
            if classes is None:
                raise Raised
            return np.ascontiguousarray(values[:, classes_of_columns(guesses, classes).index(self.positive)])
        if isinstance(self.source, FromModel) and classes is not None and len(classes) == 2:
            # One column of a model's scores is about the second of its classes.
            return values if self.positive == classes[1] else -values.astype(np.float64)
        return values
