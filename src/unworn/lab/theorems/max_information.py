"""Max-information: how much an adaptively chosen question can have learned of the rows, in bits.

``I^b(S; Y) <= m bits`` says P[(S, Y) in O] <= 2^m P[S x Y in O] + b for every event O, where S x Y pairs the rows
with an output that has nothing to do with them. An output Y (a hypothesis to test) that was chosen by looking at S
is then hardly worse than one that was not: a p-value that must be below a for the latter must be below (a - b) / 2^m.

Three ways to know m, how they add up, and the correction. Where a mechanism is deterministic and its transcript is
coded, :mod:`~unworn.bounds.compression` does the same without slack, and better: a likely transcript pays less.

For (eps, delta)-differential privacy see :mod:`~unworn.lab.theorems.approximate_privacy`.

References
----------
Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, "Generalization in adaptive data analysis and holdout reuse",
NeurIPS 2015 (max-information). Rogers, Roth, Smith and Thakkar, "Max-information, differential privacy, and
post-selection hypothesis testing", FOCS 2016. Proofs: ``docs/theory/tests.md``.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import LN2, check_probability, check_rows

Bits = tuple[float, float]
"""A bound: max-information in bits, and the slack b with which it holds (0 for "always")."""


def pure_bits(epsilon: float, n: float) -> float:
    """Max-information of an eps-differentially private output on n rows: eps n log2(e), without slack.

    Whatever the rows' distribution, dependent or not: replacing all n rows one by one changes the probability of an
    output by at most e^(eps n). Dwork et al. (2015).

    >>> round(pure_bits(0.001, 10_000), 4)
    14.427
    """
    _check_epsilon(epsilon)
    check_rows(n)
    return _finite(epsilon * n / LN2, epsilon, n)


def product_bits(epsilon: float, n: float, slack: float) -> float:
    """The same for independent rows, as published: log2(e) (eps^2 n / 2 + eps sqrt(n ln(2/b) / 2)).

    The log-likelihood ratio of an output is a function of independent rows that one row moves by at most eps, so it
    concentrates. Dwork et al. (2015). For large eps it passes :func:`pure_bits`, which holds as well: take the smaller.

    >>> round(product_bits(0.001, 10_000, 0.01), 3)
    0.242
    """
    _check_epsilon(epsilon)
    check_rows(n)
    check_probability("slack", slack)
    bits = (epsilon * epsilon * n / 2 + epsilon * math.sqrt(n * (LN2 - math.log(slack)) / 2)) / LN2
    return _finite(bits, epsilon, n)


def sharp_product_bits(epsilon: float, n: float, slack: float) -> float:
    """:func:`product_bits` with the constant its proof gives: t log2(e), 2 t^2 / (n eps^2) - t = ln(1/b).

    The ratio f satisfies E[e^((1 + l) f)] <= exp((1 + l)^2 n eps^2 / 8) under independent rows (McDiarmid's moment
    bound, and E[e^f] = 1), so under the joint law P[f >= t] <= exp(t - 2 t^2 / (n eps^2)) at the best l. Solve for t.

    >>> round(sharp_product_bits(0.001, 10_000, 0.01), 4)
    0.2226
    """
    _check_epsilon(epsilon)
    check_rows(n)
    check_probability("slack", slack)
    quarter = n * (epsilon * epsilon) / 4
    return _finite((quarter + math.sqrt(quarter * (quarter - 2 * math.log(slack)))) / LN2, epsilon, n)


def outputs_bits(outputs: int, slack: float) -> float:
    """Max-information of an output that has at most ``outputs`` values: log2(M / b).

    Outputs of probability below b/M have probability b together; the others gain at most M/b by knowing the rows.
    Whatever the rows' distribution and the mechanism. Dwork et al. (2015). For testing, counting pays no slack: see
    :func:`log_compressed_level`.

    >>> round(outputs_bits(1024, 0.01), 4)
    16.6439
    """
    if isinstance(outputs, bool) or not (isinstance(outputs, int) and outputs >= 1):
        raise ValueError(f"outputs must be a whole number from 1, not {outputs!r}")
    check_probability("slack", slack)
    return math.log2(outputs) - math.log2(slack)


def compose(*parts: Bits) -> Bits:
    """One mechanism after another, each chosen by what came before: bits and slacks add up.

    Every part after the first must keep its bound for **every** distribution of the rows, as :func:`pure_bits` and
    :func:`outputs_bits` do: what was released before makes the rows dependent. Where a later part needs independent
    rows, use :func:`compose_independent`. Private mechanisms are better composed as such, and turned into bits once.

    >>> compose((14.4, 0.0), (10.0, 0.01))
    (24.4, 0.01)
    """
    for part in parts:
        _check_bits(*part)
    return math.fsum(bits for bits, _ in parts), min(math.fsum(slack for _, slack in parts), 1.0)


def compose_independent(*parts: Bits) -> Bits:
    """:func:`compose` where later parts keep their bounds for independent rows only, as :func:`product_bits` does.

    What the earlier parts told can make the later part's bad luck likelier by 2^(their bits), so its slack grows by
    that. The bound is then against outputs of *some* law independent of the rows, which is all a corrected level needs.

    >>> bits, slack = compose_independent((1.0, 0.001), (2.0, 0.001))
    >>> bits, round(slack, 6)
    (3.0, 0.003)
    """
    total, lost = 0.0, 0.0
    for bits, slack in parts:
        _check_bits(bits, slack)
        grown = math.exp(min(total * LN2 + math.log(slack), 0.0)) if slack > 0 else 0.0
        total, lost = total + bits, min(lost + grown, 1.0)
    return total, lost


def corrected_level(level: float, bits: float, slack: float = 0.0) -> float:
    """Reject an adaptively chosen hypothesis when its p-value is at most this: (level - slack) / 2^bits.

    P[p <= c] <= 2^bits c + slack = level under a true hypothesis, because a p-value is below c with probability at
    most c when the hypothesis has nothing to do with the rows.

    >>> round(corrected_level(0.05, 3.0, slack=0.01), 6)
    0.005
    >>> corrected_level(0.05, 3.0, slack=0.06)
    Traceback (most recent call last):
    ValueError: slack must lie in [0, level) = [0, 0.05), not 0.06: take a larger level or a smaller slack
    """
    log_corrected_level(level, bits, slack)  # for its checks
    return (level - slack) * math.exp2(-bits)


def log_corrected_level(level: float, bits: float, slack: float = 0.0) -> float:
    """ln of :func:`corrected_level`, for levels below the smallest float.

    >>> round(log_corrected_level(0.05, 5_000.0), 2)
    -3468.73
    """
    check_probability("level", level)
    if not 0 <= slack < level:
        raise ValueError(
            f"slack must lie in [0, level) = [0, {level:g}), not {slack!r}: take a larger level or a smaller slack"
        )
    _check_bits(bits, slack)
    return math.log(level - slack) - bits * LN2


def log_compressed_level(level: float, bits: float) -> float:
    """ln(level 2^-B): the corrected level after a transcript of B bits, exactly, without slack.

    At most 2^B hypotheses can be reached (or: their weights 2^-B sum to at most 1); each is rejected falsely with
    probability at most level 2^-B. Dwork et al. (2015); with weights, ``docs/theory/code-length.md``.

    >>> round(math.exp(log_compressed_level(0.05, 10.0)), 8)
    4.883e-05
    """
    return log_corrected_level(level, bits)


def _check_epsilon(epsilon: float) -> None:
    if not 0 <= epsilon < math.inf:
        raise ValueError(f"epsilon must be finite and at least 0, not {epsilon!r}")


def _finite(bits: float, epsilon: float, n: float) -> float:
    if not bits < math.inf:
        raise ValueError(
            f"epsilon = {epsilon!r} on {n!r} rows is more bits than a number holds: nothing was hidden. Use more noise"
        )
    return bits


def _check_bits(bits: float, slack: float) -> None:
    if not 0 <= bits < math.inf:
        raise ValueError(f"bits must be finite and at least 0, not {bits!r}")
    if not 0 <= slack <= 1:
        raise ValueError(f"slack must lie in [0, 1], not {slack!r}")
