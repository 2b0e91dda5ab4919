"""Variant 5: Stoddard, Chen and Machanavajjhala (2014). Not private at all.

The values carry no noise, and there is no end: two answers can say surely that one value lies above another.
"""

from __future__ import annotations

from functools import partial

from unworn.lab.audit.claim import Claim
from unworn.lab.audit.controls.sparse_vector_parts import compare, late
from unworn.lab.audit.target import Target


def target(epsilon: float = 1.0) -> Target:
    """The control. On (0, 1) against (1, 0), "below, above" has a chance of .197 and of 0."""
    run = partial(compare, threshold_scale=2.0 / epsilon, query_scale=0.0)
    return Target("lyu-5", Claim.pure(epsilon), (late(1),), run, 200_000, broken=True, note="Stoddard and others 2014")
