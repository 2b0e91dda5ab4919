"""The square root of the summation: two Toeplitz factors with a logarithm where the tree has its square."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.universe.prefixes.power_series import exact_product, overlaps, product, reciprocal, wrong
from unworn.universe.prefixes.prefix_strategy import Integers, PrefixStrategy


@dataclass(frozen=True)
class SquareRoot(PrefixStrategy):
    """Prefix sums are multiplication by 1/(1 - x); this measures multiplication by its square root.

    (1 - x)^(-1/2) has the coefficients f_0 = 1, f_j = f_{j-1} (1 - 1/(2j)). Measured with Gaussian noise and
    multiplied by the root once more, no prefix has a standard deviation above f_0^2 + ... + f_{m-1}^2 =
    ln(m)/pi + 1.066 noise units, for a row added or removed (Fichtenberger, Henzinger and Upadhyay 2023):

    >>> root = SquareRoot(1024)
    >>> round(root.norm * float(np.linalg.norm(root.back)), 2)
    3.27

    Here a row is replaced and n is known. Columns of a lower-triangular Toeplitz matrix are shifts of each other, cut
    off at the end, so two of them at a given distance differ most where the first is the first of all: one
    autocorrelation finds the largest distance. And the last prefix is n: what the measurements say of it beyond n is
    noise that is known, and its regression is taken off every other prefix. This is the least-squares estimate.

    >>> round(root.l2 * float(root.spread.max()), 2)
    4.02

    Columns made equally long (Henzinger, Kalinin and Upadhyay 2025) help where rows are added or removed; the two
    columns furthest apart then are further apart still, and 4.02 becomes 4.22.

    Exactness: the coefficients are rounded to multiples of 1/``grid`` *first*, so what is measured is a whole number,
    noise on whole numbers is exact, and the distance is that of the rounded columns. Estimates use the reciprocal of
    the rounded series, so they stay unbiased.
    """

    @property
    def grid(self) -> int:
        # Rounding moves each of m coefficients by 1/(2 grid) at most, so the largest variance by about m/(12 grid^2).
        return 1 << max(12, 6 + ((self.cells - 1).bit_length() + 1) // 2)

    @cached_property
    def coefficients(self) -> Integers:
        """``grid`` times the first column of C, in whole numbers."""
        steps = 1.0 - 0.5 / np.arange(1, self.cells)
        return np.asarray(np.rint(self.grid * np.cumprod(np.concatenate([np.ones(1), steps]))), dtype=np.int64)

    @cached_property
    def back(self) -> Floats:
        """The first column of the matrix that takes C h to prefix sums: 1/((1 - x) c(x))."""
        return reciprocal(np.diff(self.coefficients, prepend=0) / self.grid)

    @property
    def l1(self) -> float:
        return math.inf  # real columns of about sqrt(m): of no use with Laplace noise

    @cached_property
    def l2(self) -> float:
        column = self.coefficients / self.grid
        lengths = np.cumsum(column**2)
        apart = lengths[-1] + lengths[-2::-1] - 2.0 * overlaps(column)[1:]
        return math.sqrt(float(np.max(apart)) + 4.0 * wrong(self.cells) * float(lengths[-1])) * (1.0 + 1e-12)

    @cached_property
    def norm(self) -> float:
        return float(np.linalg.norm(self.coefficients)) / self.grid

    @cached_property
    def _regression(self) -> Floats:
        """What each prefix's error shares with the last one's, as a part of that."""
        shared = overlaps(self.back)
        return np.asarray(shared[:0:-1] / shared[0])

    @cached_property
    def spread(self) -> Floats:
        lengths = np.cumsum(self.back**2)
        return np.asarray(np.sqrt(lengths[:-1] - self._regression**2 * lengths[-1]))

    @cached_property
    def reach(self) -> Floats:
        sums = np.cumsum(np.abs(self.back))
        return np.asarray(sums[:-1] + np.abs(self._regression) * sums[-1])

    def measure(self, counts: Integers) -> Integers:
        return exact_product(self.coefficients, counts, int(np.sum(counts)))

    def prefixes(self, measured: Floats, rows: int) -> Floats:
        sums = product(self.back, measured, self.cells)
        return np.asarray(sums[:-1] - self._regression * (sums[-1] - rows))

    def rounding(self, measured: Floats, rows: int) -> float:
        # One product, the series it multiplies by (the result of one), and the regression, which at most doubles both.
        lengths = float(np.linalg.norm(self.back)) * float(np.linalg.norm(measured))
        return 2.0**-50 * rows + 4.0 * wrong(self.cells) * lengths
