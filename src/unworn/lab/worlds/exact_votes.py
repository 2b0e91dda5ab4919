"""How often a weighted vote is right on fresh rows without end, exactly: its weights are whole numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.lab.worlds.world import Floats

Whole = NDArray[np.int64]

STEPS = 50
"""The largest weight: a vote is rounded to so many steps before anybody asks, so its truth is a finite sum."""


def whole_weights(weights: ArrayLike) -> Whole:
    """Weights in whole steps of the largest.

    >>> whole_weights([0.5, -1.0, 0.001]).tolist()
    [25, -50, 0]
    """
    given = np.asarray(weights, dtype=np.float64)
    top = float(np.abs(given).max(initial=0.0))
    return np.rint(given * (STEPS / top if top > 0 else 0.0)).astype(np.int64)


def vote_truth(weights: Whole, chances: Floats) -> float:
    """How often Σ w_j r_j ≥ 0 decides rightly, where r_j is 1 with its chance and else −1, independently.

    The label is a fair coin, and a vote of 0 says 1: it is right half of the time.

    >>> vote_truth(np.array([1, 1, 1]), np.array([0.5, 0.5, 0.5]))
    0.5
    >>> round(vote_truth(np.array([1, 1, 1]), np.array([0.6, 0.6, 0.6])), 3)  # 0.6³ + 3·0.6²·0.4
    0.648
    """
    return right_share(vote_law(weights, chances))


def vote_law(weights: Whole, chances: Floats) -> Floats:
    """The probability of each value of Σ w_j r_j, from −Σ|w_j| up to Σ|w_j|.

    >>> vote_law(np.array([1, 2]), np.array([0.5, 1.0])).tolist()  # −3 … 3
    [0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.5]
    """
    law = np.ones(1)
    for weight, chance in zip(weights.tolist(), chances.tolist(), strict=True):
        up, down = (chance, 1 - chance) if weight > 0 else (1 - chance, chance)
        reach = abs(weight)
        law = down * np.pad(law, (0, 2 * reach)) + up * np.pad(law, (2 * reach, 0))
    return law


def chained_truth(weights: Whole, chances: Floats, change: float) -> float:
    """The same where each r_j is the one before it, or drawn anew with the probability ``change``.

    ``chances`` are those of the new draws. The first is always one.

    >>> round(chained_truth(np.array([1, 1, 1]), np.array([0.6, 0.6, 0.6]), 1.0), 3)
    0.648
    >>> round(chained_truth(np.array([1, 1, 1]), np.array([0.6, 0.6, 0.6]), 0.0), 3)
    0.6
    """
    laws = [np.zeros(1), np.zeros(1)]  # of the sum, where the last was wrong, and where it was right
    for place, (weight, chance) in enumerate(zip(weights.tolist(), chances.tolist(), strict=True)):
        if place == 0:
            laws = [np.array([1 - chance]), np.array([chance])]
        else:
            both = laws[0] + laws[1]
            laws = [
                (1 - change) * laws[0] + change * (1 - chance) * both,
                (1 - change) * laws[1] + change * chance * both,
            ]
        reach = abs(weight)
        ends = [(0, 2 * reach), (2 * reach, 0)] if weight > 0 else [(2 * reach, 0), (0, 2 * reach)]
        laws = [np.pad(law, end) for law, end in zip(laws, ends, strict=True)]
    return right_share(laws[0] + laws[1])


def right_share(law: Floats) -> float:
    """The share of a symmetric stretch of sums that lies above 0, and half of what lies on it."""
    middle = len(law) // 2
    return float(law[middle + 1 :].sum() + law[middle] / 2)
