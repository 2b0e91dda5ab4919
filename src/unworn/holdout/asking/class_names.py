"""Classes that nobody named: a default is refused where rows that may be seen show that it means other ones.

A score per row is taken to be about the class 1, and columns of scores about 0, 1, 2, … Labels of 1 and 2, of -1 and 1,
or of 2 and 5 would then be answered with a number that is not the one its name says. The holdout's own labels may not
decide that; those of ``train`` and of practice rows may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.composite import Composite, Question
from unworn.queries.metrics.class_labels import as_class
from unworn.queries.metrics.group_metric import GroupMetric
from unworn.queries.metrics.hit_metrics import TopK
from unworn.queries.metrics.loss_metrics import Brier, LogLoss
from unworn.queries.metrics.metric_catalogue import needs_classes
from unworn.queries.metrics.ranking_metrics import RocAuc
from unworn.queries.metrics.subset_metrics import SubsetMetric
from unworn.queries.predictions import FromModel, GivenPredictions

_MOST_SHOWN = 5


def has_classes(question: Question) -> bool:
    """Whether any part of a metric is about classes that a default may have named."""
    return any(isinstance(part, SubsetMetric | RocAuc | Brier | LogLoss | TopK) for part in _metrics(question))


def check_class_names(metric: str, question: Question, visible: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Refuse what a default says of classes, if the labels of visible rows say otherwise.

    >>> from unworn.queries import roc_auc
    >>> check_class_names("roc_auc", roc_auc([0.2, 0.9]), (0, 1), {})
    >>> check_class_names("roc_auc", roc_auc([0.2, 0.9]), (1, 2), {})
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: a score per row is taken for one of the class 1, and the labels are 1 and 2: say which \
class roc_auc is about by positive=
    """
    known = tuple(map(as_class, visible))
    # An average over classes is about all that were named.
    by_default = options.get("positive") is None and not needs_classes(metric)
    for part in _metrics(question):
        if by_default and isinstance(part, SubsetMetric | RocAuc | Brier | LogLoss):
            _check_positive(part, known)
        if isinstance(part, RocAuc | LogLoss | TopK) and "classes" not in options:
            _check_columns(part, known)


def _metrics(question: Question) -> list[Any]:
    """The metrics that a question is made of, whatever rows they are restricted to."""
    parts = question.questions if isinstance(question, Composite) else (question,)
    return [part.inner if isinstance(part, GroupMetric) else part for part in parts]


def _check_positive(part: SubsetMetric | RocAuc | Brier | LogLoss, known: tuple[Any, ...]) -> None:
    source, positive = part.source, part.positive
    if positive is None or not _names_nothing(source) or len(known) < 2:
        return
    is_score = not isinstance(part, SubsetMetric)
    if is_score and isinstance(source, GivenPredictions) and len(source.shape) == 2:
        return
    # Of two classes the greater is the positive one, as in scikit-learn; labels are taken as they are named there.
    if positive in known and not (is_score and (len(known) > 2 or positive == known[0])):
        return
    what = "a score per row is taken for one of" if is_score else f"{part.metric} is taken to be about"
    raise Unaskable(
        f"{what} the class {show_value(positive)}, and the labels are {_shown(known)}: say which class {part.metric} "
        "is about by positive=",
        metric=part.metric,
    )


def _check_columns(part: RocAuc | LogLoss | TopK, known: tuple[Any, ...]) -> None:
    classes = part.classes
    if classes is None or not isinstance(part.source, GivenPredictions) or all(each in classes for each in known):
        return
    raise Unaskable(
        f"the columns of scores are taken for the classes {_shown(classes)}, and the labels are {_shown(known)}: name "
        "the columns by classes=",
        metric=part.metric,
    )


def _names_nothing(source: Any) -> bool:
    """Whether predictions do not say themselves what their classes are."""
    return isinstance(source, GivenPredictions) or (isinstance(source, FromModel) and source.classes is None)


def _shown(classes: Sequence[Any]) -> str:
    some = [show_value(each) for each in classes[:_MOST_SHOWN]]
    if len(classes) > _MOST_SHOWN:
        return f"{', '.join(some)}, …"
    return some[0] if len(some) == 1 else f"{', '.join(some[:-1])} and {some[-1]}"
