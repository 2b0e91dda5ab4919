"""Holdout sets wear out. Yours won't."""

from unworn.errors import Exhausted, Failed, Mismatch, Refused, Unaskable, UnwornError
from unworn.holdout import Holdout
from unworn.plan import Plan, plan
from unworn.queries import (
    Query,
    accuracy,
    balanced_accuracy,
    brier,
    col,
    compare,
    function,
    lit,
    log_loss,
    mae,
    mean,
    mse,
    share,
    statistic,
    top_k,
)
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.verdict import Verdict

__all__ = [
    "Answer",
    "Certificate",
    "Exhausted",
    "Failed",
    "Holdout",
    "Mismatch",
    "Plan",
    "Query",
    "Refused",
    "Unaskable",
    "UnwornError",
    "Verdict",
    "accuracy",
    "balanced_accuracy",
    "brier",
    "col",
    "compare",
    "function",
    "lit",
    "log_loss",
    "mae",
    "mean",
    "mse",
    "plan",
    "share",
    "statistic",
    "top_k",
]
