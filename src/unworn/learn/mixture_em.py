"""EM for Gaussian mixtures as a sequence of asks.

The likelihood of a mixture is not convex, so no excess is certified. What is: the last step, for its answers' intervals
hold the population's own step from the same parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unworn.bounds.numerics import whole
from unworn.errors import Exhausted
from unworn.learn.regions import Floats, positive
from unworn.queries.learning.linear_features import Feature
from unworn.queries.learning.mixture_moments import MAX_COMPONENTS, SMALLEST, Mixture, Moment

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.record.answer import Answer


@dataclass(frozen=True)
class FittedMixture:
    """A mixture, and where the population's own last step would have gone.

    ``weights`` and ``means`` are limits (low, high), one pair per parameter: with ``confidence``, and together with all
    other answers, one step of EM on the whole population from ``before`` would lie inside.
    """

    mixture: Mixture
    before: Mixture
    weights: tuple[tuple[float, float], ...]
    means: tuple[tuple[tuple[float, float], ...], ...]
    iterations: int
    asks: int
    confidence: float
    head: str
    assumptions: tuple[str, ...]


def fit_mixture(
    holdout: Holdout,
    features: Mapping[str, tuple[float, float]],
    components: int = 2,
    *,
    iterations: int,
    narrowest: float = 0.01,
    seed: int = 0,
    by: str | None = None,
) -> FittedMixture:
    """Run EM from a start drawn by the public ``seed``; ``narrowest`` is the least variance, features in [-1, 1].

    An iteration asks components × (1 + 2 × features) questions in one batch.

    >>> from unworn import Holdout
    >>> from unworn.mechanisms import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> x = np.where(rng.random(50_000) < 0.3, rng.normal(-2, 0.5, 50_000), rng.normal(1, 0.5, 50_000))
    >>> holdout = Holdout({"x": x}, mechanism=Gaussian(), asks=90)
    >>> found = fit_mixture(holdout, {"x": (-4, 4)}, 2, iterations=15)
    >>> sorted(round(4 * mean[0]) for mean in found.mixture.means), round(min(found.mixture.weights), 1)
    ([-2, 1], 0.3)
    """
    count = whole("components", components, 1, MAX_COMPONENTS)
    rounds, floor = whole("iterations", iterations, 1), positive("narrowest", narrowest)
    if not SMALLEST <= floor <= 1:
        raise ValueError(f"narrowest is a variance from {SMALLEST:g} to 1, not {narrowest!r}")
    listed = tuple(Feature(name, low, high) for name, (low, high) in features.items())
    mixture = _start(listed, count, whole("seed", seed, 0))
    each = count * (1 + 2 * len(listed))
    meter = holdout.meter
    if meter.planned is not None and rounds * each > meter.planned - meter.asked:
        raise Exhausted(
            f"{rounds} iterations of {each} asks each are {rounds * each}, and the plan has "
            f"{meter.planned - meter.asked} left.\n  Give fewer iterations=, or seal rows with a longer plan."
        )
    told: list[Answer] = []
    before = mixture
    for _ in range(rounds):
        told = holdout.ask_many(_questions(mixture), by=by)
        before, mixture = mixture, _step(mixture, told, floor)
    weights, means = _limits(before, told)
    last = told[-1].certificate
    return FittedMixture(
        mixture, before, weights, means, rounds, rounds * each, holdout.confidence, last.head, last.assumptions
    )


def _start(features: tuple[Feature, ...], count: int, seed: int) -> Mixture:
    """Means spread evenly along every feature, in an order that the seed shuffles; the same wide variance."""
    rng = np.random.default_rng(seed)
    even = (2 * np.arange(count) + 1) / count - 1
    means = 0.6 * np.array([rng.permutation(even) for _ in features]).T.reshape(count, len(features))
    equal = np.full(count, 1 / count)
    return Mixture(features, tuple(equal), tuple(map(tuple, means)), ((0.1,) * len(features),) * count)


def _questions(mixture: Mixture) -> list[Moment]:
    places = range(len(mixture.features))
    return [
        Moment(mixture, component, feature, power)
        for component in range(len(mixture.weights))
        for power, feature in ((0, 0), *((power, feature) for power in (1, 2) for feature in places))
    ]


def _table(mixture: Mixture, numbers: list[float]) -> tuple[Floats, Floats, Floats]:
    """Answers as shares, first and second moments: a row for each component."""
    width = len(mixture.features)
    table = np.array(numbers).reshape(len(mixture.weights), 1 + 2 * width)
    return table[:, 0], table[:, 1 : 1 + width], table[:, 1 + width :]


def _step(mixture: Mixture, told: list[Answer], floor: float) -> Mixture:
    shares, firsts, seconds = _table(mixture, [answer.value for answer in told])
    weights = np.maximum(shares, 1e-3)  # a component that is nearly gone keeps its place
    means = np.clip(firsts / weights[:, None], -1.0, 1.0)
    variances = np.clip(seconds / weights[:, None] - means**2, floor, 1.0)
    weights = weights / weights.sum()
    return Mixture(mixture.features, tuple(weights), tuple(map(tuple, means)), tuple(map(tuple, variances)))


def _limits(
    mixture: Mixture, told: list[Answer]
) -> tuple[tuple[tuple[float, float], ...], tuple[tuple[tuple[float, float], ...], ...]]:
    low, first_low, _ = _table(mixture, [answer.low for answer in told])
    high, first_high, _ = _table(mixture, [answer.high for answer in told])
    with np.errstate(all="ignore"):
        ends = np.array([end / side[:, None] for end in (first_low, first_high) for side in (low, high)])
    ends = np.where((low > 0)[:, None], ends, np.array([-1.0, 1.0, -1.0, 1.0])[:, None, None])
    ends = np.clip(np.nan_to_num(ends, nan=1.0), -1.0, 1.0)
    pairs = np.stack([ends.min(axis=0), ends.max(axis=0)], axis=2)
    return tuple(zip(low.tolist(), high.tolist(), strict=True)), tuple(
        tuple((float(a), float(b)) for a, b in row) for row in pairs
    )
