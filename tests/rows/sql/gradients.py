"""What every engine must agree on about optimisation: gradients, risks and responsibilities mean what NumPy means.

An engine is tested by giving :func:`agree_gradients` a function that makes one from an Arrow table, and a seed. Rows
are those of :mod:`tests.rows.sql.conformance`, with all that can be missing, infinite or huge; losses have random
features, bounds and targets, and coefficients among which are those that put rows exactly on a kink. Sums must be those
of NumPy to 1e-12 of the sum of sizes, for EXP and LN differ by a unit or two in the last place from one engine to the
next, and to the grid of the sum, 2^-62 of the range for every row. Everything but EXP and LN is the same to the last
bit, so that no row falls on the other side of a kink; and nothing may be raised.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tests.rows.sql.conformance import HARD, KINDS, SCHEMA, WORDS, Chance, Make, plain_frame, table_of
from unworn.queries.learning.argmin import Curvature, Gradient, Risk, gradient
from unworn.queries.learning.linear_losses import Feature, LinearLoss, Stump, hinge, least_squares, logistic, pinball
from unworn.queries.learning.mixture_moments import Mixture, Moment

Asked = Gradient | Risk | Curvature | Moment
NUMBERS = [name for name, kind in KINDS.items() if kind in ("number", "bool")]
SPANS = [(-1.0, 1.0), (0.0, 1.0), (-3.0, 70.0), (0.0, 2.0**53), (-1e308, 1e307), (0.0, 1e-300), (64.9, 65.1)]
SIZES = [0.0, 0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1 / 3, 40.0, -800.0, 1e6]


def loss_of(chance: Chance) -> LinearLoss:
    """Any of the losses, over features of any kind."""
    names = chance.sample(NUMBERS, chance.choice([1, 2, 3, 5]))
    if chance.random() < 0.5:
        target = chance.choice([name for name, kind in KINDS.items() if kind != "date" and name not in names])
        make = chance.choice([logistic, hinge])
        return make(_features(chance, names), target, positive=_label(chance, target), intercept=_coin(chance))
    target = chance.choice([name for name in NUMBERS if name not in names])
    span = chance.choice(SPANS)
    if chance.random() < 0.5:
        return least_squares(_features(chance, names), target, range=span, intercept=_coin(chance))
    quantile = chance.choice([0.5, 0.1, 0.9, 1 / 3])
    features = _features(chance, names) if chance.random() < 0.8 else []
    return pinball(features, target, range=span, quantile=quantile, intercept=not features or _coin(chance))


def mixture_of(chance: Chance) -> Mixture:
    """From one to four Gaussians, some of them hardly wider than a point."""
    features = _features(chance, chance.choices(NUMBERS, k=chance.choice([1, 2, 40])), stumps=False)
    size = chance.choice([1, 2, 4])
    raw = np.array([chance.choice([1.0, 1.0, 1e-4]) for _ in range(size)])
    means = [[chance.choice([0.0, 1.0, -1.0, chance.uniform(-1, 1)]) for _ in features] for _ in range(size)]
    spreads = [[chance.choice([1.0, 0.1, 1e-6, 1e6, chance.random() + 0.01]) for _ in features] for _ in range(size)]
    return Mixture(tuple(features), tuple(raw / raw.sum()), means, spreads)


def asked_of(seed: int) -> list[Asked]:
    """The whole gradient, the risk and some curvature of a few losses, each at a point or two, and some moments."""
    chance = random.Random(f"losses {seed}")
    asked: list[Any] = []
    for _ in range(4):
        loss = loss_of(chance)
        for _ in range(chance.choice([1, 2])):
            at = [chance.choice([*SIZES, chance.gauss(0, 1)]) for _ in range(loss.dimension)]
            asked += [*gradient(loss, at), Risk(loss, tuple(at))]
            if loss.bend is not None:
                places = [[chance.randrange(loss.dimension) for _ in range(2)] for _ in range(2)]
                asked += [Curvature(loss, tuple(at), *place) for place in places]
    mixture = mixture_of(chance)
    for _ in range(4):
        power = chance.choice([0, 1, 2])
        feature = chance.randrange(len(mixture.features)) if power else 0
        asked.append(Moment(mixture, chance.randrange(len(mixture.weights)), feature, power))
    return asked


def agree_gradients(make: Make, seed: int) -> None:
    """The engine's sums, and the values of rows that it brings out, are those of NumPy."""
    agree_on(make, table_of(seed), asked_of(seed))


def agree_on(make: Make, table: pa.Table, asked: Sequence[Asked]) -> None:
    frame, engine = plain_frame(table), make(table)
    rows = engine.draw(np.arange(engine.rows), list(KINDS))
    for query in asked:
        query.facts(SCHEMA, engine.rows)
    for query, total in zip(asked, engine.sums(asked), strict=True):
        with np.errstate(all="ignore"):
            values, brought = query.values(frame), query.values(rows)
        np.testing.assert_array_equal(brought, values, err_msg=repr(query))
        low, high = query.bounds
        assert np.all((low <= values) & (values <= high)), query
        room = 1e-12 * math.fsum(np.abs(values)) + len(values) * 2.0**-62 * max(abs(low), abs(high))
        assert abs(float(total) - math.fsum(values)) <= room, (query, float(total), math.fsum(values))


def _features(chance: Chance, names: Sequence[str], stumps: bool = True) -> list[Any]:
    cut = stumps and chance.random() < 0.3
    return [Stump(name, chance.choice(HARD)) if cut else Feature(name, *chance.choice(SPANS)) for name in names]


def _label(chance: Chance, target: str) -> Any:
    if KINDS[target] == "text":
        return chance.choice(WORDS)
    return chance.choice([0, 1] if KINDS[target] == "bool" else [0, 1, -1, 65, 0.1, 0.5, 3])


def _coin(chance: Chance) -> bool:
    return chance.random() < 0.5
