"""For those who write a mechanism of their own: the tests that ours must pass, to be run on yours.

``audit`` tries to show that it is less private than it claims, ``coverage`` that its intervals miss more often than it
promises. Both give a verdict with an error rate that is chosen beforehand (docs/audit.md).

>>> from unworn.mechanisms import Rounding
>>> coverage(Rounding(12), rows=100, asks=10, repetitions=2).refuted
False
"""

from unworn.audit import (
    Claim,
    Counted,
    Coverage,
    Outcome,
    Pair,
    Report,
    Target,
    audit,
    catalogue,
    controls,
    coverage,
    find,
    mechanism_target,
    neighbours,
)

__all__ = [
    "Claim",
    "Counted",
    "Coverage",
    "Outcome",
    "Pair",
    "Report",
    "Target",
    "audit",
    "catalogue",
    "controls",
    "coverage",
    "find",
    "mechanism_target",
    "neighbours",
]
