"""Metrics by name: scikit-learn's, ours, and what to ask instead of those that cannot be asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.composite import Composite, Question
from unworn.queries.language.expressions import Expression
from unworn.queries.metrics import composite_metrics as made
from unworn.queries.metrics import named_metrics as plain
from unworn.queries.metrics.graded_metrics import within_tolerance
from unworn.queries.metrics.refused_metrics import refuse
from unworn.queries.metrics.subset_metrics import SUBSET_METRICS

_MAKERS: dict[str, Callable[..., Question]] = {
    "accuracy": plain.accuracy,
    "balanced_accuracy": made.balanced_accuracy,
    "top_k_accuracy": plain.top_k,
    "precision": plain.precision,
    "recall": plain.recall,
    "specificity": plain.specificity,
    "f1": made.f1,
    "jaccard": plain.jaccard,
    "roc_auc": plain.roc_auc,
    "roc_auc_ovr": made.roc_auc_ovr,
    "matthews_corrcoef": made.matthews_corrcoef,
    "cohen_kappa": made.cohen_kappa,
    "brier": plain.brier,
    "log_loss": plain.log_loss,
    "mae": plain.mae,
    "mse": plain.mse,
    "rmse": made.rmse,
    "r2": made.r2,
    "mape": plain.mape,
    "pinball": plain.pinball,
    "within_tolerance": within_tolerance,
    "values": plain.values,
    "f1_macro": made.f1_macro,
    "jaccard_micro": made.jaccard_micro,
    **{f"{name}_macro": partial(made.macro, f"{name}_macro", kind) for name, kind in SUBSET_METRICS.items()},
    # Each row has one label and one prediction, so what is wrong for one class is wrong for another: all are accuracy.
    **dict.fromkeys(("precision_micro", "recall_micro", "f1_micro", "recall_weighted"), plain.accuracy),
}
_LOSSES = frozenset(("brier", "log_loss", "mae", "mse", "rmse", "mape", "pinball"))
_ALIASES = {
    "top_k": "top_k_accuracy",
    "brier_score_loss": "brier",
    "brier_score": "brier",
    "mcc": "matthews_corrcoef",
    "matthews": "matthews_corrcoef",
    "kappa": "cohen_kappa",
    "auc": "roc_auc",
    "sensitivity": "recall",
    "mean_absolute_error": "mae",
    "mean_squared_error": "mse",
    "root_mean_squared_error": "rmse",
    "mean_absolute_percentage_error": "mape",
    "mean_pinball_loss": "pinball",
    "pinball_loss": "pinball",
    "quantile_loss": "pinball",
    "logloss": "log_loss",
    "cross_entropy": "log_loss",
    "r_squared": "r2",
    "tpr": "recall",
    "true_positive_rate": "recall",
    "hit_rate": "recall",
    "ppv": "precision",
    "positive_predictive_value": "precision",
    "tnr": "specificity",
    "true_negative_rate": "specificity",
    "iou": "jaccard",
    "exact_match": "accuracy",
}
_NEEDS_CLASSES = frozenset(("balanced_accuracy", "roc_auc_ovr", "f1_macro", *(f"{n}_macro" for n in SUBSET_METRICS)))


def metric_name(name: str) -> str:
    """The one name of an askable metric, or a refusal that says why and what to ask instead.

    However it is spelled: ``"AUC"`` and ``"balanced accuracy"`` are names too.

    >>> metric_name("neg_mean_absolute_error"), metric_name("f1_score"), metric_name("AUC")
    ('neg_mae', 'f1', 'roc_auc')
    >>> metric_name("acuracy")
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: there is no metric 'acuracy'; did you mean accuracy? The metrics are: accuracy, \
balanced_accuracy, top_k_accuracy, precision, recall, specificity, f1, jaccard, roc_auc, roc_auc_ovr, \
matthews_corrcoef, cohen_kappa, brier, log_loss, mae, mse, rmse, r2, mape, pinball, within_tolerance, \
values
    """
    if not isinstance(name, str):
        raise Unaskable(f"a metric is given by its name, such as 'accuracy', not by a {type(name).__name__}")
    spelled = name.strip().lower().replace("-", "_").replace(" ", "_")
    bare = spelled.removeprefix("neg_")
    own = _ALIASES.get(bare, bare)
    if own not in _MAKERS:
        own = _ALIASES.get(bare.removesuffix("_score"), bare.removesuffix("_score"))
    if own in _MAKERS and (bare == spelled or own in _LOSSES):
        return own if bare == spelled else f"neg_{own}"
    refuse(name)
    import difflib  # only when a name is wrong

    known = [each for each in _MAKERS if not each.endswith(("_macro", "_micro", "_weighted"))]
    close = difflib.get_close_matches(bare[:100], [*_MAKERS, *_ALIASES], n=1, cutoff=0.75)
    hint = f"did you mean {close[0]}? The" if close else "the"
    raise Unaskable(f"there is no metric {name!r:.80}; {hint} metrics are: {', '.join(known)}", metric=name)


def metric(name: str, predictions: Any, *, where: Expression | str | None = None, **options: Any) -> Question:
    """A metric by the name scikit-learn gives it; ``neg_…`` names are the negative of a loss, as they are there.

    ``where`` is a predicate, also as SQL text: the metric over the rows where it holds.

    >>> metric("neg_brier_score", [0.5]).questions == (plain.brier([0.5]),)
    True
    >>> metric("accuracy", [1, 0], where="carrier = 'AA'").label[-21:]
    "where carrier == 'AA'"
    """
    own = metric_name(name)
    make = _MAKERS[own.removeprefix("neg_")]
    try:
        question = make(predictions, **options)
    except TypeError as error:
        raise Unaskable(f"{own}{_argument_words(str(error))}", metric=own) from None
    if where is not None:
        question = made.restrict_metric(question, read_predicate(where))
    return made.negative(question) if own.startswith("neg_") else question


def _argument_words(said: str) -> str:
    """What Python says of a call that does not fit, in the words of who asked.

    >>> _argument_words("top_k() missing 1 required positional argument: 'k'")
    ' needs k='
    >>> _argument_words("accuracy() got an unexpected keyword argument 'range'")
    ' takes no range='
    """
    _, called, rest = said.partition("() ")
    names = " and ".join(f"{name}=" for name in rest.split("'")[1::2])
    if names and "missing" in rest:
        return f" needs {names}"
    if names and "unexpected keyword" in rest:
        return f" takes no {names.partition(' ')[0]}"
    return f": {rest if called else said}"


def read_predicate(where: Expression | str) -> Expression:
    """A predicate, also from SQL text."""
    if isinstance(where, str):
        from unworn.queries.language.sql_text import parse_predicate  # loaded by those who write SQL

        return parse_predicate(where)
    if not isinstance(where, Expression):
        raise Unaskable(
            f"where= is a predicate, such as col('carrier') == 'AA' or SQL text, not {type(where).__name__}"
        )
    return where


def greater_is_better(name: str) -> bool:
    """Whether a larger value of what :func:`metric` answers is better.

    >>> greater_is_better("accuracy"), greater_is_better("neg_log_loss"), greater_is_better("log_loss")
    (True, True, False)
    """
    return metric_name(name) not in _LOSSES


def needs_classes(name: str) -> bool:
    """Whether it is an average over classes, which have to be named."""
    return metric_name(name) in _NEEDS_CLASSES


__all__ = ["Composite", "greater_is_better", "metric", "metric_name", "needs_classes", "read_predicate"]
