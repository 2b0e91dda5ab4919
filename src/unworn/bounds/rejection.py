"""Whether one fixed hypothesis is rejected: one-sided tests at a level b = exp(``log_level``), none of it wasted.

Each answers: do the rows speak against "the population's value is at most ``null``" (``side`` = 1), or "is at least
``null``" (``side`` = -1)? A true hypothesis is rejected with probability at most b. Only yes or no is returned: a
p-value would be data. Levels above one half are used as one half; nobody tests there, and the tails end there.
"""

from __future__ import annotations

import math

from unworn.bounds.binomial import high_limit, low_limit
from unworn.bounds.concentration import kl_above
from unworn.bounds.numerics import LN2, check_between, check_log_level, check_rows, check_whole
from unworn.bounds.paired import discordance

_ONE_SIDE = math.log(8.0 / 5.0)
"""``discordance`` at level B spends B/4 on the spread and 3B/8 a side: one side alone may have B = 8b/5."""


def share_rejects(side: int, null: float, count: float, n: float, log_level: float) -> bool:
    """For a share, from a count among n rows: the exact binomial test.

    Rejects when P(Bin(n, null) >= count) <= b (for ``side`` -1: <= count), through Clopper and Pearson's one-sided
    limit, which is on that side of ``null`` exactly then.

    >>> share_rejects(1, 0.5, 61, 100, math.log(0.02)), share_rejects(1, 0.5, 60, 100, math.log(0.02))
    (True, False)
    """
    _check(side, n, log_level)
    check_whole("the number of rows", n, 1)
    check_whole("count", count, 0, n)
    check_between("null", null, 0, 1)
    level = min(log_level, -LN2)
    return low_limit(count, n, level) > null if side > 0 else high_limit(count, n, level) < null


def mean_rejects(side: int, null: float, mean: float, n: float, log_level: float) -> bool:
    """For the mean of values in [0, 1]: rejects when exp(-n KL(mean || null)) <= b and the mean is beyond ``null``.

    Hoeffding (1963), theorem 1.

    >>> mean_rejects(1, 0.5, 0.61, 100, math.log(0.1)), mean_rejects(1, 0.5, 0.60, 100, math.log(0.1))
    (True, False)
    """
    _check(side, n, log_level)
    check_between("mean", mean, 0, 1)
    check_between("null", null, 0, 1)
    nats = -min(log_level, -LN2) / n
    if side > 0:
        return kl_above(1.0 - mean, mean, nats)[1] > null
    return kl_above(mean, 1.0 - mean, nats)[0] < null


def difference_rejects(
    side: int, null: float, difference: float, spread: float, n: float, log_level: float, zero_one: bool
) -> bool:
    """For a mean paired difference in [-1, 1] with mean size ``spread``: by one side of the discordance limits.

    2b/5 for the upper limit of the spread, 3b/5 for the difference given it.

    >>> difference_rejects(1, 0.0, 0.01, 0.03, 10_000, math.log(0.001), zero_one=True)
    True
    >>> difference_rejects(1, 0.0, 0.01, 1.0, 10_000, math.log(0.001), zero_one=True)
    False
    """
    _check(side, n, log_level)
    check_between("null", null, -1, 1)
    level = min(log_level, -LN2) + _ONE_SIDE
    low, high = discordance(difference, difference, spread, n, level, zero_one)
    return low > null if side > 0 else high < null


def balance_rejects(side: int, first: float, second: float, log_level: float) -> bool:
    """For a paired difference of 0/1 values and ``null`` = 0: McNemar's test, exactly.

    ``first`` rows only the first has right, ``second`` only the second. If the difference is at most 0 in the
    population, a discordant row is the first's with probability at most 1/2, and their number given all the discordant
    ones is binomial: rejects when P(Bin(first + second, 1/2) >= first) <= b. McNemar (1947), conditional and exact.

    >>> balance_rejects(1, 15, 5, math.log(0.025)), balance_rejects(1, 14, 6, math.log(0.025))
    (True, False)
    """
    _check(side, 1, log_level)
    check_whole("first", first, 0)
    check_whole("second", second, 0)
    more = first if side > 0 else second
    return first + second > 0 and low_limit(more, first + second, min(log_level, -LN2)) > 0.5


def _check(side: int, n: float, log_level: float) -> None:
    if side not in (1, -1):
        raise ValueError(f"side is 1 (is it above?) or -1 (is it below?), not {side!r}")
    check_rows(n)
    check_log_level(log_level)
