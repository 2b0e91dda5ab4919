"""Metrics that cannot be asked, why, and what to ask instead.

An answer holds for the population because it is a mean over independent rows of a value with a declared
range. A ratio of two such means, a rank over pairs of rows or a maximum is not, and averaging it anyway
would print intervals that no theorem supports.
"""

from __future__ import annotations

from unworn.errors import Unaskable

_RATIO = "it is a ratio of two counts over the rows"
_RANK = "it ranks rows against each other"
_SPREAD = "it divides by the spread of the labels in the rows"
_ROOT = "it is the root of a mean"
_CHANCE = "it is corrected for chance with counts over all the rows"
_ORDER = "it is an order statistic"
_CLUSTERS = "it compares pairs of rows"

_HITS = "ask accuracy or balanced_accuracy, or two shares: of the hits and of what divides them"
_CHANCES = "ask brier or log_loss, and compare two models by `compare`"
_SQUARES = "ask mse with range=(0, largest squared error that matters)"
_WITHIN = "ask the share of rows whose error is at most t: share(error <= t)"
_SHARES = "ask the share of rows in each group that matters"
_TOP = "ask top_k_accuracy"

REFUSED: dict[str, tuple[str, str]] = {
    "f1": (_RATIO, _HITS),
    "fbeta": (_RATIO, _HITS),
    "precision": (_RATIO, _HITS),
    "recall": (_RATIO, _HITS),
    "jaccard": (_RATIO, _HITS),
    "roc_auc": (_RANK, _CHANCES),
    "average_precision": (_RANK, _CHANCES),
    "pr_auc": (_RANK, _CHANCES),
    "ndcg": ("its discount depends on ranks", _TOP),
    "dcg": ("it has no range of its own", _TOP),
    "label_ranking_average_precision": (_RANK, _TOP),
    "r2": (_SPREAD, _SQUARES),
    "explained_variance": (_SPREAD, _SQUARES),
    "d2_absolute_error": (_SPREAD, "ask mae with range=(0, largest error that matters)"),
    "d2_brier": (_SPREAD, "ask brier"),
    "d2_log_loss": (_SPREAD, "ask log_loss"),
    "rmse": (_ROOT, f"{_SQUARES}, and take the root of the interval's ends"),
    "rmsle": (_ROOT, f"{_SQUARES} on logarithms, and take the root of the interval's ends"),
    "msle": ("it has no range of its own", f"{_SQUARES} on logarithms"),
    "median_absolute_error": (_ORDER, _WITHIN),
    "max_error": (_ORDER, _WITHIN),
    "mape": (
        "its value at a label near zero has no range",
        "ask mae with range=(0, largest error that matters)",
    ),
    "pinball": ("it has no range of its own", "ask mae with range=(0, largest error that matters)"),
    "poisson_deviance": ("it has no range of its own", _SQUARES),
    "gamma_deviance": ("it has no range of its own", _SQUARES),
    "matthews_corrcoef": (_CHANCE, _HITS),
    "cohen_kappa": (_CHANCE, _HITS),
    "pearson": (_SPREAD, _SQUARES),
    "spearman": (_RANK, _SQUARES),
    "kendall": (_RANK, _SQUARES),
    "likelihood_ratio": (_RATIO, _HITS),
    "adjusted_rand": (_CLUSTERS, _SHARES),
    "rand": (_CLUSTERS, _SHARES),
    "mutual_info": (_CLUSTERS, _SHARES),
    "adjusted_mutual_info": (_CLUSTERS, _SHARES),
    "normalized_mutual_info": (_CLUSTERS, _SHARES),
    "homogeneity": (_CLUSTERS, _SHARES),
    "completeness": (_CLUSTERS, _SHARES),
    "v_measure": (_CLUSTERS, _SHARES),
    "fowlkes_mallows": (_CLUSTERS, _SHARES),
    "silhouette": (_CLUSTERS, _SHARES),
    "calibration_error": ("it averages within bins that depend on the rows", "ask brier or log_loss"),
}

_OTHER_NAMES = {
    "auc": "roc_auc",
    "ap": "average_precision",
    "matthews": "matthews_corrcoef",
    "mcc": "matthews_corrcoef",
    "kappa": "cohen_kappa",
    "ece": "calibration_error",
    "root_mean_squared_error": "rmse",
    "root_mean_squared_log_error": "rmsle",
    "mean_squared_log_error": "msle",
    "median_error": "median_absolute_error",
    "mean_absolute_percentage_error": "mape",
    "mean_pinball_loss": "pinball",
    "mean_poisson_deviance": "poisson_deviance",
    "mean_gamma_deviance": "gamma_deviance",
    "positive_likelihood_ratio": "likelihood_ratio",
    "negative_likelihood_ratio": "likelihood_ratio",
}
_ENDINGS = ("_micro", "_macro", "_weighted", "_samples", "_ovr", "_ovo", "_score")


def known_as(name: str) -> str:
    """The table's name for a metric, without averaging and sign.

    >>> known_as("f1_macro"), known_as("neg_root_mean_squared_error"), known_as("roc_auc_ovr_weighted")
    ('f1', 'rmse', 'roc_auc')
    """
    short = name.removeprefix("neg_")
    while short not in REFUSED and short not in _OTHER_NAMES:
        shorter = next((short.removesuffix(ending) for ending in _ENDINGS if short.endswith(ending)), short)
        if shorter == short:
            break
        short = shorter
    return _OTHER_NAMES.get(short, short)


def refuse(name: str) -> None:
    """Raise :class:`Unaskable` if this metric is known not to be askable.

    >>> refuse("r2")
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: r2 cannot be asked: it divides by the spread of the labels in the rows, and so \
is not a mean over rows of a value with a declared range. Instead, ask mse with range=(0, largest squared \
error that matters).
    """
    if known_as(name) in REFUSED:
        reason, instead = REFUSED[known_as(name)]
        raise Unaskable(
            f"{name[:80]} cannot be asked: {reason}, and so is not a mean over rows of a value with a "
            f"declared range. Instead, {instead}.",
            metric=name,
        )
