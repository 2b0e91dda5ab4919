"""Private multiplicative weights (Hardt and Rothblum 2010): questions one by one, most answered by the distribution.

The sparse vector finds out, privately, when the distribution p is off by too much; then p is tilted. Every such update
brings p nearer to the rows' histogram h, so there are few: KL(h || p) starts at ln|X| at most and is never below 0.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_between, check_probability, check_whole

_OUTWARD = 1.0 + 1e-12


def most_updates(cells: float, gap: float, rate: float | None = None) -> int:
    """How many updates there can be if before each p was off by ``gap`` at least, in the direction it is then tilted.

    p(x) times e^(rate q(x)), renormalised, lowers KL(h || p) by rate (q(h) - q(p)) - ln E_p e^(rate (q - q(p))), by
    Hoeffding's lemma at least rate gap - rate^2/8: at the best rate, 4 gap, by 2 gap^2. So there are at most
    ln|X|/(2 gap^2). (With a fixed rate a larger gap only helps.)

    >>> most_updates(2**16, 0.1), most_updates(2**16, 0.1, rate=0.05)   # the second is the rate of the book
    (554, 2365)
    >>> book_updates(2**16, 0.1)
    4436
    """
    check_whole("the number of cells", cells, 1)
    _check_gap(gap)
    step = 4.0 * gap if rate is None else rate
    gained = step * gap - step**2 / 8.0
    if not (0 < step < math.inf and gained > 0):
        raise ValueError(
            f"a rate of {step!r} with a gap of {gap!r} brings p no nearer: take a rate between 0 and 8 gaps"
        )
    return math.floor(math.log(cells) / gained * _OUTWARD)


def book_updates(cells: float, alpha: float) -> int:
    """4 ln|X|/alpha^2: the updates of the published analysis, at the rate alpha/2 (Dwork and Roth 2014, Thm. 4.10).

    >>> book_updates(1024, 0.1)
    2772
    """
    check_whole("the number of cells", cells, 1)
    _check_gap(alpha)
    return math.floor(4.0 * math.log(cells) / alpha**2 * _OUTWARD)


def online_alpha(rows: float, cells: float, questions: float, epsilon: float, delta: float, beta: float) -> float:
    """The least alpha for which the online mechanism's answers are all within 3 alpha, but for ``beta``.

    Dwork and Roth (2014), Alg. 5 and 6, with c = 4 ln|X|/alpha^2 updates and L = ln|Q| + ln(32 ln|X|/(alpha^2 beta)):
    the sparse vector and its values are right within alpha if alpha >= 9 c L/(epsilon n), that is
    36 ln|X| L/(epsilon alpha^2 n) (Thm. 4.14 has 32, which would be 8 c L: the constant without values); with delta > 0
    if alpha^2 >= (2 + 32 sqrt 2) sqrt(ln|X| ln(2/delta)) L/(epsilon n) (Thm. 4.15). Above 1 it promises nothing.

    >>> [round(online_alpha(10**6, 2**16, 10**5, 1.0, delta, 0.05), 4) for delta in (0.0, 1e-9)]
    [0.2109, 0.1333]
    """
    for name, count in (("rows", rows), ("cells", cells), ("questions", questions)):
        check_whole(f"the number of {name}", count, 1)
    if isinstance(epsilon, bool) or not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon must be positive and finite, not {epsilon!r}")
    check_between("delta", delta, 0.0, 1.0)
    check_probability("beta", beta)
    nats = max(math.log(cells), 1e-300)

    def needed(alpha: float) -> float:
        length = max(math.log(questions) + math.log(32.0 * nats / (beta * alpha**2)), 0.0)
        if delta == 0.0:
            return math.cbrt(36.0 * nats * length / (epsilon * rows))
        return math.sqrt(
            (2.0 + 32.0 * math.sqrt(2.0)) * math.sqrt(nats * math.log(2.0 / delta)) * length / (epsilon * rows)
        )

    low, high = 1e-150, 1.0
    while needed(high) > high:
        high *= 2.0
    for _ in range(200):  # needed falls with alpha, so there is one alpha at which it is alpha
        middle = math.sqrt(low * high)
        low, high = (middle, high) if needed(middle) > middle else (low, middle)
        if high <= low * _OUTWARD:
            break
    return high


def online_error(rows: float, cells: float, questions: float, epsilon: float, delta: float, beta: float) -> float:
    """3 alpha, at most 1: the largest error of all answers, but for ``beta``.

    >>> round(online_error(10**7, 2**16, 10**5, 1.0, 1e-9, 0.05), 4)
    0.1321
    """
    return min(1.0, 3.0 * online_alpha(rows, cells, questions, epsilon, delta, beta))


def _check_gap(gap: float) -> None:
    if not 0 < gap <= 1:
        raise ValueError(f"the gap must lie in (0, 1], not {gap!r}")
