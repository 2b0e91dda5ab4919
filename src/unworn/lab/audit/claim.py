"""What is claimed of a mechanism: a privacy profile, and the one number it is quoted by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.numerics import Floats, check_between, special
from unworn.bounds.privacy import GDP, Approximate, Homogeneous, Profile, Pure

_LARGEST = 700.0
"""No claim is quoted above this many nats: e^700 is as far as a float goes."""
_STEPS = 400
"""At how many epsilons a profile is consulted."""


@dataclass(frozen=True)
class Claim:
    """A claim about how far the odds of any output may move when one row is replaced.

    The whole ``profile`` is what an audit tries to refute. ``delta`` only says at which of its points the claim is
    quoted as one number: ``value`` is the smallest epsilon the profile has there, or mu where it is Gaussian.

    Examples
    --------
    >>> print(Claim.pure(1.0), "|", Claim.gaussian(0.5), "|", Claim.approximate(1.0, 1e-6))
    ε = 1 | μ = 0.5 | ε = 1 at δ = 1e-06
    >>> round(float(Claim.pure(1.0).allowed(0.1)), 4)      # an event of chance .1 may have .27 on the other rows
    0.2718
    """

    profile: Profile
    delta: float = 0.0

    def __post_init__(self) -> None:
        check_between("delta", self.delta, 0.0, 1.0)
        _ = self.value  # a claim that cannot be quoted is refused when it is made

    @classmethod
    def pure(cls, epsilon: float) -> Self:
        """epsilon-differential privacy."""
        return cls(Pure(epsilon))

    @classmethod
    def approximate(cls, epsilon: float, delta: float) -> Self:
        """(epsilon, delta)-differential privacy."""
        return cls(Approximate(epsilon, delta), delta)

    @classmethod
    def gaussian(cls, mu: float) -> Self:
        """mu-Gaussian differential privacy."""
        return cls(GDP(mu))

    @property
    def unit(self) -> str:
        """In what the claim is quoted: ``"epsilon"`` or ``"mu"``."""
        return "mu" if isinstance(self.profile, GDP) else "epsilon"

    @cached_property
    def value(self) -> float:
        """The claim as one number, in its unit."""
        return self._quoted()

    def _quoted(self) -> float:
        match self.profile:
            case GDP(mu):
                return mu
            case Pure(epsilon):
                return epsilon
            case Approximate(epsilon, floor) if floor == self.delta:
                return epsilon
            case Homogeneous(epsilon, 0.0, k) if self.delta == 0.0:
                return k * epsilon
        low, high = 0.0, 1.0
        while self._above(high):
            low, high = high, 2 * high
            if high > _LARGEST:
                raise ValueError(
                    f"this profile does not come down to delta = {self.delta:g} before epsilon = {_LARGEST:g}: "
                    "quote the claim at a larger delta"
                )
        while high - low > 1e-9 * max(high, 1.0):
            middle = (low + high) / 2
            low, high = (middle, high) if self._above(middle) else (low, middle)
        return high if self._above(0.0) else 0.0

    def _above(self, epsilon: float) -> bool:
        return float(self.profile.delta(epsilon)) > self.delta

    def allowed(self, chance: ArrayLike) -> Floats:
        """The largest probability the claim allows an event whose probability on the other rows is ``chance``.

        The least of e^eps q + delta(eps) and, because neighbours can change places, of the same for the complement.
        Taken over a grid of eps: every single one gives a limit that must hold.
        """
        q = np.asarray(chance, dtype=float)
        if isinstance(self.profile, GDP):
            return np.asarray(special().ndtr(special().ndtri(q) + self.profile.mu))
        top = max(self.value, 1e-6)
        epsilons = np.append(np.linspace(0.0, 2 * top, _STEPS), self.value)
        deltas, growth = self.profile.delta(epsilons), np.exp(np.minimum(epsilons, _LARGEST))
        direct = (growth * q[..., np.newaxis] + deltas).min(axis=-1)
        complement = 1.0 - ((1.0 - q[..., np.newaxis] - deltas) / growth).max(axis=-1)
        return np.asarray(np.clip(np.minimum(direct, complement), 0.0, 1.0))

    def least(self, above: ArrayLike, below: ArrayLike) -> Floats:
        """What a true claim must say at least, in its unit, if some event has a probability of ``above`` or more on
        some rows, and of ``below`` or less on their neighbours.

        >>> round(float(Claim.pure(1.0).least(0.5, 0.1)), 4)       # ln 5
        1.6094
        >>> round(float(Claim.gaussian(1.0).least(0.5, 0.1)), 4)
        1.2816
        """
        p, q = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.unit == "mu":
                bound = special().ndtri(p) - special().ndtri(q)
            else:
                direct = np.log(np.maximum(p - self.delta, 0.0) / q)
                complement = np.log(np.maximum(1.0 - q - self.delta, 0.0) / (1.0 - p))
                bound = np.fmax(direct, complement)
        return np.asarray(np.fmax(bound, 0.0))

    def __str__(self) -> str:
        symbol = "μ" if self.unit == "mu" else "ε"
        return f"{symbol} = {self.value:.4g}" + (f" at δ = {self.delta:g}" if self.delta else "")

    def to_json(self) -> dict[str, float | str]:
        """The claim in plain numbers."""
        return {"unit": self.unit, "value": self.value, "delta": self.delta}
