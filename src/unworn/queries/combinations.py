"""What can be made of several answers: each combination with the exact image of a box of intervals.

All intervals of a ledger hold together, so whatever is a function of their values lies in the image of their box: no
further chance of error. Every combination here is monotone in each of its arguments, or its extremes are known in
closed form, so the image is exact and attained (or the supremum of what is attained), not merely an enclosure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Box = Sequence[tuple[float, float]]
Numbers = Sequence[float]


@dataclass(frozen=True)
class Combination:
    """A function of several values: of points, of a box, and of one value backwards where that is possible."""

    value: Callable[[Numbers, Numbers], float]
    image: Callable[[Box, Numbers], tuple[float, float]]
    arguments: int | None = None
    inverse: Callable[[float, Numbers], float] | None = None
    reach: tuple[float, float] = (-math.inf, math.inf)
    """Between which ends its values lie, where it can be run backwards."""


def _rising(function: Callable[[float], float], inverse: Callable[[float], float], most: float = 1.0) -> Combination:
    return Combination(
        lambda v, _: function(v[0]),
        lambda box, _: (function(box[0][0]), function(box[0][1])),
        1,
        lambda value, _: inverse(value),
        (0.0, most),
    )


def _linear(values: Numbers, weights: Numbers) -> float:
    """What is infinite both ways is taken for 0: no number is nearer to it than another."""
    terms = [weight * value for weight, value in zip(weights, values, strict=True) if weight]
    return 0.0 if -math.inf in terms and math.inf in terms else math.fsum(terms)


def _linear_image(box: Box, weights: Numbers) -> tuple[float, float]:
    ends = [sorted((weight * low, weight * high)) for weight, (low, high) in zip(weights, box, strict=True) if weight]
    lows, highs = [low for low, _ in ends], [high for _, high in ends]
    # An end that is infinite both ways bounds nothing.
    lowest = -math.inf if -math.inf in lows else math.fsum(lows)
    return lowest, math.inf if math.inf in highs else math.fsum(highs)


def _over(above: float, below: float) -> float:
    """above/below for numbers of at least 0; what is divided by 0 is as large as can be, and 0/0 is 0."""
    if below > 0:
        return above / below
    return math.inf if above > 0 else 0.0


def _ratio(values: Numbers, ends: Numbers) -> float:
    return min(max(_over(max(values[0], 0.0), max(values[1], 0.0)), ends[0]), ends[1])


def _ratio_image(box: Box, ends: Numbers) -> tuple[float, float]:
    (low, high), (least, most) = ((max(a, 0.0), max(b, 0.0)) for a, b in box)
    largest = math.inf if least <= 0 else high / least
    return _cut(_over(low, most), ends), _cut(largest, ends)


def _subgroup(values: Numbers, settings: Numbers) -> float:
    """A mean in a subgroup from that of its distances to a centre, 0 elsewhere, and the subgroup's share."""
    above, share = values[0], max(values[1], 0.0)
    return _cut(settings[2] + math.copysign(_over(abs(above), share), above), settings)


def _subgroup_image(box: Box, settings: Numbers) -> tuple[float, float]:
    (low, high), (least, most) = box[0], (max(box[1][0], 0.0), max(box[1][1], 0.0))
    # The nearer an end is to the centre, the less of the share it takes; and of no rows at all nothing is known.
    lowest = _over(low, most) if low > 0 else _over(low, least) if least > 0 else -math.inf
    highest = -_over(-high, most) if high < 0 else _over(high, least) if least > 0 else math.inf
    return _cut(settings[2] + lowest, settings), _cut(settings[2] + highest, settings)


def _cut(value: float, ends: Numbers) -> float:
    return min(max(value, ends[0]), ends[1])


def _explained(values: Numbers, _: Numbers) -> float:
    """R²: 1 − error/baseline; one error of 0 over a baseline of 0 explains all there is."""
    return 1.0 - _over(max(values[0], 0.0), max(values[1], 0.0))


def _explained_image(box: Box, _: Numbers) -> tuple[float, float]:
    (low, high), (least, most) = ((max(a, 0.0), max(b, 0.0)) for a, b in box)
    return 1.0 - (math.inf if least <= 0 else high / least), 1.0 - _over(low, most)


