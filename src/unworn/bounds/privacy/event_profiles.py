"""From what a mechanism did to the profile of all its answers."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from unworn.bounds.numerics import check_whole, whole
from unworn.bounds.privacy.amplification import amplified, with_replacement_pure
from unworn.bounds.privacy.composition import Homogeneous
from unworn.bounds.privacy.fourier import compose
from unworn.bounds.privacy.loss_distributions import Atoms, Losses
from unworn.bounds.privacy.pairs import cosine_atoms, dots, gaussian_atoms, response_atoms
from unworn.bounds.privacy.profiles import GDP, Profile
from unworn.events import Drew, Event, Noised

_EXACT_LATTICE = 32.0  # a discrete Gaussian up to this spread is composed on its own lattice


def profile(event: Event, rows: int, asks: int) -> Profile:
    """The tightest profile known here of ``asks`` adaptive answers, each made as the event says, from ``rows`` rows.

    Replacing one row moves a count by at most 1. Laplace noise on counts *is* randomised response of parameter
    1/scale; Gaussian noise is rounded from a continuous one and so exactly Gaussian DP.

    >>> profile(Noised("gaussian", 100.0), rows=10_000, asks=400)
    GDP(mu=0.2)
    >>> profile(Noised("laplace", 50.0), rows=10_000, asks=400)
    Homogeneous(epsilon=0.02, floor=0.0, k=400)
    >>> round(float(profile(Noised("cosine", 500), rows=10_000, asks=40).delta(0.04)), 6)
    0.003177
    """
    rows, asks = whole("the number of rows (rows)", rows, 1), whole("the number of asks (asks)", asks, 0)
    if isinstance(event, Noised) and event.drawn is not None:
        drawn = whole("the number of rows drawn (drawn)", event.drawn, 1, math.inf if event.replaced else rows)
        event = replace(event, drawn=drawn)
    return _profile(event, rows, asks)


@lru_cache(maxsize=64)
def _profile(event: Event, rows: int, asks: int) -> Profile:
    match event:
        case Drew(flip):
            return _drew(flip, rows, asks)
        case Noised(noise, scale, drawn=None):
            return _noised(noise, scale, asks)
        case Noised(noise, scale, int() as drawn, replaced):
            return _sampled(noise, scale, drawn, replaced, rows, asks)
    raise ValueError(f"{type(event).__name__} has no privacy profile: only Noised and Drew release noisy answers")


def raised_cosine(width: int, k: int) -> Losses:
    """``k`` counts with raised-cosine noise of integer ``width`` N (|m| < N).

    >>> round(float(raised_cosine(5000, 4500).delta(0.04)), 6)   # GDP(pi sqrt(4500)/5000) has 0.003944
    0.003922
    """
    return compose(cosine_atoms(width), k)


def discrete_gaussian(sd: float, k: int) -> Losses:
    """``k`` counts with *discrete* Gaussian noise, priced from its own law: GDP(sqrt(k)/sd) is slightly too small.

    >>> once = discrete_gaussian(4.0, 1).delta(0.25)
    >>> round(float(once / GDP(0.25).delta(0.25)), 2)
    1.01
    """
    atoms = gaussian_atoms(sd)
    return compose(atoms, k, step=0.5 / sd**2 if sd <= _EXACT_LATTICE else None)


def sampled_response(epsilon: float, share: float, k: int) -> Profile:
    """``k`` randomised responses of parameter ``epsilon``, each about a fresh ``share`` of the rows.

    >>> round(float(sampled_response(1.0, 0.1, 100).delta(1.0)), 6)
    0.205946
    """
    atoms = response_atoms(epsilon, share)
    if share == 1.0 or atoms.top == 0.0:
        return Homogeneous(epsilon if share == 1.0 else 0.0, 0.0, k)
    return compose(atoms, k, step=atoms.top)


def _noised(noise: str, scale: float, asks: int) -> Profile:
    if noise == "laplace":
        return Homogeneous(_inverse(noise, scale), 0.0, asks)
    if noise == "gaussian":
        return GDP(math.sqrt(asks) * _inverse(noise, scale))
    if noise == "cosine":
        check_whole("the width of the noise", scale, 2)
        return raised_cosine(int(scale), asks)
    raise _unknown(noise)


def _sampled(noise: str, scale: float, drawn: int, replaced: bool, rows: int, asks: int) -> Profile:
    if noise == "laplace":
        epsilon = _inverse(noise, scale)
        if replaced:
            return Homogeneous(with_replacement_pure(epsilon, drawn, rows), 0.0, asks)
        return sampled_response(epsilon, drawn / rows, asks)
    if noise not in ("gaussian", "cosine"):
        raise _unknown(noise)
    if replaced:
        raise ValueError(
            f"{noise} noise over rows drawn with replacement has no profile here: a row drawn twice counts twice.\n"
            "  Draw without replacement (replaced=False), or use Laplace noise"
        )
    if noise == "cosine":
        check_whole("the width of the noise", scale, 2)
        base = cosine_atoms(int(scale))
    else:
        base = _gaussian_dots(_inverse(noise, scale))
    return compose(amplified(base, drawn / rows), asks)


def _gaussian_dots(mu: float) -> Atoms:
    """Gaussian noise as atoms, 64 to a standard deviation of the loss."""
    if not mu <= 10.0:
        raise ValueError(f"Gaussian noise over drawn rows needs a standard deviation of at least 0.1, not {1 / mu!r}")
    return dots(GDP(mu), mu * np.arange(1.0, 64.0 * (mu / 2.0 + 38.0)) / 64.0)


def _drew(flip: float, rows: int, asks: int) -> Profile:
    """One row's value, turned over with probability f <= 1/2: randomised response about a share 1/n of the rows.

    The chance of a 1 is f + (1 - 2f) times the rows' mean, which one row moves by 1/n; the most the odds can move is
    e = ln(1 + (1/f - 2)/n), at a mean of 0. With f = 0 there is no finite e, but only the row itself is ever shown.
    """
    if not 0.0 <= flip <= 0.5:
        raise ValueError(f"flip must lie in [0, 0.5], not {flip!r}")
    if flip < 1e-290:
        return Homogeneous(0.0, 1.0 / rows, asks)
    return sampled_response(math.log((1.0 - flip) / flip), 1.0 / rows, asks)


def _inverse(noise: str, scale: float) -> float:
    if not (0.0 < scale < math.inf and 1.0 / scale < math.inf):
        raise ValueError(f"the scale of {noise} noise must be positive and finite, not {scale!r}")
    return 1.0 / scale


def _unknown(noise: str) -> ValueError:
    return ValueError(f"unknown noise {noise!r}: 'laplace', 'gaussian' and 'cosine' are known")
