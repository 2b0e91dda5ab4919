"""What one row can change in a whole interaction: privacy profiles, how they compose, and what sampling saves.

``profiles`` has them in closed form, ``composition`` the classical theorems and the exact one, ``loss_distributions``,
``pairs`` and ``fourier`` the numerical one, ``amplification`` sampling, ``filters`` budgets for noise chosen as one
goes, and ``lab.theorems`` a second opinion. :func:`profile` prices what a mechanism did.
"""

from unworn.bounds.privacy.amplification import amplified
from unworn.bounds.privacy.composition import Homogeneous, advanced, basic, gaussian_rho, pure_rho
from unworn.bounds.privacy.event_profiles import discrete_gaussian, profile, raised_cosine, sampled_response
from unworn.bounds.privacy.filters import ConcentratedFilter, GaussianFilter
from unworn.bounds.privacy.fourier import compose
from unworn.bounds.privacy.loss_distributions import Atoms, Losses, hockey_stick, pair
from unworn.bounds.privacy.profiles import GDP, Approximate, Concentrated, Profile, Pure, bun_steinke

__all__ = [
    "GDP",
    "Approximate",
    "Atoms",
    "Concentrated",
    "ConcentratedFilter",
    "GaussianFilter",
    "Homogeneous",
    "Losses",
    "Profile",
    "Pure",
    "advanced",
    "amplified",
    "basic",
    "bun_steinke",
    "compose",
    "discrete_gaussian",
    "gaussian_rho",
    "hockey_stick",
    "pair",
    "profile",
    "pure_rho",
    "raised_cosine",
    "sampled_response",
]
