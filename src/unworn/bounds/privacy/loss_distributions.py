"""Distributions of the privacy loss: what is left of a pair of laws when only their profile matters.

A pair (P, Q) is known by the law under P of the loss L = ln(P/Q); the mass Q gives it is e^-L times as much, and
delta(eps) = P(L = inf) + sum over L > eps of P(L) (1 - e^(eps - L)). Moving mass of P to a larger loss, or splitting an
atom into two of which it is the merger, can only raise delta: both are used here, always in that direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.numerics import Floats, check_between
from unworn.bounds.privacy.profiles import checked_epsilon, round_up


def hockey_stick(log_p: ArrayLike, log_q: ArrayLike, epsilon: ArrayLike) -> Floats:
    """The exact delta(eps) of one pair of laws on the same atoms: sum of (p - e^eps q) where it is positive.

    >>> round(float(hockey_stick(np.log([0.75, 0.25]), np.log([0.25, 0.75]), 0.0)), 12)
    0.5
    """
    p, q = np.asarray(log_p, dtype=float), np.asarray(log_q, dtype=float)
    if p.shape != q.shape or p.ndim != 1 or np.isnan(p).any() or np.isnan(q).any():
        raise ValueError(f"two lists of log masses of one length are needed, without NaN, not {p.shape} and {q.shape}")
    values = checked_epsilon(epsilon)
    with np.errstate(invalid="ignore"):
        gain = -np.expm1(np.minimum(values[..., np.newaxis] + q - p, 0.0))
    return np.asarray(np.where(p > -np.inf, np.exp(p) * np.where(q > -np.inf, gain, 1.0), 0.0).sum(axis=-1))


@dataclass(frozen=True, eq=False)
class Atoms:
    """A loss that takes finitely many values: ``losses`` in any order, their ``masses`` under P, and P(L = inf)."""

    losses: Floats
    masses: Floats
    infinite: float = 0.0

    def __post_init__(self) -> None:
        check_between("the mass at infinity", self.infinite, 0.0, 1.0)
        if self.losses.shape != self.masses.shape or not (np.abs(self.losses) < 1e150).all():
            raise ValueError("losses must be finite (below 1e150), one for each mass; mass at infinity is given apart")
        total = float(self.masses.sum()) + self.infinite
        if not (bool((self.masses >= 0.0).all()) and abs(total - 1.0) < 1e-6):
            raise ValueError(f"masses must be at least 0 and sum to 1 with the mass at infinity, not to {total!r}")

    @property
    def spread(self) -> float:
        """The root of the mean square loss: near the standard deviation, as the mean is about half its square."""
        return math.sqrt(float(self.masses @ np.square(self.losses)))

    @property
    def top(self) -> float:
        return float(self.losses.max(initial=0.0))


def pair(log_p: ArrayLike, log_q: ArrayLike) -> Atoms:
    """The atoms of a pair of laws given by their log masses; where P has no mass there is no atom.

    >>> pair(np.log([0.75, 0.25]), np.log([0.25, 0.75])).losses.round(4).tolist()
    [1.0986, -1.0986]
    """
    p, q = np.asarray(log_p, dtype=float), np.asarray(log_q, dtype=float)
    hockey_stick(p, q, 0.0)  # for its checks
    some = p > -np.inf
    both = some & (q > -np.inf)
    masses = np.exp(p[some])
    scale = masses.sum()
    return Atoms(p[both] - q[both], np.exp(p[both]) / scale, float(np.exp(p[some & ~both]).sum() / scale))


def mirror_atoms(losses: Floats, likely: Floats, unlikely: Floats, infinite: float) -> Atoms:
    """A symmetric pair's atoms: ``likely`` at the positive ``losses``, ``unlikely`` at their negatives, the rest at 0.

    There is no such pair when these masses pass 1. What is rounding is cut off and charged ten times at infinity.

    >>> mirror_atoms(np.array([1.0]), np.array([0.5]), np.array([0.2]), 0.0).masses.round(6).tolist()
    [0.2, 0.3, 0.5]
    """
    rest = 1.0 - infinite - float(likely.sum() + unlikely.sum())
    if rest < -1e-9:
        raise ValueError(
            f"no symmetric pair of laws has these losses: their masses sum to {1.0 - rest:.9g}, not to at most 1. "
            "Give the profile or the losses of a mechanism that treats both neighbours alike"
        )
    infinite = min(1.0, infinite + 10.0 * max(0.0, -rest))
    masses = np.concatenate([unlikely[::-1], [max(0.0, rest)], likely])
    return Atoms(np.concatenate([-losses[::-1], [0.0], losses]), masses / masses.sum() * (1.0 - infinite), infinite)


def split(losses: Floats, masses: Floats, step: float, first: int, size: int) -> Floats:
    """Masses on the lattice ``step * (first + 0 ... size - 1)`` that dominate the atoms.

    An atom with loss L in [jh, (j+1)h] goes to both ends, with the share (1 - e^-(L-jh))/(1 - e^-h) above, so that its
    mass under P and its mass under Q are both kept: the atom is what one sees who cannot tell the two ends apart. (On
    a whole profile this joins the points (e^jh, delta(jh)) by straight lines: "connect the dots", Doroshenko and
    others 2022.) Losses below the lattice come back at its upper end, as sums do in a transform of this size: a sum is
    then known up to whole turns, whatever its summands were. The caller keeps losses below the last point.
    """
    places = losses / step  # counted from 0: counted from the far end, a whole run would feel the digits lost
    below = np.minimum(np.floor(places), first + size - 2.0)
    share = np.clip(np.expm1(-step * (places - below)) / math.expm1(-step), 0.0, 1.0)
    above = masses * share
    at = np.mod(below - first, size).astype(np.int64)
    out: Floats = np.bincount(at, weights=masses - above, minlength=size).astype(float)
    return out + np.bincount((at + 1) % size, weights=above, minlength=size)


@dataclass(frozen=True, eq=False)
class Losses:
    """A loss on the lattice ``step * (first + 0, 1, 2, ...)``: a profile.

    ``infinite`` is the mass at infinity with everything that was given up on the way (wrapping round, rounding): it is
    part of every delta.

    >>> coin = Losses(step=1.0, first=-1, masses=np.array([1, 0, math.e]) / (1 + math.e))
    >>> round(float(coin.delta(0.0)), 6) == round(math.tanh(0.5), 6)
    True
    """

    step: float
    first: int
    masses: Floats
    infinite: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.step < math.inf:
            raise ValueError(f"the lattice's step must be positive and finite, not {self.step!r}")
        if not (0.0 <= self.infinite < math.inf and bool((self.masses >= 0.0).all())):
            raise ValueError("masses must be at least 0 and finite")

    @cached_property
    def _tails(self) -> tuple[int, Floats, Floats]:
        """From the first positive loss on: the place it has, P(L >= .) and Q(L >= .), each with a 0 at the end."""
        start = max(0, 1 - self.first)
        masses = self.masses[start:]
        losses = self.step * (self.first + start + np.arange(len(masses)))
        likely = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
        unlikely = np.append(np.cumsum((masses * np.exp(-losses))[::-1])[::-1], 0.0)
        return self.first + start, likely, unlikely

    def delta(self, epsilon: ArrayLike) -> Floats:
        values = checked_epsilon(epsilon)
        start, likely, unlikely = self._tails
        last = len(likely) - 1
        at = np.clip(np.floor(np.minimum(values / self.step, start + last)) + 1 - start, 0, last).astype(np.int64)
        # e^700 for what is larger: less is subtracted, and no infinity meets a mass that is 0.
        paid = np.exp(np.minimum(np.where(at < last, values, 0.0), 700.0)) * unlikely[at]
        return round_up(np.maximum(likely[at] - paid, 0.0) + self.infinite)
