"""Max-information of (epsilon, delta)-differential privacy, for independent rows, with constants.

Rogers, Roth, Smith and Thakkar (2016) showed that an (eps, delta)-private output has O(eps^2 n + n sqrt(delta/eps))
bits of max-information about n independent rows, with slack e^(-eps^2 n) + O(n sqrt(delta/eps)). We could not confirm
the constants in the O, and a certificate cannot rest on an O. Here is a bound that has constants. It was proved for
this package; no published source is known to us.

**Theorem.** Let M be (eps, delta)-private and its rows independent. For every lambda > 0 and eta > 0, with

    A = cosh((lambda + 1/2) eps) / cosh(eps/2),     C = sinh((1 + lambda) eps) / sinh(eps),

P[(S, Y) in O] <= e^t P[S x Y in O] + b for all O, where b = n delta + n e^-eps delta/eta + b3 and
t = (n ln A + (C/A) eta + ln(1/b3))/lambda, for every b3 > 0.

*Proof.* Write r_i for P(y | s_1..s_i)/P(y | s_1..s_(i-1)): their product is the density of the joint law J of (S, Y)
against the product S x Y. Given s_1..s_(i-1), privacy survives the averaging over later rows and over another i-th row,
so the joint law of (S_i, Y) and the product of its margins are (eps, delta)-close, both ways.
(a) Cut: replace each r_i by min(r_i, e^eps). That loses at most delta in each step, n delta in all.
(b) What r_i lacks: h_i = E_x (e^-eps - r_i)^+, x a fresh row, is a function of y and s_1..s_(i-1), and E_J h_i is at
most e^-eps delta. So J[h_1 + .. + h_n > eta] <= n e^-eps delta/eta by Markov's inequality: lose that too.
(c) Given y and s_1..s_(i-1), a fresh x gives r_i the mean 1. Raised to e^-eps where it is less, and cut, it lies
between e^-eps and e^eps and has a mean of at most 1 + h_i; z^(1 + lambda) lies below its chord there, so the mean of
min(r_i, e^eps)^(1 + lambda) is at most A + C h_i. Where the h_i add up to eta at most, the product of these factors is
at most A^n e^(C eta/A).
(d) So what is left of J has the moment E_(S x Y)[(dJ/d(S x Y))^(1 + lambda)] <= A^n e^(C eta/A), and by Markov's
inequality a density above e^t with chance e^(-lambda t) A^n e^(C eta/A) = b3 at most. QED

With delta = 0 the exponent is (1 + lambda) n eps^2/2 + ln(1/b)/lambda at most: of the form of
:func:`~unworn.lab.theorems.max_information.sharp_product_bits`, which is less by a factor of two, for it knows that two
rows' densities are never further apart than e^eps.
"""

from __future__ import annotations

import math

import numpy as np

from unworn.bounds.numerics import LN2, Floats, check_between, check_probability, check_rows
from unworn.bounds.privacy.profiles import Profile
from unworn.lab.theorems.max_information import Bits, pure_bits, sharp_product_bits

_LAMBDAS = np.geomspace(1e-4, 1e4, 321)
_SHARES = np.array([1e-3, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99])
_EPSILONS = np.geomspace(1e-5, 4.0, 241)


def private_bits(epsilon: float, delta: float, n: float, slack: float) -> float:
    """Max-information in bits of an (eps, delta)-private output about n independent rows, with this slack.

    The least of the theorem's bounds over lambda and the division of the slack; infinite where n delta leaves none.

    >>> round(private_bits(0.001, 1e-12, 10_000, 0.01), 4), round(private_bits(0.001, 0.0, 10_000, 0.01), 4)
    (0.4457, 0.2226)
    >>> private_bits(0.001, 1e-6, 10_000, 0.01)
    inf
    """
    check_rows(n)
    check_probability("slack", slack)
    check_between("delta", delta, 0.0, 1.0)
    if not 0 < epsilon < 700:
        raise ValueError(f"epsilon must lie above 0 and below 700, not {epsilon!r}")
    left = slack - n * delta
    if left <= 0:
        return math.inf
    known = math.inf if delta else min(pure_bits(epsilon, n), sharp_product_bits(epsilon, n, slack))
    spread, missed = np.meshgrid(_LAMBDAS, left * _SHARES if delta else np.zeros(1))
    eta = n * math.exp(-epsilon) * delta / missed if delta else np.zeros(1)
    log_a = _log_cosh((spread + 0.5) * epsilon) - _log_cosh(np.array(epsilon / 2))
    log_c = _log_sinh((1.0 + spread) * epsilon) - _log_sinh(np.array(epsilon))
    with np.errstate(over="ignore"):
        nats = (n * log_a + np.exp(log_c - log_a) * eta - np.log(left - missed)) / spread
    return min(known, float(nats.min()) / LN2 * (1.0 + 1e-12))


def profile_bits(profile: Profile, n: float, slack: float) -> float:
    """The same for a privacy profile, at the eps that suits: any eps is allowed, because it is fixed by the plan.

    >>> from unworn.bounds.privacy.profiles import GDP
    >>> round(profile_bits(GDP(0.01), 10_000, 0.01), 2)
    29.74
    """
    deltas = np.asarray(profile.delta(_EPSILONS), dtype=float)
    pairs = zip(_EPSILONS.tolist(), deltas.tolist(), strict=True)
    return min(private_bits(epsilon, delta, n, slack) for epsilon, delta in pairs)


def published_shape(epsilon: float, delta: float, n: float) -> Bits:
    """(eps^2 n + n sqrt(delta/eps), e^(-eps^2 n) + n sqrt(delta/eps)): the published form, its constants left out.

    Bits and slack, for eps up to 1/2 and delta below eps. A rate, and no bound: for certificates there is
    :func:`private_bits`.

    >>> bits, slack = published_shape(0.05, 1e-15, 10_000)
    >>> round(bits, 3), f"{slack:.2e}"
    (25.001, '1.41e-03')
    """
    check_rows(n)
    if not 0 < epsilon <= 0.5:
        raise ValueError(f"the published theorem is for an epsilon in (0, 1/2], not {epsilon!r}")
    if not 0 <= delta < epsilon:
        raise ValueError(f"the published theorem is for a delta below epsilon, not {delta!r}")
    part = n * math.sqrt(delta / epsilon)
    return epsilon**2 * n + part, min(1.0, math.exp(-(epsilon**2) * n) + part)


def _log_cosh(values: Floats) -> Floats:
    size = np.abs(values)
    return np.asarray(size + np.log1p(np.exp(-2.0 * size)) - LN2)


def _log_sinh(values: Floats) -> Floats:
    return np.asarray(values + np.log(-np.expm1(-2.0 * values)) - LN2)
