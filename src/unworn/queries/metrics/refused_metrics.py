"""Metrics that cannot be asked, why, and what to ask instead.

An interval needs a theorem: for means over rows of a value with a declared range, for shares of a subset, for rankings
of two classes, and for what is made of those. Whatever else is averaged would print intervals that nothing supports.
"""

from __future__ import annotations

from unworn.errors import Unaskable

_WEIGHTED = "it weighs classes by how often they occur in the rows"
_SAMPLES = "it is for rows with several labels each"
_RANK = "it ranks rows against each other"
_SPREAD = "it divides by a spread of the labels in the rows"
_ROOT = "it is the root of a mean of logarithms"
_ORDER = "it is an order statistic"
_CLUSTERS = "it compares pairs of rows"
_RANGE = "it has no range of its own"

_SQUARES = "ask mse or rmse with range=(0, largest squared error that matters)"
_LOGS = "ask mse or rmse of the logarithms, with labels and predictions given as such"
_WITHIN = "ask within_tolerance: the share of rows whose error is at most tolerance="
_SHARES = "ask the share of rows in each group that matters"
_TOP = "ask top_k_accuracy"
_CURVE = "ask roc_auc, or precision and recall at the threshold you will use"
_EXPLAINED = "ask r2, against a baseline that you name"

REFUSED: dict[str, tuple[str, str]] = {
    "f1_weighted": (_WEIGHTED, "ask f1_macro, or f1 of each class"),
    "precision_weighted": (_WEIGHTED, "ask precision_macro, or precision of each class"),
    "jaccard_weighted": (_WEIGHTED, "ask jaccard_macro, or jaccard of each class"),
    "f1_samples": (_SAMPLES, "ask f1_macro"),
    "precision_samples": (_SAMPLES, "ask precision_macro"),
    "recall_samples": (_SAMPLES, "ask recall_macro"),
    "jaccard_samples": (_SAMPLES, "ask jaccard_macro"),
    "fbeta": ("no interval for it was derived", "ask f1, or precision and recall"),
    "roc_auc_ovo": ("it compares every two classes by themselves", "ask roc_auc_ovr"),
    "roc_auc_ovo_weighted": (_WEIGHTED, "ask roc_auc_ovr"),
    "roc_auc_ovr_weighted": (_WEIGHTED, "ask roc_auc_ovr"),
    "average_precision": (_RANK, _CURVE),
    "pr_auc": (_RANK, _CURVE),
    "ndcg": ("its discount depends on ranks", _TOP),
    "dcg": (_RANGE, _TOP),
    "label_ranking_average_precision": (_RANK, _TOP),
    "explained_variance": (_SPREAD, _EXPLAINED),
    "d2_absolute_error": (_SPREAD, "ask mae with range=(0, largest error that matters), or r2"),
    "d2_brier": (_SPREAD, "ask brier"),
    "d2_log_loss": (_SPREAD, "ask log_loss"),
    "rmsle": (_ROOT, _LOGS),
    "msle": (_RANGE, _LOGS),
    "median_absolute_error": (_ORDER, _WITHIN),
    "max_error": (_ORDER, _WITHIN),
    "poisson_deviance": (_RANGE, _SQUARES),
    "gamma_deviance": (_RANGE, _SQUARES),
    "pearson": (_SPREAD, _EXPLAINED),
    "spearman": (_RANK, "ask r2, or roc_auc for two classes"),
    "kendall": (_RANK, "ask r2, or roc_auc for two classes"),
    "likelihood_ratio": ("it divides by a rate that may be 0", "ask recall and specificity, of which it is made"),
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
    "kolmogorov_smirnov": (_ORDER, "ask recall and specificity at the threshold you will use"),
    "lift": ("it divides by a share of positives in the rows", "ask precision and the share of positives"),
    "tweedie_deviance": (_RANGE, _SQUARES),
    "calibration_error": ("it averages within bins that depend on the rows", "ask brier or log_loss"),
}

