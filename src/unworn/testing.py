"""For those who write a mechanism or a method of release of their own: the tests that ours must pass, for yours.

``audit`` tries to show that it is less private than it claims, ``coverage`` that its intervals miss more often than it
promises; ``check_mechanism`` and ``check_release`` try all that is asked of a mechanism and of a method of release.
Each gives a verdict with an error rate that is chosen beforehand (docs/audit.md).

>>> from unworn.mechanisms import Rounding
>>> coverage(Rounding(12), rows=100, asks=10, repetitions=2).refuted
False
>>> check_mechanism(Rounding(12), rows=100, asks=8, repetitions=2).passed
True
>>> from unworn.release.methods.additive_noise import GaussianRelease
>>> check_release(GaussianRelease(), trials=100, worlds=20).passed
True
"""

from unworn.lab.audit import (
    Cells,
    Claim,
    Conformance,
    Counted,
    Coverage,
    Outcome,
    Pair,
    Report,
    Target,
    audit,
    catalogue,
    check_mechanism,
    check_release,
    controls,
    coverage,
    find,
    mechanism_target,
    neighbours,
    release_target,
    replaced,
)

__all__ = [
    "Cells",
    "Claim",
    "Conformance",
    "Counted",
    "Coverage",
    "Outcome",
    "Pair",
    "Report",
    "Target",
    "audit",
    "catalogue",
    "check_mechanism",
    "check_release",
    "controls",
    "coverage",
    "find",
    "mechanism_target",
    "neighbours",
    "release_target",
    "replaced",
]
