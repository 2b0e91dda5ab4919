"""The sparse vector technique with its parts exchangeable, many trials at once: what all the controls are made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.lab.audit.output_features import key_of
from unworn.lab.audit.target import Outcome, Outputs, Pair

BELOW, ABOVE = 0, 1
"""The answers of a pattern; in outputs they are +inf and −inf, as words are, and NaN is no answer."""


def laplace(rng: np.random.Generator, scale: float, size: int) -> NDArray[np.float64]:
    """Laplace noise, fast and good enough for a control: a float may show what a count was, which no test here uses."""
    if scale == 0.0:
        return np.zeros(size)
    noise = scale * rng.standard_exponential(size)
    np.negative(noise, out=noise, where=rng.integers(0, 2, size, dtype=np.bool_))
    return noise


def compare(
    values: Sequence[float],
    trials: int,
    rng: np.random.Generator,
    *,
    threshold_scale: float,
    query_scale: float,
    cutoff: int | None = None,
    refreshed: bool = False,
    shown: bool = False,
) -> Outputs:
    """Hold each value, with noise, against a threshold of 0, with noise of its own.

    One row per trial: +inf for below, −inf for above, NaN once ``cutoff`` values were above and nothing is answered any
    more. ``refreshed`` draws a new threshold after each value above; ``shown`` tells the noisy value itself instead of
    "above".
    """
    told: NDArray[Any] = np.full((trials, len(values)), np.nan, np.float64 if shown else np.float32)
    active = np.arange(trials)
    threshold = laplace(rng, threshold_scale, trials)
    left = np.full(trials, len(values) + 1 if cutoff is None else cutoff)
    for place, value in enumerate(values):
        noisy = value + laplace(rng, query_scale, len(active))
        above = noisy >= threshold
        told[active, place] = np.where(above, noisy if shown else -np.inf, np.inf)
        left -= above
        if refreshed:
            threshold[above] = laplace(rng, threshold_scale, int(above.sum()))
        going = left > 0
        if not going.all():
            active, threshold, left = active[going], threshold[going], left[going]
    return told


def exactly(pattern: Sequence[int]) -> Outcome:
    """The outcome that the answers begin with this pattern.

    >>> exactly([BELOW, BELOW, ABOVE]).label
    'below² above'
    """
    told = np.where(np.array(pattern) == ABOVE, -np.inf, np.inf)
    return Outcome(key_of(told), partial(_begins, told.astype(np.float32)))


def _begins(pattern: NDArray[np.float32], outputs: Outputs) -> NDArray[np.bool_]:
    return np.asarray((outputs[:, : len(pattern)] == pattern).all(axis=1))


def late(length: int) -> Pair:
    """0 … 0, 1 against 1 … 1, 0, told apart by ``length`` times below and then above."""
    pattern = [BELOW] * length + [ABOVE]
    first, second = [0.0] * length + [1.0], [1.0] * length + [0.0]
    return Pair(first, second, f"0^{length} 1 against 1^{length} 0", (exactly(pattern),))


def half(length: int) -> Pair:
    """0 … 0 against 1 … 1, −1 … −1, told apart by ``length`` times below and then as often above."""
    pattern = [BELOW] * length + [ABOVE] * length
    first, second = [0.0] * (2 * length), [1.0] * length + [-1.0] * length
    return Pair(first, second, f"0^{2 * length} against 1^{length} (−1)^{length}", (exactly(pattern),))
