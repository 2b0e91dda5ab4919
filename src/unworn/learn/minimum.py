"""Minimum: coefficients, and how much more the population's risk can be there than at its best."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from unworn.basics.display import show_line
from unworn.basics.output_files import write_output
from unworn.errors import UnwornError
from unworn.learn.regions import Floats, Region
from unworn.queries.learning.linear_features import Feature
from unworn.queries.learning.linear_losses import LinearLoss
from unworn.queries.learning.slope_table import SlopeTable

WHAT = "excess population risk of a minimiser"
NOT_CUT = "The risk is that of the declared problem: features and target cut to their bounds and scaled to [-1, 1]."
PUBLIC_BLOCKS = "The seed that chose the blocks of coordinates was fixed without looking at the rows or at any answer."


def as_table(table: SlopeTable) -> str:
    """What is certified of a loss of one's own."""
    return (
        f"The risk is that of the {table.name} loss as tabulated. The function it was made from lies within "
        f"{table.distance:g} of the table, if it is convex and has the slope that was given: then its own excess is at "
        f"most {2 * table.distance:g} more."
    )


@dataclass(frozen=True)
class Minimum:
    """What :func:`~unworn.learn.minimise` returns: a function of the released answers, and of nothing else.

    ``coefficients`` belong to the scaled features (:attr:`raw` has them in the columns' own units). With probability
    ``confidence``, together with every other answer of the holdout, F(coefficients) - min F <= ``excess`` over the
    region, for F the population's mean loss plus the ``ridge`` penalty; ``excess`` = ``regret`` + ``error``, what
    descent left and what the answers' intervals leave open. ``promise`` is the regret that the theorem gave before the
    first ask. ``risk`` is the population's mean loss there (value, low, high), if it was asked.
    """

    loss: LinearLoss
    over: Region
    ridge: float
    coefficients: tuple[float, ...]
    excess: float
    regret: float
    error: float
    promise: float
    confidence: float
    iterations: int
    asks: int
    method: str
    picked: str
    risk: tuple[float, float, float] | None
    holdout: str
    answers: tuple[int, int]
    head: str
    assumptions: tuple[str, ...]

    @property
    def raw(self) -> tuple[float, Floats]:
        """(intercept, one coefficient per feature) in the columns' own units; regressions in the target's units.

        It is the same rule wherever features lie inside their bounds.
        """
        at = np.array(self.coefficients)
        intercept, slopes = (float(at[0]), at[1:]) if self.loss.intercept else (0.0, at)
        halves, middles = np.ones(len(slopes)), np.zeros(len(slopes))
        for place, feature in enumerate(self.loss.features):
            if not isinstance(feature, Feature):
                raise ValueError("stumps have no coefficient in the columns' own units: use .coefficients")
            halves[place] = (feature.high - feature.low) / 2
            middles[place] = (feature.high + feature.low) / 2
        raw = slopes / halves
        intercept -= float(raw @ middles)
        if self.loss.range is not None:
            low, high = self.loss.range
            half = (high - low) / 2
            return intercept * half + (low + high) / 2, raw * half
        return intercept, raw

    @property
    def certificate(self) -> dict[str, Any]:
        """Everything the bound rests on, as JSON: the theorem, the numbers, and where in the ledger its answers are."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        told |= {name: None for name in ("excess", "error") if not math.isfinite(told[name])}  # nothing is promised
        by = next((what for way, what in BY.items() if self.picked.endswith(way)), "")
        return {
            "what": WHAT,
            "theorem": THEOREMS[self.method] + by,
            **told,
            "loss": self.loss.to_json(),
            "over": self.over.to_json(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate as JSON; a file that is no such certificate is never replaced."""
        data = json.dumps(self.certificate, indent=1, ensure_ascii=False, allow_nan=False).encode()
        try:
            write_output(path, data, "such a certificate", lambda head: WHAT.encode() in head[:100])
        except OSError as error:
            raise UnwornError(
                f"the certificate {show_line(path)[:200]} could not be written: {error.strerror}"
            ) from None

    def __str__(self) -> str:
        risk = "" if self.risk is None else f"risk {self.risk[0]:.4g} in [{self.risk[1]:.4g}, {self.risk[2]:.4g}] · "
        return (
            f"{risk}at most {self.excess:.4g} above the best · {self.iterations} iterations · {self.asks} asks · "
            f"{100 * self.confidence:.6g} %"
        )


THEOREMS = {
    "smooth": "O3: proximal gradient descent on a smooth convex loss, gradients known within intervals",
    "strongly convex": "O2: projected subgradient descent on a strongly convex loss, gradients known within intervals",
    "convex": "O1: projected subgradient descent on a convex loss, gradients known within intervals",
    "corners": "O4: conditional gradient descent on a smooth convex loss, gradients known within intervals",
}
"""By name of the method; all of them in docs/theory/optimisation.md."""

BY = {
    "by its curvature": "; certified by the curvature asked for at the point",
    "by its risk": "; certified by the risk asked for at the point, since no loss is below its least value",
}
"""By how ``picked`` ends: what the bound rests on, where it is not the gradients alone."""
