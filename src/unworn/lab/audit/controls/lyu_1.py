"""Variant 1: the sparse vector technique as Lyu, Su and Li correct it. Private.

One noisy threshold for the whole run, noise of 2c/ε₂ on every value, and an end after c values above.
"""

from __future__ import annotations

from functools import partial

from unworn.lab.audit.claim import Claim
from unworn.lab.audit.controls.sparse_vector_parts import compare, late
from unworn.lab.audit.target import Target


def target(epsilon: float = 1.0, cutoff: int = 1, length: int = 10) -> Target:
    """The control. ε₁ = ε₂ = ε/2.

    On 0 … 0 1 against 1 … 1 0 with c = 1, "below" ``length`` times and then "above" has odds of e^.994 for 10.
    """
    run = partial(compare, threshold_scale=2.0 / epsilon, query_scale=4.0 * cutoff / epsilon, cutoff=cutoff)
    return Target("lyu-1", Claim.pure(epsilon), (late(length),), run, 4_000_000, note="Lyu, Su and Li 2017, corrected")
