"""How far the worst comparison of a sparse-vector run lies on the wrong side, as a transfer theorem needs it.

"Below" says count + nu < T + rho, so the count passes T by less than rho - nu; "above" says the opposite. Over a whole
run of k asks and m thresholds no count passes T by more than W = max(0, max rho) + max(0, max -nu), and none that was
above falls short of it by more than a variable of the same law. Both maxima are independent, so their laws are
convolved: the threshold's on a grid, rounded up, the counts' as it is. The CVaRs of the two apart, added up, would be
a tenth more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from unworn.bounds.extremes import _first_below, _log_any, cvar
from unworn.bounds.numerics import LN2, Floats, check_probability, check_rows, check_whole
from unworn.bounds.sparse.sparse_vector_bounds import Run, run_profile
from unworn.bounds.transfer.parameter_search import lowest
from unworn.bounds.transfer.price import Price, stability

_CELLS = 24  # of the grid, per scale of the threshold's noise: finer ones are narrower by 0.2 % at most
_DEEP = 50.0  # e-folds below beta at which the grid ends
_TOLD = 4.0  # a total loss, in standard deviations, at which rows are as good as told
_WIDE = 1e6  # a scale, in rows, at which whole numbers do not show


@lru_cache(maxsize=1024)
def largest_error(run: Run, asks: int, beta: float) -> float:
    """CVaR_beta, in rows, of the worst error of a run: of either kind or, with values, of "below" and of the values.

    Without values: the most by which a count was on the wrong side of T. With values: the larger of how far counts that
    were below passed T, and of the noise of the values released.

    >>> from unworn.bounds.extremes import largest_laplace
    >>> from unworn.bounds.sparse.sparse_vector_bounds import refreshed_run
    >>> round(largest_error(refreshed_run(0.1, 10), 10_000, 0.05))
    584
    >>> round(largest_laplace(20.0, 10, 0.05) + largest_laplace(40.0, 10_000, 0.05))   # added up, not convolved
    653
    """
    _check(asks, beta)
    one_side = _one_side(run, asks, beta)

    def log_tail(x: Floats) -> Floats:
        if run.value is None:
            return np.minimum(LN2 + one_side(x), 0.0)
        values = _log_any(LN2 + _log_half(x, run.value), min(run.tops, asks))
        return np.minimum(np.logaddexp(one_side(x), values), 0.0)

    return cvar(log_tail, beta)


@lru_cache(maxsize=1024)
def false_alarm(run: Run, asks: int, beta: float) -> float:
    """How far below T, in rows, all counts must stay for none to be called above, but with probability ``beta``.

    >>> from unworn.bounds.sparse.sparse_vector_bounds import refreshed_run
    >>> round(false_alarm(refreshed_run(0.1, 10), 10_000, 0.05))
    515
    """
    _check(asks, beta)
    one_side = _one_side(run, asks, beta)
    return _first_below(lambda x: float(one_side(np.array([x]))[0]), math.log(beta), run.question)


def run_price(run: Run, rows: int, asks: int, beta: float) -> Price:
    """The interval's price under Theorem D2, for a whole run of ``asks`` comparisons of counts of ``rows`` rows.

    >>> from unworn.bounds.sparse.sparse_vector_bounds import refreshed_run
    >>> round(run_price(refreshed_run(0.1, 10), 100_000, 10_000, 0.05).width, 4)
    0.209
    """
    check_rows(rows)
    stable = stability(run_profile(within(run, asks)), beta)
    return Price(largest_error(run, asks, beta) / rows, stable.tilt, stable.floor)


def best_factor(run: Run, rows: int, asks: int, beta: float, *, cleared: bool = False) -> float:
    """By how much to multiply a run's noise for the narrowest intervals; ``cleared``: with T above all false alarms.

    The error grows with the noise, exactly in proportion where whole numbers do not show, and what the noise does not
    hide falls; the search is over one number.

    >>> from unworn.bounds.sparse.sparse_vector_bounds import refreshed_run
    >>> best = refreshed_run(1.0, 10).scaled(best_factor(refreshed_run(1.0, 10), 100_000, 10_000, 0.05))
    >>> round(best.epsilon, 4), round(run_price(best, 100_000, 10_000, 0.05).width, 4)
    (0.017, 0.0682)
    """
    _check(asks, beta)
    check_rows(rows)
    unit = within(run, asks).scaled(_WIDE / run.question)
    error = largest_error(unit, asks, beta) + (false_alarm(unit, asks, beta) if cleared else 0.0)
    loss = unit.epsilon * (math.sqrt(unit.tops) if unit.fresh else 1.0)

    def width(factor: float) -> float:
        if loss > _TOLD * factor:  # nothing is hidden, and nothing promised: back to where something is
            return 1.0 + loss / factor
        return factor * error / rows + stability(run_profile(unit.scaled(factor)), beta).width

    alike = math.sqrt(loss * rows / error)  # noise and what it does not hide
    return lowest(width, max(alike, 2.0 * loss / _TOLD), close=5e-3) * unit.question / run.question


def within(run: Run, asks: int) -> Run:
    """No run says "above" more often than it is asked."""
    return replace(run, tops=min(run.tops, asks))


def _one_side(run: Run, asks: int, beta: float) -> Callable[[Floats], Floats]:
    """ln P(max(0, max rho) + max(0, max nu) > x), at most, as a function of x >= 0."""
    thresholds = min(run.tops, asks) if run.fresh else 1
    reach = math.log(thresholds) + _DEEP - math.log(beta)
    edges = run.threshold / _CELLS * np.arange(math.ceil(_CELLS * reach) + 1.0)
    passing = np.exp(_log_any(_log_half(edges, run.threshold), thresholds))
    masses = np.concatenate([[1.0 - passing[0]], passing[:-1] - passing[1:]])  # of each cell, put at its upper end
    heavy = masses > 0.0
    places, log_masses, beyond = edges[heavy], np.log(masses[heavy]), math.log(passing[-1])

    def log_tail(x: Floats) -> Floats:
        gaps = x[:, np.newaxis] - places
        logs = np.zeros(gaps.shape)
        ahead = gaps >= 0.0
        logs[ahead] = np.minimum(_log_any(_log_half(gaps[ahead], run.question), asks), 0.0)
        logs += log_masses
        most = logs.max(axis=1)
        return np.asarray(np.logaddexp(most + np.log(np.exp(logs - most[:, np.newaxis]).sum(axis=1)), beyond))

    return log_tail


def _log_half(x: Floats, scale: float) -> Floats:
    """ln P(m > x) of discrete Laplace noise for x >= 0, at most: exp(-x/scale)/(1 + exp(-1/scale))."""
    return np.asarray(-x / scale - math.log1p(math.exp(-1.0 / scale)))


def _check(asks: int, beta: float) -> None:
    check_whole("the number of asks", asks, 1)
    check_probability("beta", beta)
