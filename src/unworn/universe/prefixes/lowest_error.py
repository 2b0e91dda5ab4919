"""What no strategy for prefix sums can do better than."""

from __future__ import annotations

import math

import numpy as np


def lowest(cells: int) -> float:
    """A bound from below on the distance of columns times the largest standard deviation, of any linear strategy.

    Let B C = A + a 1^T, A the prefixes and a anything, since n is known. (1) Points no further apart than D lie, once
    moved, within D sqrt((m - 1)/(2m)) of the origin (Jung 1901). (2) The singular values of B C sum to at most |B| |C|,
    Frobenius lengths, so to at most sqrt(m (m - 1)) times the longest row and the longest column. (3) Projecting off
    the constants makes none larger, and leaves the bridge covariance min(k, l) - kl/m, whose inverse is the second
    difference: singular values 1/(2 sin(pi j / (2m))). Together sqrt(2)/(m - 1) times their sum, about
    sqrt(2) (ln(m)/pi + 0.26).

    >>> round(lowest(2), 3), round(lowest(1024), 2), round(lowest(2**20), 2)
    (1.0, 3.49, 6.61)
    """
    j = np.arange(1, cells)
    return math.sqrt(2.0) / (cells - 1) * float(np.sum(0.5 / np.sin(math.pi * j / (2.0 * cells))))
