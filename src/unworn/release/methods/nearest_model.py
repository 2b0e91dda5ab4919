"""The distribution that fits estimated tables, cell by cell or in factors, and no better than their noise deserves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.release.methods.method import Progress
from unworn.release.methods.starting_model import EXPLICIT
from unworn.universe.model.factored_model import Factored
from unworn.universe.model.measurement_replay import Measurement, replay
from unworn.universe.model.model import Model
from unworn.universe.model.model_fitting import fit_model
from unworn.universe.model.question_blocks import Block
from unworn.universe.model.simplex_fit import PART, fitted_cells

STEPS = 400
_AT_ONCE = 25
_GAIN = 0.05
"""A distribution in factors is fitted so many steps at a time, until these lower the misfit by less than this part."""


def nearest(
    shape: tuple[int, ...],
    blocks: Sequence[Block],
    shares: Sequence[Floats],
    precisions: Sequence[float],
    progress: Progress | None,
) -> tuple[Model, dict[str, Any]]:
    """The distribution, and how the fit went: its misfit is told as a part of the rows' own expected one."""
    expected = 0.5 * math.fsum(block.size for block in blocks)
    if math.prod(shape) <= EXPLICIT:
        found = fitted_cells(
            shape,
            [block.axes for block in blocks],
            [share.reshape(block.shape) for block, share in zip(blocks, shares, strict=True)],
            precisions,
            noise=expected,
            steps=STEPS,
            step_done=None if progress is None else lambda done: progress(done, STEPS),
        )
        return found.model, {"steps": found.steps, "misfit": found.misfit / expected}
    model, measured = Factored(shape), list(zip(blocks, (s.reshape(-1) for s in shares), precisions, strict=True))
    # Scaling the factors to each table in turn comes near at once; least squares then weighs them against each other.
    replay(model, [Measurement(block, None, share, weight**-0.5) for block, share, weight in measured], 1)
    misfit, done = math.inf, 0
    while done < STEPS:
        model = fit_model(model, measured, _AT_ONCE, 1e-6)
        done, before, misfit = done + _AT_ONCE, misfit, _misfit(model, blocks, shares, precisions)
        if progress is not None:
            progress(done, STEPS)
        if misfit <= PART * expected or misfit > (1.0 - _GAIN) * before:
            break
    return model, {"steps": done, "misfit": misfit / expected}


def _misfit(model: Model, blocks: Sequence[Block], shares: Sequence[Floats], precisions: Sequence[float]) -> float:
    told = model.tables([block.axes for block in blocks])
    off = (table.reshape(-1) - share.reshape(-1) for table, share in zip(told, shares, strict=True))
    return 0.5 * math.fsum(w * float(np.vdot(d, d)) for w, d in zip(precisions, off, strict=True))