def matthews(recall: float, fallout: float, share: float) -> float:
    """The correlation of label and prediction from recall r, false-positive rate f and the share q of positives.

    With u = r − f and p = f + q·u, the share called positive, it is u·√(q(1 − q)/(p(1 − p))). At the edges of the cube
    it is the limit from inside in q, so that no limit is left out of an image.

    >>> matthews(1.0, 0.0, 0.3), matthews(0.5, 0.5, 0.3)
    (1.0, 0.0)
    """
    gap = recall - fallout
    if gap == 0:
        return 0.0
    if 0 < share < 1:
        called, others = _called(recall, fallout, share)
        squared = share * (1 - share) / (called * others)
    else:  # the limit: nothing, unless one of the two rates is 0 or 1 at this end
        rate, other = (fallout, recall) if share <= 0 else (recall, fallout)
        squared = 1 / other if rate == 0 else 1 / (1 - other) if rate == 1 else 0.0
    return min(max(gap * math.sqrt(squared), -1.0), 1.0)


def kappa(recall: float, fallout: float, share: float) -> float:
    """Cohen's kappa of label and prediction: 2q(1 − q)u/(p(1 − q) + q(1 − p)), with the letters of :func:`matthews`.

    >>> kappa(1.0, 0.0, 0.3), kappa(0.5, 0.5, 0.3)
    (1.0, 0.0)
    """
    gap = recall - fallout
    if gap == 0:
        return 0.0
    if share <= 0:  # the limit q → 0: nothing unless nobody else is called positive
        return 2 * gap / (1 + gap) if fallout == 0 else 0.0
    if share >= 1:
        return 2 * gap / (1 + gap) if recall == 1 else 0.0
    called, others = _called(recall, fallout, share)
    return 2 * share * (1 - share) * gap / (called * (1 - share) + share * others)


def _called(recall: float, fallout: float, share: float) -> tuple[float, float]:
    """The shares called positive and negative: sums without a difference, so that small ones keep their digits."""
    return share * recall + (1 - share) * fallout, share * (1 - recall) + (1 - share) * (1 - fallout)


def _agreement_image(
    agreement: Callable[[float, float, float], float], odds: Callable[[float, float], tuple[float, float]]
) -> Callable[[Box, Numbers], tuple[float, float]]:
    """The image of a box under :func:`matthews` or :func:`kappa`.

    Both rise in r and fall in f for every q (the derivative by u has the sign of p(1 − p) − uq(1 − 2p)/2, and of
    f(1 − q) + q(1 − f)). In q they are largest in size at one q* and fall away from it on both sides: their derivative
    has the sign of u·(A(1 − q)² − Bq²), with A = f(1 − f), B = r(1 − r), and A = f, B = 1 − r. So q* = √A/(√A + √B),
    where ``odds`` gives (A, B); all else happens at the ends.
    """

    def image(box: Box, _: Numbers) -> tuple[float, float]:
        (r0, r1), (f0, f1), (q0, q1) = [(min(max(a, 0.0), 1.0), min(max(b, 0.0), 1.0)) for a, b in box]

        def extremes(recall: float, fallout: float) -> list[float]:
            a, b = (math.sqrt(max(each, 0.0)) for each in odds(recall, fallout))
            top = a / (a + b) if a + b > 0 else q0
            return [agreement(recall, fallout, q) for q in (q0, q1, min(max(top, q0), q1))]

        return min(extremes(r0, f1)), max(extremes(r1, f0))

    return image


COMBINATIONS: dict[str, Combination] = {
    "linear": Combination(_linear, _linear_image),
    "f1": _rising(lambda j: 2 * j / (1 + j), lambda f: f / (2 - f)),
    "micro_jaccard": _rising(lambda a: a / (2 - a), lambda j: 2 * j / (1 + j)),
    "root": _rising(lambda s: math.sqrt(max(s, 0.0)), lambda r: r * r, math.inf),
    "ratio": Combination(_ratio, _ratio_image, 2),
    "subgroup": Combination(_subgroup, _subgroup_image, 2),
    "explained": Combination(_explained, _explained_image, 2),
    "matthews": Combination(
        lambda v, _: matthews(v[0], 1 - v[1], v[2]),
        lambda box, s: _agreement_image(matthews, lambda r, f: (f * (1 - f), r * (1 - r)))(_fallout(box), s),
        3,
    ),
    "kappa": Combination(
        lambda v, _: kappa(v[0], 1 - v[1], v[2]),
        lambda box, s: _agreement_image(kappa, lambda r, f: (f, 1 - r))(_fallout(box), s),
        3,
    ),
}
"""By name: that is how a combination is kept, and no other can be."""


def _fallout(box: Box) -> Box:
    """(recall, false-positive rate, share) from (recall, specificity, share)."""
    recall, (low, high), share = box
    return recall, (1.0 - high, 1.0 - low), share
