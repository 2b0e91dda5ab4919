"""KL-stability of the sparse vector, and the errors that one should expect of it.

A mechanism is tau-KL stable if the laws of all it says, on rows that differ in one, have a divergence of at most tau.
Then |E u(S) - E u(P)| <= sqrt(tau/2) for every question u in [0, 1] that is chosen by what it said (Pinsker's
inequality, row by row), and so the expected error against the population is at most that against the rows, and
sqrt(tau/2) more.

The lecture: m runs of a sparse vector that is eps-private are tau-KL stable for tau <= m eps (e^eps - 1), with an
empirical error of O(ln(k)/(n eps)); balanced, the expected error is O(m^(1/4) sqrt(ln(k)/n)). Here are the constants,
and the smaller tau <= m eps tanh(eps/2) that eps-privacy gives (:func:`kl_stability`).

References
----------
Smith, "The sparse vector technique", lecture 12 of "The algorithmic foundations of adaptive data analysis". Bassily et
al., STOC 2016 (KL-stability). Dwork, Rothblum and Vadhan, FOCS 2010 (eps (e^eps - 1)).
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_nats, check_rows, check_whole, special
from unworn.bounds.sparse.sparse_vector_bounds import refreshed_run, run_profile
from unworn.bounds.transfer import stability
from unworn.bounds.transfer.parameter_search import lowest

_SURE = 1.0 - 1e-15
"""The chance of the event that anything at all happens."""


def kl_stability(epsilon: float, tops: int = 1, *, lecture: bool = False) -> float:
    """tau of so many runs, each eps-private: m eps tanh(eps/2), or m eps (e^eps - 1) as in the ``lecture``.

    The divergence of two laws whose ratio lies between e^-eps and e^eps is largest for randomised response; in a
    conversation the divergences of its parts add up, in expectation.

    >>> round(kl_stability(0.1, 10), 5), round(kl_stability(0.1, 10, lecture=True), 5)
    (0.04996, 0.10517)
    """
    check_nats("epsilon", epsilon)
    check_whole("tops", tops, 1)
    return tops * epsilon * (math.expm1(epsilon) if lecture else math.tanh(epsilon / 2.0))


def bare_stability(epsilon: float, tops: int = 1) -> float:
    """tau of so many runs **without** noise on the threshold, Laplace noise of 4/eps on the counts: about m eps^2/8.

    2 m e^h (e^h - 1)^2 with h = eps/4. So for the lecture's error in expectation the noisy threshold is not needed, and
    even harmful; it is for privacy (exercise 1), and so for whatever is to hold with high probability.

    *Proof.* A count that moves by 1 changes the chance p of "above", and that of "below", by a factor between e^-h and
    e^h, to p'. So (p - p')^2 is at most (e^h - 1)^2 min(p', 1 - p')^2, and kl(p || p') <= (p - p')^2/(p' (1 - p')) at
    most 2 (e^h - 1)^2 min(p', 1 - p') <= 2 e^h (e^h - 1)^2 p. By the chain rule the divergence is the sum of P(the run
    comes to ask j) kl(p_j || p'_j), and the P(it comes to ask j) p_j add up to 1 at most: a run says "above" once. QED

    >>> round(bare_stability(0.1), 6), round(kl_stability(0.1), 6)
    (0.001314, 0.004996)
    """
    check_nats("epsilon", epsilon)
    check_whole("tops", tops, 1)
    return tops * 2.0 * math.exp(epsilon / 4.0) * math.expm1(epsilon / 4.0) ** 2


def kl_gap(tau: float) -> float:
    """By how much the rows can differ from the population in expectation: sqrt(tau/2), at most 1.

    >>> round(kl_gap(kl_stability(0.1, 10)), 4)
    0.158
    """
    check_nats("tau", tau)
    return min(1.0, math.sqrt(tau / 2.0))


def expected_empirical_error(epsilon: float, asks: int, tops: int = 1, *, values: bool = False) -> float:
    """The expected largest error of a whole run against its rows, in rows: (2 H_m + 4 H_k)/eps, H harmonic numbers.

    The largest of N draws of |Lap(b)| has the mean b H_N; 2/eps is the scale of the thresholds, 4/eps that of the
    counts. With ``values``, what is above is told with fresh noise of 4/eps, and m more draws are among those of 4/eps.
    The lecture has O(ln(k)/eps). Noise on whole numbers adds a row at most: half of one for either kind.

    >>> round(expected_empirical_error(0.1, 1_000), 1)   # 20 + 40 H_1000
    319.4
    """
    check_nats("epsilon", epsilon)
    if epsilon == 0:
        return math.inf
    check_whole("the number of asks", asks, 1)
    check_whole("tops", tops, 1)
    return (2.0 * _harmonic(tops) + 4.0 * _harmonic(asks + (tops if values else 0))) / epsilon


def expected_error(
    rows: float, asks: int, tops: int, epsilon: float, *, values: bool = False, lecture: bool = False
) -> float:
    """The expected largest error of a whole run against the population, as a share, at most 1.

    What is expected against the rows, and what may be fitted to them: by KL-stability or, where that is less, by D2 for
    the event that is certain. As in the ``lecture``: by KL-stability with its tau alone. ``values`` cost eps/4 each.

    >>> round(expected_error(10**6, 10_000, 16, 0.005), 4), round(expected_error(10**6, 10_000, 16, 0.005, lecture=True), 4)
    (0.0155, 0.0233)
    """  # noqa: E501
    check_rows(rows)
    empirical = expected_empirical_error(epsilon, asks, tops, values=values) / rows
    tau = kl_stability(epsilon, tops, lecture=lecture)
    tau += kl_stability(epsilon / 4.0, tops, lecture=lecture) if values else 0.0
    gap = kl_gap(tau)
    if not lecture and not values and 0 < epsilon <= 700:
        gap = min(gap, stability(run_profile(refreshed_run(epsilon, tops)), _SURE).width)
    return min(1.0, empirical + gap)


def best_expected_error(rows: float, asks: int, tops: int, *, values: bool = False) -> tuple[float, float]:
    """The epsilon of each run with the least :func:`expected_error`, by KL-stability, and that error.

    The lecture's eps = sqrt(ln(k)/(n sqrt(m))) is the same up to a constant.

    >>> epsilon, error = best_expected_error(10**6, 10_000, 16)
    >>> round(epsilon, 5), round(error, 4), round(math.sqrt(math.log(10_000) / (10**6 * 4)), 5)
    (0.00479, 0.0192, 0.00152)
    """
    check_rows(rows)
    needed = expected_empirical_error(1.0, asks, tops, values=values) / rows

    def error(epsilon: float) -> float:
        tau = kl_stability(epsilon, tops) + (kl_stability(epsilon / 4.0, tops) if values else 0.0)
        return needed / epsilon + math.sqrt(tau / 2.0)

    epsilon = lowest(error, math.sqrt(2.0 * needed / math.sqrt(tops)), close=1e-3)
    return epsilon, min(1.0, error(epsilon))


def _harmonic(count: int) -> float:
    """H_N."""
    digamma = special().digamma
    return float(digamma(count + 1.0)) + 0.5772156649015329
