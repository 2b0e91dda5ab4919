"""Variant 2: Dwork and Roth's book (2014). Private.

The threshold is drawn anew after every value above, with noise of c/ε₁: needlessly much, and safe.
"""

from __future__ import annotations

from functools import partial

from unworn.lab.audit.claim import Claim
from unworn.lab.audit.controls.sparse_vector_parts import compare, late
from unworn.lab.audit.target import Target


def target(epsilon: float = 1.0, cutoff: int = 1, length: int = 10) -> Target:
    """The control. ε₁ = ε₂ = ε/2. With c = 1 it is variant 1."""
    run = partial(
        compare,
        threshold_scale=2.0 * cutoff / epsilon,
        query_scale=4.0 * cutoff / epsilon,
        cutoff=cutoff,
        refreshed=True,
    )
    return Target("lyu-2", Claim.pure(epsilon), (late(length),), run, 4_000_000, note="Dwork and Roth 2014")
