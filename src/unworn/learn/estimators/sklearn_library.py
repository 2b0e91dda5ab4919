"""All that is taken from scikit-learn, in one place: nothing else here imports it."""

from __future__ import annotations

from unworn.errors import MissingExtra

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra.of("sklearn", "unworn.learn.estimators") from None

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "DensityMixin",
    "RegressorMixin",
    "check_classification_targets",
    "check_is_fitted",
    "check_random_state",
    "type_of_target",
    "validate_data",
]
