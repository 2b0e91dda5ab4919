"""Mechanisms whose privacy is known, to audit the auditor with: six published variants of one algorithm, and a seventh.

Lyu, Su and Li, "Understanding the sparse vector technique for differential privacy", VLDB 2017, collected six versions
of the sparse vector technique that were published as private. Two are; four are not, for four different reasons.
"""

from unworn.lab.audit.controls import lyu_1, lyu_2, lyu_3, lyu_4, lyu_5, lyu_6, no_threshold_noise
from unworn.lab.audit.target import Target

__all__ = ["lyu_1", "lyu_2", "lyu_3", "lyu_4", "lyu_5", "lyu_6", "no_threshold_noise", "targets"]


def targets() -> dict[str, Target]:
    """Every control, by name.

    >>> [name for name, control in targets().items() if not control.broken]
    ['lyu-1', 'lyu-2']
    """
    kinds = (lyu_1, lyu_2, lyu_3, lyu_4, lyu_5, lyu_6, no_threshold_noise)
    return {control.name: control for control in (kind.target() for kind in kinds)}
