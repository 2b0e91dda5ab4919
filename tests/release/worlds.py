"""Rows for tests of releases: seeded mixtures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def latent(shape: Sequence[int], rows: int, seed: int, classes: int = 4) -> NDArray[np.int32]:
    """Rows of a mixture in which columns are independent given a class, so that they depend on each other."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, classes, rows)
    codes = np.empty((rows, len(shape)), dtype=np.int32)
    for axis, size in enumerate(shape):
        steps = np.cumsum(rng.dirichlet(np.full(size, 0.7), classes), axis=1)
        codes[:, axis] = np.minimum((rng.random(rows)[:, None] > steps[kind]).sum(axis=1), size - 1)
    return codes
