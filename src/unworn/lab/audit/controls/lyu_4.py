"""Variant 4: Lee and Clifton (2014). Not what it claims.

The noise on the values does not grow with c, the number of values above that are told: only (1 + 6c)/4 times the
claimed epsilon is true.
"""

from __future__ import annotations

from functools import partial

from unworn.lab.audit.claim import Claim
from unworn.lab.audit.controls.sparse_vector_parts import compare, half
from unworn.lab.audit.target import Target


def target(epsilon: float = 1.0, length: int = 2) -> Target:
    """The control. ε₁ = ε/4, ε₂ = 3ε/4, c = ``length``.

    On 0 … 0 against 1 … 1 −1 … −1, "below" c times and then "above" c times has odds of e^1.16, e^2.49, e^3.86 for
    c = 1, 2, 3.
    """
    run = partial(compare, threshold_scale=4.0 / epsilon, query_scale=4.0 / (3.0 * epsilon), cutoff=length)
    return Target(
        "lyu-4", Claim.pure(epsilon), (half(length),), run, 1_000_000, broken=True, note="Lee and Clifton 2014"
    )
