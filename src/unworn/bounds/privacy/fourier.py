"""The loss of k answers from the loss of one: a k-th power of its Fourier transform, never below the truth.

Losses add up when answers do, whatever the analyst does, because a dominating pair composes as a product (Dong, Roth
and Su 2022; Zhu, Dong and Wang 2022, Thm. 10). On a lattice the k-fold sum is one power of a Fourier transform.
What such a transform can get wrong is bounded and added to the mass at infinity:

* Splitting onto the lattice keeps both masses of every atom (:func:`unworn.bounds.privacy.loss_distributions.split`).
* Sums beyond the window wrap round. At the low end that only raises losses; at the top Chernoff's bound of the
  probability is added, with the splitting included: it multiplies E e^(tL) by at most 1 + t(t+1)(e^h - 1)^2 e^(th)/8,
  and E e^(-tL) too.
* Rounding: see :func:`rounding`.

The lattice must be finer than one answer's spread and the window wider than that of k, so one transform needs a
length of about 1000 sqrt(k). For large k it is done twice: k = a c + r, the sum of a answers on a fine lattice, then c
of these on a coarse one. A sum of a that wrapped round at the low end would be missing from Chernoff's bound of the
whole, so the first window holds both ends, and both are charged. (For a symmetric pair E e^(-tL) = E e^((t-1)L) is at
most E e^(tL), and the low end needs no more room than the top; other pairs may have a heavy low end.)

Losses too large for the first window (bounded noise has a few, at its very edge) are taken out first: call them jumps.
An answer that always shows a fresh body (a draw given that there is no jump) and, separately, the jump if there was
one, tells at least as much; so k answers are dominated by k bodies and, independent of them, k tickets that name the
jump or are blank. The tickets are put on the coarse lattice directly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unworn.bounds.numerics import Floats, check_whole
from unworn.bounds.privacy.loss_distributions import Atoms, Losses, split

Spectrum = NDArray[np.complex128]
_FINE = 64  # lattice points per spread of a summand: the variance grows by 1/(6 * 64^2)
_WRAP = 1e-14  # allowed beyond the window
_BODY = 12.0  # losses beyond so many spreads of the first sum are jumps
_NOTHING = 1e-18  # masses of a first sum below this are given up
_TWICE = 4000  # from so many answers on
_LONG = 1 << 20  # losses are given up to keep lattices shorter than this
_LONGEST = 1 << 24


def rounding(k: int) -> float:
    """What rounding in the k-th power of a transform can take from a tail: 4 (k + 100) units of 2^-53.

    A coefficient near 1 is known to 2^-53, its k-th power to k times that, and the errors of different coefficients
    have no common direction, so a tail is wrong by about as much. Against exact binomial tails, for k from 10 to 1e9
    and total spreads from 0.05 to 3, the error was at most 1.4 (k + 100) units. This is measured, not proved.

    >>> rounding(1_000_000) < 1e-9
    True
    """
    return 4.0 * (k + 100.0) * 2.0**-53


def compose(atoms: Atoms, k: int, step: float | None = None) -> Losses:
    """The loss of ``k`` independent copies. ``step`` is given when every loss is a multiple of it: nothing is split.

    Losses below 0 never count in delta and are not kept.

    >>> import unworn.bounds.privacy.composition as exact
    >>> q = 1 / (1 + math.exp(0.1))
    >>> together = compose(Atoms(np.array([0.1, -0.1]), np.array([1 - q, q])), 100, step=0.1)
    >>> bool(abs(together.delta(2.0) - exact.Homogeneous(0.1, 0.0, 100).delta(2.0)) < 1e-9)
    True
    """
    check_whole("the number of answers", k, 0)
    if step is None:
        return _split_and_composed(atoms, k)
    gone, spread = _gone(atoms, k), atoms.spread
    if k == 0 or spread == 0.0 or gone == 1.0:
        return Losses(1.0, 0, np.array([1.0 - gone]), gone)
    size = _size(_reach(atoms, k, 0.0), step)
    return _once(atoms, k, step, size, gone)


def _split_and_composed(atoms: Atoms, k: int) -> Losses:
    """Give up the largest losses until the lattice is short enough; how many of them there are is charged."""
    few = math.isqrt(25 * k) if k >= _TWICE else 1
    for given_up in (1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1.0):
        kept = _without_tail(atoms, given_up / max(k, 1))
        gone, spread = _gone(kept, k), kept.spread
        if k == 0 or spread == 0.0 or gone == 1.0:
            return Losses(1.0, 0, np.array([1.0 - gone]), gone)
        fine = spread / _FINE
        window = _reach(kept, k, fine)
        if few == 1 and 2.0 * window / fine > _LONG and k > 25:
            few = math.isqrt(25 * k)
        if 2.0 * window / (fine * math.sqrt(few)) <= _LONG or given_up == 1.0:
            break
    if few > 1:
        return _twice(kept, k, few, gone)
    size = _size(window, fine)
    return _once(kept, k, window / (size // 2 - 2), size, gone)


def _without_tail(atoms: Atoms, share: float) -> Atoms:
    """The largest losses, of mass at most ``share``, count as infinite."""
    order = np.argsort(atoms.losses)[::-1]
    cut = int(np.searchsorted(np.cumsum(atoms.masses[order]), share, side="right"))
    tail, rest = order[:cut], order[cut:]
    return Atoms(atoms.losses[rest], atoms.masses[rest], min(1.0, atoms.infinite + float(atoms.masses[tail].sum())))


def _gone(atoms: Atoms, k: int) -> float:
    return -math.expm1(k * math.log1p(-atoms.infinite)) if atoms.infinite < 1.0 else float(k > 0)


def _once(atoms: Atoms, k: int, step: float, size: int, gone: float) -> Losses:
    masses = _convolved([(_transform(atoms, step, size), k)], size)
    lost = _WRAP + k * _above(atoms, step, size) + rounding(k)
    return Losses(step, 0, masses[size // 2 :] * (1.0 - gone), min(1.0, gone + lost))


def _twice(atoms: Atoms, k: int, few: int, gone: float) -> Losses:
    often, rest = divmod(k, few)
    spread = atoms.spread
    middle = spread * math.sqrt(few)
    inner = np.abs(atoms.losses) <= _BODY * middle
    kept, jumping = float(atoms.masses[inner].sum()), atoms.masses[~inner]
    body = Atoms(atoms.losses[inner], atoms.masses[inner] / kept)
    scale = math.log(float(body.masses @ np.exp(-body.losses)))  # Q's mass of the body over P's, which is 1 by now
    tickets = Atoms(np.append(atoms.losses[~inner] + scale, 0.0), np.append(jumping, kept) / (kept + jumping.sum()))

    fine = spread / _FINE
    ends = (body, Atoms(-body.losses, body.masses))
    window = max(_window(partial(_log_mean_of_few, end, few, fine), middle, end.top, _WRAP / often) for end in ends)
    size = _size(window, fine)
    fine = window / (size // 2 - 2)
    coarse = middle / _FINE

    def log_mean(t: Floats) -> Floats:
        bodies = k * _log_mean(body, t, fine) + (often + 1) * np.log1p(_stretch(t, coarse))
        return np.asarray(bodies + k * _log_mean(tickets, t, coarse))

    # The second window before the first transform: where it would be too long, nothing need be transformed.
    outer = _window(log_mean, spread * math.sqrt(k), max(body.top, tickets.top), _WRAP)
    length = _size(outer, coarse)

    one = _transform(body, fine, size)
    lost = (often + 1) * (2.0 * _WRAP / often + few * _above(body, fine, size) + rounding(few))
    parts = [(tickets, k)]
    for many, times in ((few, often), (rest, 1))[: 2 if rest else 1]:
        masses = _convolved([(one, many)], size)
        seen = masses > _NOTHING
        # What raising to 0 added is taken from everywhere when the sum is made 1 again, below.
        lost += times * (float(masses[~seen].sum()) + max(0.0, float(masses.sum()) - 1.0))
        points = fine * np.asarray(np.flatnonzero(seen) - size // 2, dtype=float)
        parts.append((Atoms(points, masses[seen] / masses[seen].sum()), times))

    coarse = outer / (length // 2 - 2)
    lost += _WRAP + 2.0 * rounding(often + 1) + sum(times * _above(part, coarse, length) for part, times in parts)
    masses = _convolved([(_transform(part, coarse, length), times) for part, times in parts], length)
    return Losses(coarse, 0, masses[length // 2 :] * (1.0 - gone), min(1.0, gone + lost))


def _stretch(t: Floats, step: float) -> Floats:
    """By what share splitting onto a lattice can raise E e^(tL): the chord of s^-t over [e^-h, 1] against the curve."""
    with np.errstate(over="ignore"):  # infinite: of no use at this t, and another is taken
        return np.asarray(t * (t + 1.0) / 8.0 * np.square(np.expm1(step)) * np.exp(t * step))


def _log_mean(atoms: Atoms, t: Floats, step: float) -> Floats:
    """ln E e^(tL) after splitting; a loss of 0 is on every lattice."""
    moved = np.where(atoms.losses == 0.0, 0.0, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.exp(np.multiply.outer(t, atoms.losses))
        touched = grown @ (atoms.masses * moved)
        raised = np.where(touched > 0.0, _stretch(t, step) * touched, 0.0)
        return np.asarray(np.log(grown @ atoms.masses + raised))


def _log_mean_of_few(atoms: Atoms, few: int, step: float, t: Floats) -> Floats:
    """At least ln E e^(tL) of the sum of any number of copies up to ``few``."""
    return np.asarray(few * np.maximum(_log_mean(atoms, t, step), 0.0))


def _window(log_mean: Callable[[Floats], Floats], spread: float, top: float, miss: float) -> float:
    """A loss the sum passes with a probability of at most ``miss``, by Chernoff's bound."""
    limit = 600.0 / max(top, 1e-300)
    t = np.minimum(np.concatenate([np.geomspace(0.3, 60.0, 16) / spread, np.geomspace(0.003, 0.5, 12) * limit]), limit)
    return float(np.min((log_mean(t) - math.log(miss)) / t))


