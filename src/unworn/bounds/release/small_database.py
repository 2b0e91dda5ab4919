"""The small database (Blum, Ligett and Roth 2008): a private choice among all databases of a small size.

By sampling, some database of few rows answers every question nearly as the rows do; the exponential mechanism finds one
that is nearly as good. Its time is the number of such databases, so it is for tiny universes.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_probability, check_whole, log_choose


def small_error(
    rows: float, cells: float, questions: float, epsilon: float, beta: float, alpha: float | None = None
) -> float:
    """alpha + 2 (ln|X| ln|Q|/alpha^2 + ln(1/beta))/(epsilon n), with the best alpha unless one is given.

    Dwork and Roth (2014), Prop. 4.4. The databases have ln|Q|/alpha^2 rows, as if that were a whole number;
    :func:`small_release_error` is for one.

    >>> round(small_error(100_000, 16, 20, 1.0, 0.05), 4), round(small_error(100_000, 16, 20, 1.0, 0.05, 0.1), 4)
    (0.1039, 0.1167)
    """
    _check(rows, cells, questions, epsilon, beta)
    alpha = small_alpha(rows, cells, questions, epsilon) if alpha is None else alpha
    _check_positive("alpha", alpha)
    nats = math.log(cells) * math.log(questions) / alpha**2 - math.log(beta)
    return alpha + 2.0 * nats / (epsilon * rows)


def small_alpha(rows: float, cells: float, questions: float, epsilon: float) -> float:
    """The alpha that makes :func:`small_error` least: (4 ln|X| ln|Q|/(epsilon n))^(1/3).

    >>> round(small_alpha(100_000, 16, 20, 1.0), 4)
    0.0693
    """
    _check(rows, cells, questions, epsilon, 0.5)
    product = max(math.log(cells) * math.log(questions), 1e-300)
    return math.cbrt(4.0 * product / (epsilon * rows))


def small_rows(cells: float, questions: float, epsilon: float, beta: float, alpha: float) -> int:
    """The rows needed for an error of ``alpha``: (16 ln|X| ln|Q| + 4 ln(1/beta))/(epsilon alpha^3), Dwork and Roth 4.5.

    (Half of the error for the size, half for the choice; ln(1/beta) would need only 1/alpha.)

    >>> small_rows(16, 20, 1.0, 0.05, 0.1)
    144878
    """
    _check(1, cells, questions, epsilon, beta)
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must lie in (0, 1], not {alpha!r}")
    product = 16.0 * math.log(cells) * math.log(questions) - 4.0 * math.log(beta)
    return math.ceil(product / (epsilon * alpha**3))


def small_size(questions: float, alpha: float, *, book: bool = False) -> int:
    """How many rows suffice for some database to answer every question within alpha of the rows.

    ln(2|Q|)/(2 alpha^2) rounded up, by Hoeffding's inequality for a sample; the ``book`` has ln|Q|/alpha^2, which is
    right from three questions on.

    >>> small_size(20, 0.1), small_size(20, 0.1, book=True)
    (185, 300)
    """
    check_whole("the number of questions", questions, 1)
    _check_positive("alpha", alpha)
    needed = math.log(questions) if book else math.log(2 * questions) / 2.0
    return max(1, math.ceil(needed / alpha**2))


def small_release_error(
    rows: float, cells: float, questions: float, epsilon: float, beta: float, size: int, *, grain: float = 0.0
) -> float:
    """The largest error of a database of ``size`` rows chosen among all of them, but for ``beta``, at most 1.

    sqrt(ln(2|Q|)/(2 size)), as some database of that size is as good, and 2 (ln N + ln(1/beta))/(epsilon n) for the
    choice among N = C(|X| + size - 1, size) of them. Scores rounded to multiples of ``grain`` (in rows) add a grain.

    >>> round(small_release_error(100_000, 16, 20, 1.0, 0.05, 185), 4)   # the size for 0.1
    0.1009
    """
    _check(rows, cells, questions, epsilon, beta)
    check_whole("the size of the database", size, 1)
    if not 0 <= grain < math.inf:
        raise ValueError(f"grain must be finite and at least 0 rows, not {grain!r}")
    nats = log_choose(int(cells) + int(size) - 1, int(size)) - math.log(beta)
    return min(1.0, math.sqrt(math.log(2 * questions) / (2.0 * size)) + (2.0 * nats / epsilon + grain) / rows)


def _check(rows: float, cells: float, questions: float, epsilon: float, beta: float) -> None:
    check_whole("the number of rows", rows, 1)
    check_whole("the number of cells", cells, 1)
    check_whole("the number of questions", questions, 1)
    check_probability("beta", beta)
    _check_positive("epsilon", epsilon)


def _check_positive(name: str, value: float) -> None:
    if isinstance(value, bool) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite, not {value!r}")
