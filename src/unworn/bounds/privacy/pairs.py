"""The pair of laws that one row tells apart, for each kind of noise: as atoms of the privacy loss.

A count moves by at most 1 when a row is replaced. Where the noise is log-concave the ratio of its law to the law moved
by d is monotone, so thresholds are the best tests, and moving by 1 dominates every other move of at most 1; both
directions are alike because the noise is symmetric. So one pair (noise + 1, noise) stands for all neighbours.
"""

from __future__ import annotations

import math

import numpy as np

from unworn.bounds.numerics import Floats, check_between, check_whole
from unworn.bounds.privacy.loss_distributions import Atoms, mirror_atoms
from unworn.bounds.privacy.profiles import Profile, checked_epsilon

_EXACT_UP_TO = 5000  # cosine noise with |m| below this is taken atom by atom
_CELLS = 128  # cells per spread of the loss, and per e-fold beyond 8 spreads


def cosine_atoms(width: int) -> Atoms:
    """Raised-cosine noise P(m) = (1 + cos(pi m/N))/(2N), |m| < N: the loss of moving by 1, N = ``width``.

    With r = N - m steps to the edge, P has sin^2(pi (r+1)/2N)/N and Q has sin^2(pi r/2N)/N: the loss falls as r grows
    and is infinite at the edge, where P has sin^2(pi/2N)/N. Wide noise is taken in cells between chosen losses; in a
    cell only the two masses count, and both have closed forms, so the work does not grow with N.

    >>> atoms = cosine_atoms(500)
    >>> round(atoms.spread * 500 / math.pi, 3)   # the loss of one answer has a standard deviation of about pi/N
    0.999
    """
    check_whole("the width of the noise", width, 2, 2**40)
    if width <= _EXACT_UP_TO:
        steps = np.arange(1.0, 2.0 * width - 1.0)
        unit = math.pi / (2.0 * width)
        p, q = np.sin(unit * (steps + 1.0)), np.sin(unit * steps)
        infinite = math.sin(unit) ** 2 / width
        losses = 2.0 * np.log1p((p - q) / q)
        return Atoms(losses, p * p / width, infinite)
    return _cosine_cells(float(width))


def _cosine_cells(width: float) -> Atoms:
    spread, unit = math.pi / width, math.pi / (2.0 * width)
    near = np.arange(1.0, 8.0 * _CELLS) * (spread / _CELLS)
    far = np.geomspace(8.0 * spread, 1.5, math.ceil(_CELLS * math.log(0.19 / spread)))
    edges = np.concatenate([-far[::-1], -near[::-1], [0.0], near, far])
    # The loss passes x exactly where tan(pi r/2N) < sin u / (e^(x/2) - cos u): whole r from 1 up to below that.
    reach = np.arctan2(math.sin(unit), np.expm1(edges / 2.0) + 2.0 * math.sin(unit / 2.0) ** 2) / unit
    passing = np.clip(np.ceil(reach) - 1.0, 0.0, 2.0 * width - 2.0)
    last, first = passing[:-1], passing[1:] + 1.0  # a cell's r, from the edge with the larger loss
    count = last - first + 1.0
    angle = unit * (first + last + 2.0)
    turn = unit * count
    with np.errstate(invalid="ignore"):
        short = np.where(
            turn < 0.05, count * (count * count - 1.0) * unit**2 / 6.0, count - np.sin(turn) / math.sin(unit)
        )
    likely = np.maximum(count * np.sin(angle / 2.0) ** 2 + 0.5 * np.cos(angle) * short, 0.0) / width
    gain = np.sin(unit * (first + last + 1.0)) * np.sin(turn) / width  # P - Q, a telescoping sum
    up = (gain - np.expm1(edges[:-1]) * (likely - gain)) / -np.expm1(edges[:-1] - edges[1:])
    up = np.clip(up, 0.0, likely)
    masses = np.append(likely - up, 0.0)
    masses[1:] += up
    infinite = math.sin(unit) ** 2 / width
    return Atoms(edges, masses * ((1.0 - infinite) / masses.sum()), infinite)


def gaussian_atoms(sd: float) -> Atoms:
    """*Discrete* Gaussian noise P(m) ~ exp(-m^2/2 sd^2): the loss of moving by 1 is (2m - 1)/(2 sd^2).

    This is not dominated by the continuous Gaussian: what one row changes is up to 2.9 % more at sd = 4.

    >>> atoms = gaussian_atoms(4.0)
    >>> float(np.round(atoms.losses[1] - atoms.losses[0], 9)) == 1 / 16
    True
    """
    if not 0.1 <= sd < 1e6:
        raise ValueError(f"the standard deviation of discrete noise must be at least 0.1 and below 1e6, not {sd!r}")
    far = math.ceil(39.0 * sd) + 1  # beyond 38.6 standard deviations a mass is no longer a normal float
    m = np.arange(-far, far + 1.0)
    masses = np.exp(-0.5 * np.square((m - 1.0) / sd))
    return Atoms((m - 0.5) / sd**2, masses / masses.sum())


def response_atoms(epsilon: float, share: float = 1.0) -> Atoms:
    """Randomised response of parameter ``epsilon``, seen with probability ``share``; see ``amplified``.

    Atoms +e, 0, -e with e = ln(1 + share (e^epsilon - 1)) and P(-e) = 1/(1 + e^epsilon).

    >>> response_atoms(1.0, 0.1).losses.round(5).tolist()
    [0.15857, 0.0, -0.15857]
    """
    if not 0.0 <= epsilon <= 700.0:
        raise ValueError(
            f"epsilon must lie in [0, 700], not {epsilon!r}: Laplace noise has epsilon = 1/scale, and of a scale below "
            "1/700 of what one row can change it hides nothing. Use more noise (a larger scale)"
        )
    check_between("the share", share, 0.0, 1.0)
    loss = math.log1p(share * math.expm1(epsilon))
    low = 1.0 / (1.0 + math.exp(epsilon))
    high = low * math.exp(loss)
    return Atoms(np.array([loss, 0.0, -loss]), np.array([high, max(0.0, 1.0 - high - low), low]))


def dots(profile: Profile, edges: Floats) -> Atoms:
    """Atoms on 0 and +-``edges`` that dominate a symmetric pair with this profile.

    delta is convex in y = e^eps with slope -Q(L > eps); straight lines between the edges lie above it, and past the
    last edge it stays level: that remainder is the mass at infinity. A profile that no symmetric pair has, such as a
    bound that is too large at 0, is refused: to scale its masses down would lower it.

    >>> from unworn.bounds.privacy.profiles import Pure
    >>> dots(Pure(1.0), np.array([0.5, 1.0])).masses.round(4).tolist()   # randomised response again
    [0.2689, 0.0, 0.0, 0.0, 0.7311]
    """
    x = np.concatenate([[0.0], checked_epsilon(edges)])
    if not (np.isfinite(x).all() and (np.diff(x) > 0.0).all()):
        raise ValueError("edges must be positive, finite and rising")
    deltas = profile.delta(x)
    infinite = float(deltas[-1])
    rise = np.exp(x[:-1]) * np.expm1(np.diff(x))
    beyond = np.append(np.maximum(-np.diff(deltas) / rise, 0.0), 0.0)  # Q(L > x_j), to be made non-increasing
    beyond = np.maximum.accumulate(beyond[::-1])[::-1]
    unlikely = beyond[:-1] - beyond[1:]
    likely = unlikely * np.exp(x[1:])
    return mirror_atoms(x[1:], likely, unlikely, infinite)
