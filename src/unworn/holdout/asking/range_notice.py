"""A range that is shorter than the losses: what it cuts off is part of no number, and nobody would notice.

``rmse`` with the range of the errors instead of their squares, or dollars in a range of thousands, is answered with an
interval that holds, for something else than was meant. Rows that may be seen show it before any other row is read.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from unworn.basics.display import show_line
from unworn.errors import ShortRange, Unaskable
from unworn.holdout.asking.code_on_train import run_on_train
from unworn.queries.metrics.loss_metrics import NumberError
from unworn.queries.metrics.scaled_losses import MaskedLoss
from unworn.queries.query import Query

if TYPE_CHECKING:
    from unworn.rows import Sample

_LONGER = 10.0
_MUCH_MORE = 1.1
"""By how much a range ten times as long may raise a mean before it is worth a word."""


def warn_if_short(query: Query, rows: Sample, stacklevel: int = 5) -> None:
    """Say so where losses of visible rows are cut to the range in large part."""
    if isinstance(query, MaskedLoss):
        query = MaskedLoss(query.inner, query.where)  # whole losses, not their distances from a centre
    inner = query.inner if isinstance(query, MaskedLoss) else query
    if not isinstance(inner, NumberError):  # others have a range of their own, or one that is part of their meaning
        return
    longer = replace(inner, high=inner.low + _LONGER * (inner.high - inner.low))
    wide: Query = MaskedLoss(longer, query.where) if isinstance(query, MaskedLoss) else longer
    try:
        for each in (query, wide):
            each.facts(rows.schema, rows.length).check()
    except Unaskable:  # these rows have no labels, or so long a range cannot be calculated with
        return
    mean, whole = (float(each) for each in run_on_train(query, rows, lambda: rows.means([query, wide])))
    if whole <= _MUCH_MORE * mean:
        return
    warnings.warn(
        f"range=({inner.low:g}, {inner.high:g}) is shorter than the losses: on rows that may be seen, "
        f"{show_line(query.label)} is {mean:.4g} within it and {whole:.4g} within ({longer.low:g}, {longer.high:g}).\n"
        "  Larger losses count as the end of the range: declare the largest that matters; of rmse and r2 it is that of "
        "squared errors.",
        ShortRange,
        stacklevel=stacklevel,
    )
