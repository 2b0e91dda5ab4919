"""Metrics that are made of several answers, or of one answer bent: F1, RMSE, R², macro averages, MCC and kappa."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.composite import Composite, Question, average, linear, ratio
from unworn.queries.conditional_query import ConditionalQuery
from unworn.queries.constant_prediction import ConstantPrediction
from unworn.queries.language.expressions import Expression
from unworn.queries.language.literals import as_float
from unworn.queries.language.means import share
from unworn.queries.metrics.class_labels import Class, as_classes
from unworn.queries.metrics.hit_metrics import Accuracy, BalancedAccuracy
from unworn.queries.metrics.loss_metrics import SquaredError
from unworn.queries.metrics.named_metrics import balanced_accuracy as weighted_balance
from unworn.queries.metrics.named_metrics import mse, roc_auc
from unworn.queries.metrics.positive_class import positive_class
from unworn.queries.metrics.ranking_metrics import RocAuc
from unworn.queries.metrics.scaled_losses import MaskedLoss
from unworn.queries.metrics.scored_query import Metric, as_range
from unworn.queries.metrics.subset_metrics import Jaccard, Prevalence, Recall, Specificity, SubgroupMetric
from unworn.queries.predictions import Source, as_source
from unworn.queries.query import Query


def f1(predictions: Any, positive: Any = None) -> Composite:
    """The harmonic mean of precision and recall: 2J/(1 + J), where J is the Jaccard share. One question.

    >>> question = f1([1, 0, 1])
    >>> [part.metric for part in question.questions], question.interval([(0.5, 1.0)])
    (['jaccard'], (0.6666666666666666, 1.0))
    """
    source = as_source(predictions)
    return _f1(source, positive_class("f1", source, positive))


def _f1(source: Source, positive: Class) -> Composite:
    part = Jaccard(source, positive)
    return Composite("f1", (part,), name=part.label.replace("jaccard", "f1", 1))


def rmse(predictions: Any, range: Sequence[float] | None = None) -> Composite:
    """The root of the mean squared error; ``range`` is that of the *squared* errors, which must be given.

    >>> rmse([3.0], range=(0, 100)).interval([(4.0, 9.0)])
    (2.0, 3.0)
    """
    part = SquaredError(as_source(predictions), *as_range("rmse", range))
    return Composite("root", (part,), name=f"rmse of {part.source.label}")


def r2(predictions: Any, range: Sequence[float] | None = None, baseline: float | None = None) -> Composite:
    """1 − mse/baseline: how much of the squared error around a constant the model explains. Two questions.

    ``baseline`` is that constant, which you name (the mean of ``train``, say): the mean of the rows themselves would be
    a fact about them. The second question is about the constant alone, so another model's R² asks it for free.
    ``range`` is that of the squared errors.
    """
    part = mse(predictions, as_range("r2", range))
    if baseline is None:
        raise Unaskable(
            "r2 compares the squared error with that of a constant: give baseline=, such as the labels' mean in your "
            "training rows (with train= it is taken from there)"
        )
    constant = SquaredError(ConstantPrediction(as_float(baseline, "baseline")), part.low, part.high)
    return Composite("explained", (part, constant), name=f"r2 of {part.source.label} against {constant.source.label}")


def matthews_corrcoef(predictions: Any, positive: Any = None) -> Composite:
    """The correlation of two-class labels and predictions: of recall, specificity and the share of positives.

    How its interval is the exact image of theirs: :func:`unworn.queries.combinations.matthews`.
    """
    return _agreement("matthews", "matthews_corrcoef", predictions, positive)


def cohen_kappa(predictions: Any, positive: Any = None) -> Composite:
    """Agreement of two-class labels and predictions beyond chance, made of the same three as MCC."""
    return _agreement("kappa", "cohen_kappa", predictions, positive)


def _agreement(combination: str, name: str, predictions: Any, positive: Any) -> Composite:
    source = as_source(predictions)
    value = positive_class(name, source, positive)
    # All three leave out rows without a label: they are about the same rows.
    parts = Recall(source, value), Specificity(source, value), Prevalence(ConstantPrediction(value), value)
    return Composite(combination, parts, name=f"{name} of {source.label}")


def balanced_accuracy(
    predictions: Any,
    *,
    classes: Iterable[Any] | None = None,
    shares: Mapping[Any, float] | None = None,
    weights: Mapping[Any, float] | None = None,
) -> BalancedAccuracy | Composite:
    """Accuracy in which classes weigh the same: the average of their recalls, one question per class.

    With the classes' shares declared (``shares=``, or ``weights=``) it is one question, exact in a population that has
    those shares.
    """
    if shares is not None or weights is not None:
        return weighted_balance(predictions, shares=shares, weights=weights)
    return macro("balanced_accuracy", Recall, predictions, classes)


def macro(name: str, make: Callable[[Source, Class], Question], predictions: Any, classes: Any = None) -> Composite:
    """The average over classes of a metric of each."""
    source = as_source(predictions)
    named = _classes_of(name, source, classes)
    return average([make(source, each) for each in named], f"{name} of {source.label}")


def f1_macro(predictions: Any, classes: Iterable[Any] | None = None) -> Composite:
    """F1 of each class, averaged."""
    return macro("f1_macro", _f1, predictions, classes)


def roc_auc_ovr(scores: Any, classes: Iterable[Any] | None = None) -> Composite:
    """The area under the ROC curve of each class against the rest, averaged: scores are rows × classes."""
    source = as_source(scores, ("predict_proba", "decision_function"))
    named = _classes_of("roc_auc_ovr", source, classes)
    return average([roc_auc(source, each, named) for each in named], f"roc_auc_ovr of {source.label}")


def jaccard_micro(predictions: Any) -> Composite:
    """The Jaccard share over all classes together: a/(2 − a), where a is the accuracy."""
    part = Accuracy(as_source(predictions))
    return Composite("micro_jaccard", (part,), name=f"jaccard_micro of {part.source.label}")


def _classes_of(name: str, source: Source, classes: Any) -> tuple[Class, ...]:
    known = classes if classes is not None else getattr(source, "classes", None)
    if known is None:
        raise Unaskable(
            f"{name} is an average over classes, and which there are is not looked up in the rows: give classes=[...] "
            "(a fitted classifier names them itself, and train= does)"
        )
    return as_classes(known)


def restrict_metric(question: Question, where: Expression) -> Question:
    """The same metric over the rows where a predicate holds."""
    if isinstance(question, Composite):
        name = None if question.name is None else f"{question.name} where {where!r}"
        if question.combination == "explained":  # the share of the subgroup cancels
            return Composite("explained", tuple(_masked(part, where) for part in question.parts), name=name)
        parts = tuple(restrict_metric(part, where) for part in question.parts)
        return Composite(question.combination, parts, question.numbers, name)
    if isinstance(question, BalancedAccuracy):
        raise Unaskable(
            "balanced_accuracy with shares= or weights= is about all rows, whose shares they are: with where= give "
            "classes= instead, and it is the average of recalls in the subgroup"
        )
    if isinstance(question, RocAuc):
        return RocAuc(question.source, question.positive, question.classes, where)
    if not isinstance(question, Metric):
        raise Unaskable("where= is for metrics; ask share(..., given=...) about columns")
    if question.zero_one or isinstance(question, ConditionalQuery):
        return SubgroupMetric(question, where)
    if isinstance(question, MaskedLoss):
        raise Unaskable("where= is given once")
    return _loss_in(question, where).named(f"{question.label} where {where!r}")


def _masked(part: Question, where: Expression) -> Query:
    if not isinstance(part, Metric):
        raise Unaskable("where= is given once")
    return MaskedLoss(part, where)


def _loss_in(loss: Metric, where: Expression) -> Composite:
    low, high = loss.bounds
    if low < 0:  # what stands above a ratio is at least 0
        return _from_centre(loss, where, (low + high) / 2)
    return ratio(MaskedLoss(loss, where), share(where), loss.bounds)


def _from_centre(loss: Metric, where: Expression, centre: float, name: str | None = None) -> Composite:
    parts = MaskedLoss(loss, where, centre), share(where)
    return Composite("subgroup", parts, (*loss.bounds, centre), name)


def centre_losses(question: Question, centre_of: Callable[[Metric, Expression], float | None]) -> Question:
    """The same, where losses in a subgroup are measured from constants that are near them, if any are known.

    A ratio moves with the share of the subgroup by as much as what stands above it is large: 1,700 dollars times the
    share say little while the share is known to 5 %. The distance from 1,700 tells all that these rows can.
    """
    if not isinstance(question, Composite):
        return question
    loss = question.parts[0]
    # Of R² both losses stay whole: the share of the subgroup cancels, and is one question less.
    if isinstance(loss, MaskedLoss) and question.combination in ("ratio", "subgroup"):
        centre = centre_of(loss.inner, loss.where)
        return question if centre is None else _from_centre(loss.inner, loss.where, centre, question.name)
    return replace(question, parts=tuple(centre_losses(part, centre_of) for part in question.parts))


def negative(question: Question) -> Composite:
    """Minus a loss, as searches want it, called so."""
    return linear([(-1.0, question)], f"neg_{question.label}")
