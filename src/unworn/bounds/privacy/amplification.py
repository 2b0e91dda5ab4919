"""What is saved by looking at a fresh sample of the rows each time (Balle, Barthe and Gaboardi 2018).

With probability 1 - p the replaced row is not looked at and nothing changes; so the odds move less. Each statement is
about replacing one row of ``rows``, except Poisson sampling, which is about adding or removing one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from unworn.bounds.numerics import check_between, check_nats, check_whole
from unworn.bounds.privacy.loss_distributions import Atoms, mirror_atoms
from unworn.bounds.privacy.profiles import Profile

_NEGLIGIBLE = 1e-17
"""The part of a sum, relative to it, that need not be added up term by term; it is charged all the same."""


def poisson(epsilon: float, delta: float, share: float) -> tuple[float, float]:
    """Every row is looked at with probability ``share``, independently: (ln(1 + p(e^eps - 1)), p delta).

    >>> round(poisson(1.0, 1e-6, 0.1)[0], 5)
    0.15857
    """
    check_nats("epsilon", epsilon)
    check_between("delta", delta, 0.0, 1.0)
    check_between("the share", share, 0.0, 1.0)
    return _diluted(epsilon, share), share * delta


def without_replacement(epsilon: float, delta: float, drawn: int, rows: int) -> tuple[float, float]:
    """``drawn`` different rows of ``rows``: as :func:`poisson` with p = drawn/rows (their Thm. 9).

    >>> round(without_replacement(1.0, 0.0, 500, 10_000)[0], 4)
    0.0824
    """
    _check_draw(drawn, rows)
    if drawn > rows:
        raise ValueError(f"{drawn} different rows cannot be drawn from {rows}: draw fewer, or with replacement")
    return poisson(epsilon, delta, drawn / rows)


def with_replacement_pure(epsilon: float, drawn: int, rows: int) -> float:
    """``drawn`` rows one by one, each of all ``rows``, then an epsilon-DP look: l ln(1 + (e^eps - 1)/n).

    Change one draw at a time: given the other draws, each is the same with probability 1 - 1/n and otherwise costs a
    factor e^eps at most. The mean of a 0/1 question with Laplace noise attains it, when no row but one has a 1.

    >>> round(with_replacement_pure(1.0, 10, 10), 3), round(with_replacement_pure(1.0, 500, 10_000), 4)
    (1.586, 0.0859)
    """
    check_nats("epsilon", epsilon)
    _check_draw(drawn, rows)
    return drawn * _diluted(epsilon, 1.0 / rows)


def with_replacement(changed: Callable[[int], Profile], epsilon: float, drawn: int, rows: int) -> tuple[float, float]:
    """The approximate form (their Thm. 10): the pair (ln(1 + p(e^eps - 1)), E delta_J(eps)), p = 1 - (1 - 1/n)^l.

    J, binomial(l, 1/n), counts how often the replaced row was drawn, and ``changed(j)`` is the profile of the look
    when j of its l inputs change (delta_0 = 0). Couple the two samples to have the same J.

    >>> from unworn.bounds.privacy.profiles import Pure
    >>> e, d = with_replacement(lambda j: Pure(j * 1.0), 1.0, 10, 10)
    >>> round(e, 3), round(d, 4)   # not 0: two changed inputs cost more than epsilon
    (0.751, 0.1671)
    """
    check_nats("epsilon", epsilon)
    _check_draw(drawn, rows)
    log_in, log_out = -math.log(rows), math.log1p(-1.0 / rows) if rows > 1 else -math.inf
    total, log_chance, tail = 0.0, 0.0, 0.0
    for j in range(drawn + 1):
        if j:
            log_chance += math.log((drawn - j + 1) / j) + log_in
        rest = (drawn - j) * log_out if j < drawn else 0.0
        chance = math.exp(log_chance + rest)
        if j:
            total += chance * float(changed(j).delta(epsilon))
        falling = (drawn - j) / ((j + 1) * (rows - 1)) if rows > 1 else 1.0  # of the chances from here on, at most
        tail = chance * falling / (1.0 - falling) if falling < 1.0 else 1.0
        if j and tail <= _NEGLIGIBLE * total:
            break
    share = -math.expm1(drawn * log_out) if rows > 1 else 1.0
    return _diluted(epsilon, share), min(1.0, total + (tail if j < drawn else 0.0))


def claimed_with_replacement(epsilon: float, drawn: int, rows: int) -> float:
    """What is sometimes said of sampling with replacement: ln(1 + (1 - (1 - 1/n)^l)(e^eps - 1)). **False for l >= 2.**

    It forgets that the replaced row may be drawn twice; kept so that documentation and tests can show by how much.

    >>> round(claimed_with_replacement(1.0, 10, 10), 3)
    0.751
    """
    check_nats("epsilon", epsilon)
    _check_draw(drawn, rows)
    return _diluted(epsilon, -math.expm1(drawn * math.log1p(-1.0 / rows)) if rows > 1 else 1.0)


def amplified(atoms: Atoms, share: float) -> Atoms:
    """The losses of a symmetric look at a share p of the rows, drawn without replacement.

    The theorem says delta'(ln(1 + p(e^eps - 1))) = p delta(eps). As a function of y = e^eps the profile is only
    stretched, so its slopes, -Q(L > eps), stay: an atom at x > 0 keeps its mass under Q and moves to
    ln(1 + p(e^x - 1)); one at -x mirrors it; what is left has loss 0; the mass at infinity is multiplied by p.

    >>> from unworn.bounds.privacy.pairs import response_atoms
    >>> atoms = amplified(response_atoms(1.0), 0.1)
    >>> bool(np.allclose(atoms.masses[[2, 1, 0]], response_atoms(1.0, 0.1).masses))
    True
    """
    check_between("the share", share, 0.0, 1.0)
    above = atoms.losses > 0.0
    x = atoms.losses[above]
    unlikely = atoms.masses[above] * np.exp(-x)
    moved = np.log1p(share * np.expm1(np.minimum(x, 700.0)))
    likely = unlikely * np.exp(moved)
    return mirror_atoms(moved, likely, unlikely, share * atoms.infinite)


def _diluted(epsilon: float, share: float) -> float:
    if epsilon < 700.0:
        return math.log1p(share * math.expm1(epsilon))
    return max(0.0, epsilon + math.log(share)) if share > 0.0 else 0.0  # right to e^-700


def _check_draw(drawn: int, rows: int) -> None:
    check_whole("the number of rows", rows, 1)
    check_whole("the number of rows drawn", drawn, 1)