def _reach(atoms: Atoms, k: int, step: float) -> float:
    """The window of k copies, split onto a lattice of this step."""
    return _window(lambda t: k * _log_mean(atoms, t, step), atoms.spread * math.sqrt(k), atoms.top, _WRAP)


def _size(window: float, step: float) -> int:
    """A power of two of lattice points that reaches ``window`` on both sides."""
    points = 2.0 * window / step + 4.0
    if not points <= _LONGEST:
        raise ValueError(
            f"a lattice of {points:.3g} points would be needed to compose so many answers, and {_LONGEST:,} are the "
            "most: use more noise (a larger scale), or plan fewer asks"
        )
    return 1 << max(4, math.ceil(math.log2(points)))


def _above(atoms: Atoms, step: float, size: int) -> float:
    """Mass of single losses past the lattice's last point: it counts as infinite."""
    return float(atoms.masses[atoms.losses > step * (size // 2 - 1)].sum())


def _transform(atoms: Atoms, step: float, size: int) -> Spectrum:
    """Scaled to be 1 at frequency 0, where the exact value is known."""
    fits = atoms.losses <= step * (size // 2 - 1)
    masses = split(atoms.losses[fits], atoms.masses[fits], step, -(size // 2), size)
    spectrum = np.fft.rfft(np.roll(masses, -(size // 2)))
    return np.asarray(spectrum / spectrum[0].real)


def _convolved(parts: list[tuple[Spectrum, int]], size: int) -> Floats:
    """Masses of the sum of so many copies of each part; what rounding made negative is raised to 0.

    Most of the powers are nothing, and a logarithm is only taken of the others.
    """
    with np.errstate(divide="ignore"):
        seen = sum(0.5 * k * np.log(np.square(part.real) + np.square(part.imag)) for part, k in parts) > -45.0
    spectrum = np.zeros(size // 2 + 1, dtype=complex)
    spectrum[seen] = np.exp(sum(k * np.log(part[seen]) for part, k in parts))
    return np.maximum(np.roll(np.fft.irfft(spectrum, size), size // 2), 0.0)
