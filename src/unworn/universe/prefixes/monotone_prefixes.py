"""Noisy prefix sums made possible ones: they never fall, start at 0 and end at n, and no bound is lost."""

from __future__ import annotations

import numpy as np

from unworn.queries.row_protocol import Floats


def monotone(noisy: Floats, widths: Floats, total: float) -> tuple[Floats, Floats]:
    """The nearest sequence that rises from 0 to ``total``, and how far each of its values can be from the truth.

    Where every true prefix lies within ``widths`` of its noisy value, two things are known. (1) Isotonic regression is
    a maximum over starts i <= k of minima over ends j >= k of means of noisy[i..j]; means, minima and maxima move by no
    more than the largest move of their arguments, and a rising sequence is its own regression: so the result is
    nowhere further from the truth than the largest width. (2) As the truth rises, it lies above every low end before
    it and below every high end after it. The result is moved between these ends, which also rise, and the smaller of
    both bounds is returned.

    >>> values, errors = monotone(np.array([1.0, 5.0, 3.0, 9.0]), np.full(4, 2.0), 10.0)
    >>> values.tolist(), errors.tolist()
    ([1.0, 4.0, 4.0, 9.0], [2.0, 1.0, 1.0, 2.0])
    """
    from scipy.optimize import isotonic_regression

    low = np.maximum.accumulate(np.clip(noisy - widths, 0.0, total))
    high = np.minimum.accumulate(np.clip(noisy + widths, 0.0, total)[::-1])[::-1]
    fitted = np.clip(isotonic_regression(noisy).x, 0.0, total)
    values = np.minimum(np.maximum(fitted, low), high)  # where the widths failed low may pass high: still rising
    errors = np.minimum(np.maximum(high - values, values - low), np.max(widths))
    return values, np.where(low <= high, errors, np.max(widths))