_VALUES = "if somebody worked it out for each row, ask values(array, range=(low, high))"

SAID_OTHERWISE: dict[str, str] = {
    "error_rate": "ask accuracy: this is 1 minus it",
    "false_positive_rate": "ask specificity: this is 1 minus it",
    "false_negative_rate": "ask recall: this is 1 minus it",
    "false_discovery_rate": "ask precision: this is 1 minus it",
    "negative_predictive_value": "ask precision with positive= the other class",
    "gini": "ask roc_auc: it is twice that, less 1",
    "smape": "ask mape",
    "huber": "ask mae or mse",
    "hinge": "ask accuracy or log_loss",
    "mean_reciprocal_rank": f"ask top_k_accuracy; {_VALUES}",
    "bleu": _VALUES,
    "rouge": _VALUES,
}
"""Metrics that go by another name here, or that we do not calculate."""

_OTHER_NAMES = {
    "ap": "average_precision",
    "ece": "calibration_error",
    "expected_calibration_error": "calibration_error",
    "auprc": "average_precision",
    "auc_pr": "average_precision",
    "aupr": "average_precision",
    "hamming": "error_rate",
    "hamming_loss": "error_rate",
    "zero_one_loss": "error_rate",
    "error": "error_rate",
    "fpr": "false_positive_rate",
    "fall_out": "false_positive_rate",
    "fallout": "false_positive_rate",
    "fnr": "false_negative_rate",
    "miss_rate": "false_negative_rate",
    "fdr": "false_discovery_rate",
    "npv": "negative_predictive_value",
    "ks": "kolmogorov_smirnov",
    "f2": "fbeta",
    "f0.5": "fbeta",
    "huber_loss": "huber",
    "hinge_loss": "hinge",
    "mean_tweedie_deviance": "tweedie_deviance",
    "poisson": "poisson_deviance",
    "gamma": "gamma_deviance",
    "medae": "median_absolute_error",
    "mrr": "mean_reciprocal_rank",
    "root_mean_squared_log_error": "rmsle",
    "mean_squared_log_error": "msle",
    "median_error": "median_absolute_error",
    "mean_poisson_deviance": "poisson_deviance",
    "mean_gamma_deviance": "gamma_deviance",
    "positive_likelihood_ratio": "likelihood_ratio",
    "negative_likelihood_ratio": "likelihood_ratio",
}
_ENDINGS = ("_micro", "_macro", "_weighted", "_samples", "_ovr", "_ovo", "_score")


def known_as(name: str) -> str:
    """The table's name for a metric, without averaging and sign.

    >>> known_as("neg_max_error"), known_as("neg_root_mean_squared_log_error"), known_as("rand_score")
    ('max_error', 'rmsle', 'rand')
    """
    short = name.strip().lower().replace("-", "_").replace(" ", "_").removeprefix("neg_")
    while short not in REFUSED and short not in SAID_OTHERWISE and short not in _OTHER_NAMES:
        shorter = next((short.removesuffix(ending) for ending in _ENDINGS if short.endswith(ending)), short)
        if shorter == short:
            break
        short = shorter
    return _OTHER_NAMES.get(short, short)


def refuse(name: str) -> None:
    """Raise :class:`Unaskable` if this metric is known not to be askable.

    >>> refuse("average_precision")
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: average_precision cannot be asked: it ranks rows against each other, and no interval \
for it is known to hold. Instead, ask roc_auc, or precision and recall at the threshold you will use.
    """
    known = known_as(name)
    if known in SAID_OTHERWISE:
        raise Unaskable(f"there is no metric {name[:80]} here; {SAID_OTHERWISE[known]}", metric=name)
    if known in REFUSED:
        reason, instead = REFUSED[known]
        raise Unaskable(
            f"{name[:80]} cannot be asked: {reason}, and no interval for it is known to hold. Instead, {instead}.",
            metric=name,
        )
