"""Theorem U: coded and noisy answers of one ledger, priced in one currency by the cost so far.

Entry j costs c_j nats: a symbol minus the logarithm of its chance under a law fixed by the past, a noisy count its
kappa at ``kept`` (:mod:`unworn.bounds.covers`), the chance with which the second world keeps a row. ``kept`` is 0
before the first noisy count and never falls. With probability 1 - beta, for all entries at once and at any stopping:
if the conversation shows surely that the rows' count lies between two numbers, the one-sided binomial limits from them
hold at the level e^-Λ each, Λ = (ln(1/beta) + c_1 + … + c_j) / (1 - kept). While ``kept`` is 0 this is Theorem C′.
Proved in ``docs/theory/one-currency.md``; no published source is known to us.
"""

from __future__ import annotations

import math

from unworn.bounds.covers import allows_low_counts, low_count_squares
from unworn.bounds.numerics import check_between, check_nats, check_whole

_FIRST = 20
"""Noisy answers that noise is made for at first; whenever they are given, for as many again as there were."""
_NARROWER = 0.9
"""What a check must narrow the noise to, or it is not worth that it may fail."""
_DIGITS = 4
"""To which ``kept`` is rounded: a constant of the plan that a ledger can hold."""


def stretch(kept: float) -> float:
    """By how much all nats count more, once some rows are held to have been able to say the same.

    >>> stretch(0.0), stretch(0.5)
    (1.0, 2.0)
    """
    check_between("kept", kept, 0.0, 1.0 - 1e-6)
    return 1.0 / (1.0 - kept)


def is_renewed(noisy: int) -> bool:
    """Whether noise is chosen anew after so many noisy answers.

    >>> [noisy for noisy in range(400) if is_renewed(noisy)]
    [0, 20, 60, 140, 300]
    """
    check_whole("noisy", noisy, 0)
    rounds, rest = divmod(noisy + _FIRST, _FIRST)
    return rest == 0 and rounds & (rounds - 1) == 0


def choose_noise(n: int, nats: float, noisy: int, kept: float) -> tuple[float, int]:
    """``kept`` and the noise's radius, for as many noisy answers again as there were, after so many nats in all.

    The half-width radius/n + sqrt((nats + K) / 2n), K = k pi^2 n / 8 radius^2 for k answers, is least at the radius
    sqrt(pi n sqrt(k)) / 2; and the stretched nats at kept = sqrt(K) / (sqrt(K) + sqrt(nats)).

    >>> choose_noise(10_000, 3.0, 0, 0.0)
    (0.6053, 187)
    """
    check_whole("the number of rows", n, 1)
    check_nats("nats", nats)
    answers = noisy + _FIRST
    radius = min(max(2, round(math.sqrt(math.pi * n * math.sqrt(answers)) / 2.0)), max(n, 2))
    planned = math.sqrt(answers * math.pi**2 * n / (8.0 * radius**2))
    wanted = round(planned / (planned + math.sqrt(max(nats, 1e-9))), _DIGITS)
    return min(max(kept, wanted, 10.0**-_DIGITS), 1.0 - 10.0**-_DIGITS), radius


def narrowed_radius(n: int, radius: int, most: int) -> int:
    """The noise that costs about as much, where at most ``most`` rows count, as noise of this radius where all may.

    >>> narrowed_radius(100_000, 1_874, 3_500)
    689
    """
    return max(2, math.ceil(2.0 * radius * math.sqrt(low_count_squares(n, most) / n)))


def low_count(n: int, kept: float, radius: int, share: float, slack: float) -> int:
    """At most how many rows count, to be checked before noise is drawn, where about ``share`` of them are expected to.

    Where most are expected to count: minus the number that do not. 0 is no check, where it would narrow too little.

    >>> low_count(100_000, 0.83, 1_874, 0.03, 0.004), low_count(100_000, 0.83, 1_874, 0.97, 0.004)
    (3400, -3400)
    >>> low_count(100_000, 0.83, 1_874, 0.4, 0.004)
    0
    """
    most = math.ceil(n * (min(share, 1.0 - share) + slack) - 1e-6)
    if not 1 <= most < n or not allows_low_counts(n, kept, most):
        return 0
    if narrowed_radius(n, radius, most) > _NARROWER * radius:
        return 0
    return most if share <= 0.5 else -most


def beats_cells(n: int, nats: float, unguessed: int) -> bool:
    """Whether noise is to be preferred to cells after so many asks without a guess.

    From about 260 sqrt(nats) / (ln n)^2 such asks on, noise is cheaper in all; nobody knows how many will come, so the
    change is made at half of them.

    >>> beats_cells(10_000, 3.0, 2), beats_cells(10_000, 3.0, 3), beats_cells(10_000, 100.0, 14)
    (False, True, False)
    """
    check_nats("nats", nats)
    return n > 1 and unguessed >= 130.0 * math.sqrt(nats) / math.log(n) ** 2
