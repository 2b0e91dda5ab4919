"""What is hidden cannot be overfitted: from a privacy profile to the population, with the best constants known.

Setting. Rows S_1..S_n are independent, Pi is the transcript of the whole adaptive interaction and delta(eps) its
privacy profile (replace one row). E is any event of the transcript, p = P(E), and u_Pi: X -> [0, 1] any question chosen
by it (the answer that misses, turned over if it misses below). The *gap* is (1/p) E[1_E (u_Pi(S_i) - u_Pi(X'))], X' a
fresh row: by how much the rows themselves exceed the population where it matters. A bound s(p) of the gap that never
rises in p gives, with W = max_j |R_j - q_j(S)|,

    P[ max_j |R_j - q_j(P)| > CVaR_beta(W) + s(beta) ] <= beta,

since alpha p < E[1_E (r - u(P))] <= p CVaR_p(W) + p s(p) contradicts p > beta.

**D1**: s = tanh(eps/2) + c/p with c = 2 delta/(1 + e^eps). **D1+**: s = tanh(eps/2)(1/2 + s') + c/p, s' a bound already
proved. Iterating it, the least over eps being taken each time, ends where s = (e^eps - 1)/4 + delta/p at the best eps.

**D2** ("odds"). Let a = e^eps, theta = E u_Pi(X') and psi(theta) = a theta / (1 + (a-1) theta): the odds times a. Then

    E[1_E u_Pi(S_i)] <= E[1_E psi(theta_Pi)] + delta(eps),   and so   s = tanh(eps/4) + delta/p.

Proof. First let u be 0/1-valued. Fix all rows but the i-th, let K_x be the law of Pi when that row is x, and take
w(Pi) = 1/(1 + (a-1) theta_Pi), which lies in [0, 1]. For a pair of rows x, x' privacy says K_x h <= a K_x' h + delta
for h(pi) = 1_E w(pi) u_pi(x) (1 - u_pi(x')). Average over independent x, x' and, in the term with K_x', exchange
their names: E[1_E w u(S_i) (1 - u(X'))] <= a E[1_E w (1 - u(S_i)) u(X')] + delta. Given Pi and S_i the mean of u(X') is
theta, so E[1_E w u(S_i) (1 - theta + a theta)] <= a E[1_E w theta] + delta, which is the claim. A [0, 1]-valued u is
the mean over t of the 0/1-valued 1{u > t}, and psi is concave, so Jensen's inequality carries the claim over (and also
to rows that are independent but not alike, theta being the mean over i). Last, psi(theta) - theta is largest at
theta = 1/(1 + e^(eps/2)), where it is tanh(eps/4). QED

A little better, s = t + (1 - t) delta/p with t = tanh(eps/4). Let y be the mean of u(S_i) given Pi and the other rows,
and b = (1 + (a-1) theta) y - a theta. Then y - theta <= t + (1-t) b^+: where b <= 0, y <= psi(theta) <= theta + t;
where b >= 0 both sides are linear in y, and it holds at y = psi(theta) (b = 0) and at y = 1 (b = 1 - theta). The other
rows being fixed, b > 0 is an event of the transcript, so with w (1 + (a-1) theta) = 1 on it and w = 0 elsewhere the
proof says E[1_E b^+] <= delta. (It is the *mean* whose positive part is taken: of u(S_i) itself it would be too large.)
That is the truth: a mechanism that with weight delta publishes its row, and otherwise a
random set of the share 1/(1 + e^(eps/2)) of X that holds its row with the odds e^eps, is (eps, delta)-private and
attains it, for one row and large X. D2 is never above D1 or D1+; no gap is above 1, and no number here either.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from unworn.bounds.numerics import Floats, check_between, check_nats, check_probability, special
from unworn.bounds.privacy.profiles import Profile
from unworn.bounds.transfer.parameter_search import least

Cost = Callable[[Floats, Floats], Floats]


def d1_gap(epsilon: float, delta: float, beta: float) -> float:
    """The gap of an (epsilon, delta)-private transcript on any event of probability ``beta``, by D1.

    >>> round(d1_gap(0.2, 0.001, 0.05), 4)
    0.1177
    """
    _check(epsilon, delta, beta)
    return float(_d1(beta)(np.array(epsilon), np.array(delta)))


def d1_plus_gap(epsilon: float, delta: float, beta: float) -> float:
    """The same by D1+, at its fixed point.

    >>> round(d1_plus_gap(0.2, 0.001, 0.05), 4)
    0.0754
    """
    _check(epsilon, delta, beta)
    return float(_d1_plus(beta)(np.array(epsilon), np.array(delta)))


def d2_gap(epsilon: float, delta: float, beta: float) -> float:
    """The same by D2, which no (epsilon, delta) mechanism leaves unattained.

    >>> round(d2_gap(0.2, 0.001, 0.05), 4)
    0.069
    """
    _check(epsilon, delta, beta)
    return float(_d2(beta)(np.array(epsilon), np.array(delta)))


def d1(profile: Profile, beta: float) -> float:
    """What D1 adds to the noise: the least over eps of tanh(eps/2) + 2 delta(eps)/((1 + e^eps) beta).

    >>> from unworn.bounds.privacy.profiles import GDP
    >>> round(d1(GDP(1e-4), 0.05) / 1e-4, 3)
    1.169
    """
    check_probability("beta", beta)
    return least(profile, _d1(beta))[2]


def d1_gdp(mu: float, beta: float) -> float:
    """D1 under mu-GDP without a search over eps: 1 - 2a/beta where Phi(Phi^-1(a) + mu) = beta - a.

    >>> round(d1_gdp(0.05, 0.05), 5), round(d1_gdp(1e-6, 0.001) / 1e-6, 3)
    (0.05839, 1.777)
    """
    check_nats("mu", mu)
    check_probability("beta", beta)
    library = special()
    low, high = 0.0, 1.0  # of the share 2a/beta
    for _ in range(80):
        share = 0.5 * (low + high)
        a = 0.5 * beta * share
        low, high = (share, high) if library.ndtr(library.ndtri(a) + mu) < beta - a else (low, share)
    return 1.0 - low


def d1_plus(profile: Profile, beta: float) -> float:
    """What D1+ adds to the noise: the least over eps of (e^eps - 1)/4 + delta(eps)/beta, or D1 where that is less.

    >>> from unworn.bounds.privacy.profiles import GDP
    >>> round(d1_plus(GDP(1e-4), 0.05) / 1e-4, 3), round(d1_plus(GDP(0.05), 0.05) / 0.05, 3)
    (0.647, 0.685)
    """
    check_probability("beta", beta)
    return min(least(profile, _d1_plus(beta))[2], d1(profile, beta))


def d2(profile: Profile, beta: float) -> float:
    """The least that D2 adds to the noise, uniformly: over eps, t + (1 - t) delta(eps)/beta with t = tanh(eps/4).

    >>> from unworn.bounds.privacy.profiles import GDP
    >>> round(d2(GDP(1e-4), 0.05) / 1e-4, 3), round(d2(GDP(0.05), 0.05) / 0.05, 3)
    (0.647, 0.649)
    """
    check_probability("beta", beta)
    return least(profile, _d2(beta))[2]


def _d1(beta: float) -> Cost:
    return lambda eps, delta: np.minimum(np.tanh(eps / 2.0) + 2.0 * delta / ((1.0 + np.exp(eps)) * beta), 1.0)


def _d1_plus(beta: float) -> Cost:
    return lambda eps, delta: np.minimum(np.expm1(eps) / 4.0 + delta / beta, 1.0)


def _d2(beta: float) -> Cost:
    def cost(eps: Floats, delta: Floats) -> Floats:
        tilt = np.tanh(eps / 4.0)
        return np.asarray(tilt + (1.0 - tilt) * np.minimum(delta / beta, 1.0))

    return cost


def _check(epsilon: float, delta: float, beta: float) -> None:
    check_nats("epsilon", epsilon)
    check_between("delta", delta, 0.0, 1.0)
    check_probability("beta", beta)
    if epsilon > 700:
        raise ValueError(f"epsilon above 700 promises nothing, and overflows: {epsilon!r}")


def relative_above(released: float, noise: float, epsilon: float, delta: float, beta: float) -> float:
    """What the population's share stays below, for all answers at once: e^eps (R + noise) + delta/beta.

    One side only, and eps chosen in advance. For rare events, where a factor matters rather than a difference: an
    event of which e^eps (R + noise) + delta/beta < q(P) has probability p > beta would contradict
    E[1_E q(P)] <= e^eps E[1_E q(S)] + delta. ``noise`` is CVaR_beta(W).

    >>> round(relative_above(0.001, 0.002, 0.1, 1e-6, 0.05), 5)
    0.00334
    """
    _check(epsilon, delta, beta)
    _check_released(released, noise)
    return min(1.0, math.exp(epsilon) * max(0.0, released + noise) + delta / beta)


def relative_below(released: float, noise: float, epsilon: float, delta: float, beta: float) -> float:
    """What the population's share stays above: e^-eps (R - noise - delta/beta); one side, eps chosen in advance.

    >>> round(relative_below(0.01, 0.002, 0.1, 1e-6, 0.05), 5)
    0.00722
    """
    _check(epsilon, delta, beta)
    _check_released(released, noise)
    return min(1.0, max(0.0, math.exp(-epsilon) * (released - noise - delta / beta)))


def _check_released(released: float, noise: float) -> None:
    if not -math.inf < released < math.inf:
        raise ValueError(f"the released share must be a finite number, not {released!r}")
    if not 0 <= noise < math.inf:
        raise ValueError(f"noise = CVaR_beta(W) must be finite and at least 0, not {noise!r}")
