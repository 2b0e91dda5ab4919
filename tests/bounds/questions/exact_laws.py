"""Small worlds in which every outcome can be listed with its probability, so that coverage is exact down to 1e-6."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.stats import binom

LEVELS = (0.5, 0.05, 1e-6)
Law = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Three values, and the chance of each."""
LAWS: list[Law] = [
    ((0.0, 0.1, 1.0), (0.3, 0.69, 0.01)),
    ((0.0, 0.05, 1.0), (0.6, 0.3, 0.1)),
    ((0.0, 0.5, 1.0), (0.1, 0.8, 0.1)),
    ((0.4, 0.5, 0.6), (0.3, 0.4, 0.3)),
    ((0.0, 0.9, 1.0), (0.04, 0.5, 0.46)),
    ((0.0, 0.001, 1.0), (0.0, 0.98, 0.02)),
]


def three_point_outcomes(
    values: tuple[float, float, float], chances: tuple[float, float, float], n: int
) -> Iterator[tuple[float, float, float]]:
    """(probability, mean, variance) of n rows for every way in which they can fall on three values."""
    logs = [math.log(chance) if chance > 0 else -math.inf for chance in chances]
    for first in range(n + 1):
        for second in range(n + 1 - first):
            counts = (first, second, n - first - second)
            if any(count and log == -math.inf for count, log in zip(counts, logs, strict=True)):
                continue
            log_chance = math.lgamma(n + 1) + sum(
                count * log - math.lgamma(count + 1) for count, log in zip(counts, logs, strict=True) if count
            )
            mean = sum(count * value for count, value in zip(counts, values, strict=True)) / n
            variance = sum(count * (value - mean) ** 2 for count, value in zip(counts, values, strict=True)) / n
            yield math.exp(log_chance), min(max(mean, 0.0), 1.0), variance


def conditional_outcomes(n: int, share_of_a: float, share_of_b: float) -> Iterator[tuple[float, int, int]]:
    """(probability, rows in A, rows in A and B) of n rows."""
    outer = binom.pmf(np.arange(n + 1), n, share_of_a)
    for rows in range(n + 1):
        inner = binom.pmf(np.arange(rows + 1), rows, share_of_b)
        for count in range(rows + 1):
            yield float(outer[rows] * inner[count]), rows, count


def two_score_outcomes(positives: int, negatives: int, p: float, q: float) -> Iterator[tuple[float, int, int]]:
    """(probability, positives that score high, negatives that do), with only two scores."""
    ups, downs = (binom.pmf(np.arange(count + 1), count, chance) for count, chance in ((positives, p), (negatives, q)))
    for high in range(positives + 1):
        for low in range(negatives + 1):
            yield float(ups[high] * downs[low]), high, low
