"""Constants near the losses in a subgroup, from rows that may be seen: they make the answer narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unworn.errors import Unaskable
from unworn.holdout.asking.code_on_train import run_on_train
from unworn.queries.composite import Question
from unworn.queries.language.expressions import Expression
from unworn.queries.language.means import share
from unworn.queries.metrics.composite_metrics import centre_losses
from unworn.queries.metrics.scaled_losses import MaskedLoss
from unworn.queries.metrics.scored_query import Metric

if TYPE_CHECKING:
    from unworn.rows import Sample

_DIGITS = 3


def centre_on_rows(question: Question, rows: Sample, *, arrays: bool) -> Question:
    """A metric in a subgroup, measured from constants that these rows suggest; ``arrays`` where they have their part of
    an array of predictions.
    """

    def centre_of(loss: Metric, where: Expression) -> float | None:
        return _visible_centre(loss, where, rows) if arrays or loss.portable else None

    return centre_losses(question, centre_of)


def _visible_centre(loss: Metric, where: Expression, rows: Sample) -> float | None:
    """About the mean loss where a predicate holds, rounded; None where these rows do not tell.

    What is wrong with the question is said by those who ask it, and is no centre here.
    """
    masked, group = MaskedLoss(loss, where), share(where)
    try:
        for each in (masked, group):
            rows.check(each)
            each.facts(rows.schema, rows.length).check()
    except Unaskable:
        return None
    if loss.needs_features and not rows.has_features:
        return None
    above, size = (float(each) for each in run_on_train(masked, rows, lambda: rows.means([masked, group])))
    if not size:
        return None
    low, high = loss.bounds
    return min(max(float(f"{above / size:.{_DIGITS}g}"), low), high)
