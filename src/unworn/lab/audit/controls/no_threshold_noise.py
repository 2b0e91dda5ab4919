"""No noise on the threshold: the first exercise on the sparse vector technique. Not private for any epsilon.

Noise on the values alone hides each of them, but every "below" tells a little, and nothing stops after a thousand.
"""

from __future__ import annotations

from functools import partial

from unworn.lab.audit.claim import Claim
from unworn.lab.audit.controls.sparse_vector_parts import BELOW, compare, exactly
from unworn.lab.audit.target import Pair, Target


def target(epsilon: float = 1.0, length: int = 6) -> Target:
    """The control. On 0 … 0 against 1 … 1, "below" ``length`` times has odds of e^(length·ε/4)."""
    pair = Pair([0.0] * length, [1.0] * length, f"0^{length} against 1^{length}", (exactly([BELOW] * length),))
    run = partial(compare, threshold_scale=0.0, query_scale=4.0 / epsilon, cutoff=1)
    return Target(
        "no-threshold-noise", Claim.pure(epsilon), (pair,), run, 1_000_000, broken=True, note="noise on values alone"
    )
