"""Descent on a convex loss whose gradient is only known to within an interval: how far from the best it can end.

The gradient of a population's risk F is asked coordinate by coordinate, and every answer comes with an interval that
holds for the population. Write ĝ for the answers, ``reach`` for the largest distance from the start to a point of the
constraint set, T for the iterations. The *regret* below is what descent would leave with exact answers; what the
answers' intervals leave open is added to it, and both are proved in ``docs/theory/optimisation.md``:

- any convex loss, steps reach/(G √T), the mean of all points: G reach/√T (Zinkevich 2003; Nemirovski and Yudin 1983);
- λ-strongly convex, steps 2/(λ(t + 1)), points weighted by t: 2G²/(λ(T + 1)) (Lacoste-Julien, Schmidt and Bach 2012);
- L-smooth, steps 1/L, the mean of the points stepped to: L reach²/(2T); with a λ-strongly convex penalty, points
  weighted by (1 + λ/L)^t, it falls geometrically;
- L-smooth over a polytope of diameter D, steps 2/(t + 2) towards a corner: 2LD²/(T + 2) (Frank and Wolfe; Jaggi 2013).

G bounds the norm of the *answers*, which stay inside their declared ranges.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_probability, check_whole


def convex_regret(lipschitz: float, reach: float, iterations: float) -> float:
    """G reach/√T.

    >>> convex_regret(1.0, 2.0, 400)
    0.1
    """
    _check(iterations, lipschitz=lipschitz, reach=reach)
    return lipschitz * reach / math.sqrt(iterations)


def strongly_convex_regret(lipschitz: float, curvature: float, iterations: float) -> float:
    """2G²/(λ(T + 1)): no logarithm, because late points weigh more.

    >>> strongly_convex_regret(1.0, 0.5, 399)
    0.01
    """
    _check(iterations, lipschitz=lipschitz, curvature=curvature)
    return 2.0 * lipschitz**2 / (curvature * (iterations + 1))


def smooth_regret(smoothness: float, reach: float, iterations: float, curvature: float = 0.0) -> float:
    """L reach²/(2 Σ q^t) over t < T, q = 1 + λ/L: L reach²/(2T) without curvature, geometric with it.

    >>> smooth_regret(0.5, 2.0, 100)
    0.01
    >>> round(smooth_regret(0.5, 2.0, 100, curvature=0.05), 8)
    7.26e-06
    """
    _check(iterations, smoothness=smoothness, reach=reach)
    if not 0 <= curvature < math.inf:
        raise ValueError(f"the curvature must be finite and at least 0, not {curvature!r}")
    if smoothness == 0:
        return 0.0
    grown = curvature / smoothness
    if grown * iterations < 1e-9:
        return smoothness * reach**2 / (2.0 * iterations)
    log_total = iterations * math.log1p(grown)
    return smoothness * reach**2 / 2.0 * grown / math.expm1(log_total) if log_total < 700 else 0.0


def corner_regret(bend: float, iterations: float) -> float:
    """2C/(T + 2), for the last point; C is at most L times the squared diameter, in one norm for both.

    >>> corner_regret(1.0, 198)
    0.01
    """
    _check(iterations, bend=bend)
    return 2.0 * bend / (iterations + 2)


def block_deviation(largest: float, weight: float, beta: float) -> float:
    """M √(2 ln(1/β) Σw²): what asking one block of coordinates at random, in place of all, may hide (Azuma, Hoeffding).

    M bounds the scaled block's part of g·(x - x*), and ``weight`` is Σw², 1/T when all points weigh the same.

    >>> round(block_deviation(1.0, 1 / 400, 0.01), 4)
    0.1517
    """
    check_probability("beta", beta)
    if not 0 <= weight <= 1:
        raise ValueError(f"weights that sum to 1 have squares that sum to at most 1, not {weight!r}")
    _check(1, largest=largest)
    return largest * math.sqrt(2.0 * math.log(1.0 / beta) * weight)


def convex_iterations(excess: float, lipschitz: float, reach: float) -> int:
    """The fewest iterations whose :func:`convex_regret` is at most ``excess``.

    >>> convex_iterations(0.1, 1.0, 2.0)
    400
    """
    _check(1, lipschitz=lipschitz, reach=reach)
    return _ceiling((lipschitz * reach / _goal(excess)) ** 2)


def strongly_convex_iterations(excess: float, lipschitz: float, curvature: float) -> int:
    """The fewest iterations whose :func:`strongly_convex_regret` is at most ``excess``.

    >>> strongly_convex_iterations(0.01, 1.0, 0.5)
    399
    """
    _check(1, lipschitz=lipschitz, curvature=curvature)
    return _ceiling(2.0 * lipschitz**2 / curvature / _goal(excess) - 1)


def smooth_iterations(excess: float, smoothness: float, reach: float, curvature: float = 0.0) -> int:
    """The fewest iterations whose :func:`smooth_regret` is at most ``excess``.

    >>> smooth_iterations(0.01, 0.5, 2.0), smooth_iterations(0.01, 0.5, 2.0, curvature=0.05)
    (100, 26)
    """
    plain = _ceiling(smooth_regret(smoothness, reach, 1) / _goal(excess))
    if curvature <= 0 or plain == 1:
        return plain
    grown = curvature / smoothness
    if grown * plain < 1e-9:  # as for the regret: too little to tell
        return plain
    needed = math.log1p(smoothness * reach**2 / 2.0 * grown / excess) / math.log1p(grown)
    return min(plain, _ceiling(needed))


def corner_iterations(excess: float, bend: float) -> int:
    """The fewest iterations whose :func:`corner_regret` is at most ``excess``.

    >>> corner_iterations(0.01, 1.0)
    198
    """
    _check(1, bend=bend)
    return _ceiling(2.0 * bend / _goal(excess) - 2)


def published_iterations(excess: float, queries: float, beta: float, *, strongly: bool = False) -> float:
    """ln(k/β)/α², or ln(k/β)/α where the loss is strongly convex: the shape of the published counts.

    For the seed's theorem, with its constants left out: α in units of G·reach, or of G²/λ. Ours, with constants, are
    1/α² and 2/α in these units, for all k and β: within the published shape as soon as ln(k/β) is 2 or more.

    References
    ----------
    Fish, Reyzin and Rubinstein, "Sampling without compromising accuracy in adaptive data analysis", ALT 2020.

    >>> round(published_iterations(0.1, 1000, 0.05)), convex_iterations(0.1, 1.0, 1.0)
    (990, 100)
    >>> round(published_iterations(0.1, 1000, 0.05, strongly=True)), strongly_convex_iterations(0.1, 1.0, 1.0)
    (99, 19)
    """
    check_whole("the number of queries", queries, 1)
    check_probability("beta", beta)
    return math.log(queries / beta) / _goal(excess) ** (1 if strongly else 2)


def _goal(excess: float) -> float:
    if not 0 < excess < math.inf:
        raise ValueError(f"the excess risk aimed at must be finite and above 0, not {excess!r}")
    return excess


def _ceiling(count: float) -> int:
    if not count < 1e15:
        raise ValueError(f"{count:.3g} iterations are out of reach: aim at a larger excess")
    return max(1, math.ceil(count * (1 - 1e-12)))


def _check(iterations: float, **numbers: float) -> None:
    check_whole("the number of iterations", iterations, 1)
    for name, value in numbers.items():
        low_ok = value > 0 if name == "curvature" else value >= 0
        if isinstance(value, bool) or not (low_ok and value < math.inf):
            least = "above" if name == "curvature" else "at least"
            raise ValueError(f"the {name} must be finite and {least} 0, not {value!r}")
