"""Agreement told with noise: right guesses cost nothing, and each surprise a fraction of a nat (Theorem U).

Of n rows let c count, and let the guess be g of them. "Surprise" has the chance w/(1 + w), and "agree" the rest,

    w(c) = e^{rate (c - g - t)} + e^{rate (g - t - c)},

but where c is more than ``reach`` rows from g it is surely a surprise. Keep every row with chance ``kept`` and stretch
the count of those to x = c + Y, as in :mod:`unworn.bounds.covers`; let kappa be at least ln E e^{±rate Y}. If

    rate (reach + 1 - t) >= kappa - ln(1 - e^-kappa),

"agree" costs nothing, "surprise" kappa, and "agree" shows surely that c lies within ``reach`` of g: the cut is free.
Proved in ``docs/theory/one-currency.md``; no published source is known to us.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from unworn.bounds.numerics import check_between, check_nats, check_probability, check_whole

_NEEDLESS = 0.3
"""How many surprises there may be by chance where guesses are right, as a share of those that are planned."""
_CUT = 1.6
"""What kappa - ln(1 - e^-kappa) is about, before kappa is known: 1.4 at its least, 2 at kappa = .17."""
_NOISE = 1.08
"""What the noise of a surprise makes it cost more, about, where it reaches as far as agreement."""
_UPWARD = 1e-9
_DIGITS = 4
_FAR = 500.0


class AgreementTerms(NamedTuple):
    """What is fixed before a check: the chance to keep a row, the rate, and the radius of a surprise's noise."""

    kept: float
    rate: float
    radius: int


def surprise_nats(n: int, kept: float, rate: float) -> float:
    """The kappa above: n times the larger of psi(rate/2) and psi(-rate/2), about rate^2 Var Y / 2.

    psi(u) = ln(kept e^{u (1/kept - 1)} + (1 - kept) e^-u) is the share of one row that counts in ln E e^{2uY}, and
    psi(-u) that of one that does not; so this is linear in the count, and largest at one of its ends.

    >>> round(surprise_nats(10_000, 0.66, 0.026), 4)
    0.4362
    """
    check_whole("the number of rows", n, 1)
    check_probability("kept", kept)
    check_between("rate", rate, 1e-12, 1e3)
    # Terms of first order cancel; what floats lose by it is added.
    return n * max(_row_nats(kept, rate / 2.0), _row_nats(kept, -rate / 2.0)) * (1.0 + _UPWARD + 4e-15 / rate)


def threshold_below(reach: int, kappa: float, rate: float) -> int:
    """The largest t, in rows, that makes the cut at ``reach`` free; it may be below 0.

    >>> threshold_below(361, 0.4362, 0.026)
    305
    """
    cut = kappa - math.log(-math.expm1(-kappa))
    return math.floor(reach + 1 - cut * (1.0 + _UPWARD) / rate)


def agreement_reach(kappa: float, rate: float, spread: float, chance: float) -> int:
    """How far from the guess agreement must reach for a right guess to be a surprise with ``chance`` at most.

    A right guess is off by a normal number of rows, of standard deviation ``spread``. The mean of w is then
    2 exp(rate^2 spread^2 / 2 - rate t).

    >>> agreement_reach(0.4362, 0.026, 70.7, 0.004)
    361
    """
    cut = kappa - math.log(-math.expm1(-kappa))
    return math.ceil((rate**2 * spread**2 / 2.0 + math.log(2.0 / chance) + cut) / rate)


def needless_chance(surprises: int, asks: int) -> float:
    """The chance of a surprise that is left to a right guess, where so many are planned in so many asks."""
    return min(_NEEDLESS * surprises / asks, 0.5)


def all_surprises(planned: int) -> int:
    """How many surprises there will be in all, with those that come by chance.

    >>> all_surprises(20)
    26
    """
    return math.ceil((1.0 + _NEEDLESS) * planned - _UPWARD)


def planned_share(surprises: int) -> int:
    """How many of so many surprises were planned, and came not by chance.

    >>> planned_share(26)
    20
    """
    return math.floor(surprises / (1.0 + _NEEDLESS))


def choose_agreement(n: int, nats: float, surprises: int, asks: int, kept: float = 0.0) -> AgreementTerms:
    """The terms that make answers narrowest after so many surprises in so many asks, ``nats`` being spent otherwise.

    With f surprises in all the half-width is about sqrt(nats / 2n) + rate (sqrt(f) + 1) / 4 + B / (rate n), where
    B = ln(2 / chance) + 1.6, for guesses as uncertain as the rows themselves: the last two are equal at the best rate.
    The noise of a surprise reaches as far as agreement does.

    >>> choose_agreement(10_000, 3.0, 10, 1_000)
    AgreementTerms(kept=0.6699, rate=0.02653, radius=368)
    """
    check_whole("the number of rows", n, 1)
    check_whole("surprises", surprises, 1)
    check_whole("asks", asks, 1)
    check_nats("nats", nats)
    chance, total = needless_chance(surprises, asks), (1.0 + _NEEDLESS) * surprises
    rate = math.sqrt((math.log(2.0 / chance) + _CUT) / (n * (math.sqrt(total) + 1.0) / 4.0))
    rate = float(f"{rate:.{_DIGITS}g}")
    noise = math.sqrt(_NOISE * total * rate**2 * n / 8.0)
    wanted = round(noise / (noise + math.sqrt(max(nats, _UPWARD))), _DIGITS)
    kept = min(max(kept, wanted, 10.0**-_DIGITS), 1.0 - 10.0**-_DIGITS)
    reach = agreement_reach(surprise_nats(n, kept, rate), rate, math.sqrt(n / 2.0), chance)
    return AgreementTerms(kept, rate, min(max(reach, 2), max(n, 2)))


def doubled_plan(planned: int, reached: int) -> int:
    """What was planned, doubled until it is more than was reached.

    >>> doubled_plan(25, 24), doubled_plan(25, 25), doubled_plan(25, 120)
    (25, 50, 200)
    """
    return planned if reached < planned else planned << (reached // planned).bit_length()


def _row_nats(kept: float, pull: float) -> float:
    farthest = abs(pull) * max(1.0 / kept - 1.0, 1.0)
    if farthest > _FAR:  # more than anything is worth: no row adds more than this
        return farthest
    grown = kept * math.expm1(pull * (1.0 / kept - 1.0)) + (1.0 - kept) * math.expm1(-pull)
    return math.log1p(max(grown, 0.0))
