"""A raised cosine, whole or cut off before it reaches 0, spread by a normal: its logarithm, far beyond its ends too.

It is the law that covers bounded noise (:mod:`unworn.bounds.covers`), and what lies beyond its ends decides whether it
does: so nothing that is small may be lost beside something that is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from unworn.bounds.numerics import Floats

_FAR = 10.0
"""Standard deviations from an end of the cosine, past which nothing that came from beyond it is left in a float."""
_WIDE = 4.0
"""Standard deviations from the middle of the cosine to its ends, from which on they are treated one by one."""


def log_spread_cosine(end: float, zero: float, x: Floats) -> Floats:
    """The logarithm of 1 + cos(pi z / zero) on -end .. end, spread by a standard normal, at x >= 0; but for a constant.

    Let the cosine go on for ever: spread, it is 1 - flatter cos(pi u / zero) at a distance u from where it is 0. Of
    that is taken off what came from past either end; beyond an end only what came from before it is left. Where both
    ends are near, a plain sum over the cosine.

    >>> inside, beyond = log_spread_cosine(30.0, 31.0, np.array([0.0, 40.0]))
    >>> round(float(inside), 4), round(float(beyond), 2)  # ln(2 - 0.0051)
    (0.6906, -58.31)
    """
    if end < _WIDE:
        nodes, weights = _quadrature()
        z = end * nodes
        logs = np.log(weights * np.cos(0.5 * np.pi * (end / zero) * nodes) ** 2) - 0.5 * z**2
        return _log_sums(lambda at: logs + at * z, x) - 0.5 * x**2
    rate, gap = math.pi / zero, zero - end
    past, other = np.full_like(x, -math.inf), np.full_like(x, -math.inf)
    near, before = (x > end - _FAR) & (x < end), x < end
    past[near] = _log_past(rate, end - x[near], -gap)
    past[~before] = _log_past(rate, x[~before] - end, gap)
    other[x < _FAR - end] = _log_past(rate, x[x < _FAR - end] + end, -gap)
    u = zero - x
    flat = -math.expm1(-0.5 * rate * rate) * np.cos(rate * u) + 2.0 * np.sin(0.5 * rate * u) ** 2
    found = np.empty_like(x)
    found[before] = np.log(flat[before] - np.exp(past[before]) - np.exp(other[before]))
    found[~before] = past[~before] + np.log1p(-np.exp(other[~before] - past[~before]))
    return found


def _log_past(rate: float, u: Floats, ahead: float) -> Floats:
    """ln of int_0^inf (1 - cos(rate (w + ahead))) phi(u + w) dw: a sum of positive terms, of which none is lost."""

    def logs(at: Floats) -> Floats:
        last = np.minimum(13.0, 45.0 / np.maximum(at, 1e-300))  # what comes from further is no sixteenth digit
        nodes, weights = _quadrature()
        w = last * (0.5 * (nodes + 1.0))
        with np.errstate(divide="ignore"):  # a node may be where the cosine is 0
            found: Floats = np.log(last * weights * np.sin(0.5 * rate * (w + ahead)) ** 2) - w * (at + 0.5 * w)
        return found

    return _log_sums(logs, u) - 0.5 * u**2 - 0.5 * math.log(math.tau)


def _log_sums(logs: Callable[[Floats], Floats], places: Floats) -> Floats:
    """The logarithm of a sum at each place, a few thousand places at a time."""
    found = np.empty_like(places)
    for first in range(0, len(places), 4096):
        part = slice(first, first + 4096)
        found[part] = np.log(np.exp(logs(places[part, np.newaxis])).sum(axis=1))
    return found


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Floats, Floats]:
    """Gauss and Legendre's nodes and weights: made when first needed, for they take longer than importing the rest."""
    return np.polynomial.legendre.leggauss(96)
