"""Variant 6: Chen, Xiao, Zhang and Xu (2015). Not private for any epsilon.

As variant 1, but without an end: with every further answer above the threshold more is told, and nothing pays for it.
"""

from __future__ import annotations

from functools import partial

from unworn.lab.audit.claim import Claim
from unworn.lab.audit.controls.sparse_vector_parts import compare, half
from unworn.lab.audit.target import Target


def target(epsilon: float = 1.0, length: int = 3) -> Target:
    """The control. ε₁ = ε₂ = ε/2.

    On 0 … 0 against 1 … 1 −1 … −1, "below" ``length`` times and then "above" as often has odds of e^.82, e^1.70,
    e^2.62 for 1, 2, 3.
    """
    run = partial(compare, threshold_scale=2.0 / epsilon, query_scale=2.0 / epsilon)
    return Target(
        "lyu-6", Claim.pure(epsilon), (half(length),), run, 1_000_000, broken=True, note="Chen and others 2015"
    )
