"""A table like Adult (1994 census): as many rows, eight categorical columns with as many values, made up and seeded.

The rows come from a mixture of latent classes: a class is drawn, and given the class the columns are independent. So
columns depend on each other as in a census, some cells are common, most are empty, and nobody's record is used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unworn.universe.domain.domain import Domain

ROWS = 48_842
COLUMNS = {
    "sex": 2,
    "region": 5,
    "marital": 7,
    "relationship": 6,
    "income": 2,
    "education": 8,
    "age": 5,
    "hours": 3,
}
CLASSES = 12
"""Latent classes: enough that no two columns look independent."""
PEAKED = 0.5
"""How evenly a class spreads over a column's values: below 1, most classes prefer a few of them."""


def domain() -> Domain:
    """The declared domain: 100,800 cells."""
    return Domain({name: [f"{name} {value}" for value in range(size)] for name, size in COLUMNS.items()})


def codes(seed: int = 0, rows: int = ROWS) -> NDArray[np.int32]:
    """The rows, as the place of every value on the axis of its column in ``domain()``."""
    rng = np.random.default_rng(seed)
    shape = domain().shape
    classes = rng.choice(CLASSES, size=rows, p=rng.dirichlet(np.full(CLASSES, 1.0)))
    found = np.empty((rows, len(shape)), dtype=np.int32)
    for axis, size in enumerate(shape):
        steps = np.cumsum(rng.dirichlet(np.full(size, PEAKED), size=CLASSES), axis=1)
        found[:, axis] = np.minimum((rng.random(rows)[:, None] > steps[classes]).sum(axis=1), size - 1)
    return found


def frame(seed: int = 0, rows: int = ROWS) -> dict[str, NDArray[np.str_]]:
    """The same rows as columns of text, which any dataframe library takes."""
    where, drawn = domain(), codes(seed, rows)
    return {name: np.array(where.labels(name))[drawn[:, axis]] for axis, name in enumerate(where.names)}
