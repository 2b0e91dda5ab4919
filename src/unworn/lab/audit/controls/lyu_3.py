"""Variant 3: Roth's lecture notes (2011). Not private for any epsilon.

A value above the threshold is told with the very noise that it was compared with. To come out low, it must have met a
low threshold, and that every value before it was below an even lower one is hardly possible when they are larger.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from unworn.lab.audit.claim import Claim
from unworn.lab.audit.controls.sparse_vector_parts import compare
from unworn.lab.audit.target import Outcome, Outputs, Pair, Target


def target(epsilon: float = 1.0, length: int = 5) -> Target:
    """The control. ε₁ = ε₂ = ε/2, c = 1.

    On 0 … 0 1 against 1 … 1 0, "below" ``length`` times and then a value of at most 0 has odds of
    e^((length − 1)·ε/2).
    """
    first, second = [0.0] * length + [1.0], [1.0] * length + [0.0]
    hint = Outcome(f"below {length} times, then a value ≤ 0", partial(_low, length))
    pair = Pair(first, second, f"0^{length} 1 against 1^{length} 0", (hint,))
    run = partial(compare, threshold_scale=2.0 / epsilon, query_scale=2.0 / epsilon, cutoff=1, shown=True)
    return Target("lyu-3", Claim.pure(epsilon), (pair,), run, 8_000_000, broken=True, note="Roth's lecture notes 2011")


def _low(length: int, outputs: Outputs) -> NDArray[np.bool_]:
    return np.asarray(outputs[:, length] <= 0.0)  # what is answered there was preceded by "below" alone
