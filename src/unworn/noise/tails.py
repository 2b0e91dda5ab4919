"""The probabilities that settle a draw, to any number of digits; the value of a float is taken exactly.

Imported by the samplers when a draw has to be settled, which is seldom.
"""

from __future__ import annotations

from fractions import Fraction

from unworn.noise.reals import Bounds, exponential, geometric_tail, normal_tail, squared_sine


def laplace_tail(scale: float, m: int, digits: int) -> Bounds:
    """P(X >= m) = q^m / (1 + q) with q = exp(-1/scale), for discrete Laplace noise and m >= 0."""
    exact = Fraction(scale)
    return geometric_tail(m / exact, 1 / exact, digits)


def gaussian_tail(sd: float, m: int, digits: int) -> Bounds:
    """P(X >= m) = P(Z > (m - 1/2) / sd), for rounded Gaussian noise and m >= 1."""
    return normal_tail((2 * m - 1) / (2 * Fraction(sd)), digits)


def cosine_chance(N: int, m: int, digits: int) -> Bounds:
    """(1 + cos(pi m / N)) / 2 = sin(pi (N - |m|) / (2N))^2, for |m| <= N."""
    return squared_sine(Fraction(N - abs(m), 2 * N), digits)


def kept_chance(sd: float, t: int, m: int, digits: int) -> Bounds:
    """exp(-(|m| - sd^2/t)^2 / (2 sd^2)): the chance of keeping discrete Laplace noise of scale t as Gaussian."""
    square = Fraction(sd) ** 2
    return exponential((abs(m) - square / t) ** 2 / (2 * square), digits)
