"""The same profiles through the public library ``dp_accounting``: an independent check of this package's own numbers.

Needs the extra ``accounting``. Its ``from_two_probability_mass_functions`` rounds every loss up to the lattice, which
is sound but drifts by k h/2; so the lattice is filled here by connecting the dots, which does not drift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.numerics import Floats, check_whole
from unworn.bounds.privacy.loss_distributions import Atoms
from unworn.bounds.privacy.profiles import checked_epsilon, round_up
from unworn.errors import MissingExtra

_LIGHT = 1e-40  # lighter atoms count as infinite losses


@dataclass(frozen=True, eq=False)
class AccountedProfile:
    """A ``dp_accounting`` privacy-loss distribution as a profile."""

    distribution: Any

    def delta(self, epsilon: ArrayLike) -> Floats:
        values = checked_epsilon(epsilon)
        found = np.asarray(self.distribution.get_delta_for_epsilon(values.ravel().tolist()), dtype=float)
        return round_up(found.reshape(values.shape))


def account_losses(atoms: Atoms, k: int, step: float | None = None) -> AccountedProfile:
    """The profile of ``k`` answers with these losses, by ``dp_accounting``; slower and larger than ``compose``.

    ``step`` is the lattice's, by default a sixty-fourth of one answer's spread.

    >>> from unworn.bounds.privacy.pairs import response_atoms
    >>> from unworn.bounds.privacy.profiles import Pure
    >>> once = account_losses(response_atoms(1.0), 1, step=0.25)
    >>> bool(abs(once.delta(0.5) - Pure(1.0).delta(0.5)) < 1e-9)
    True
    """
    check_whole("the number of answers", k, 1)
    try:
        from dp_accounting.pld import pld_pmf
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    except ImportError as error:
        raise MissingExtra.of("accounting", "checking a privacy profile with dp_accounting") from error
    heavy = atoms.masses > _LIGHT
    atoms = Atoms(atoms.losses[heavy], atoms.masses[heavy], atoms.infinite + float(atoms.masses[~heavy].sum()))
    h = atoms.spread / 64 if step is None else step
    if not 0.0 < h < math.inf:
        raise ValueError(f"the lattice's step must be positive and finite, not {h!r}")
    reach = math.ceil(float(np.abs(atoms.losses).max()) / h * (1.0 - 1e-12))
    points = h * np.arange(-reach, reach + 1)
    order = np.argsort(atoms.losses)
    losses, masses = atoms.losses[order], atoms.masses[order]
    likely = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    unlikely = np.append(np.cumsum((masses * np.exp(-losses))[::-1])[::-1], 0.0)
    at = np.searchsorted(losses, points, side="right")
    deltas = np.clip(likely[at] - np.exp(points) * unlikely[at], 0.0, 1.0) + atoms.infinite
    deltas = np.minimum(np.maximum.accumulate(deltas[::-1])[::-1], 1.0)
    once = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(h, -reach, reach, deltas)
    with np.errstate(over="ignore"):  # in its Chernoff bounds, where an infinite one is merely useless
        return AccountedProfile(PrivacyLossDistribution(once).self_compose(int(k)))
