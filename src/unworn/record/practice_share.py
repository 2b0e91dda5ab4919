"""Practice rows: how large a part of the rows is set aside at sealing, to be looked at as often as anyone likes.

The part is random, drawn by the key before anything is asked, so the rows that stay sealed are an independent sample
whatever is done with the others. Its exact values are free, wear out like those of any test set, and make good guesses.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.record.declared_uses import FEWEST

USUAL = 0.25
"""The share set aside by default: between .2 and .3 a search ends with about the same width (docs/decisions/0035)."""
_WHOLE = 10**9
"""As with uses, shares are kept to nine decimals, and sizes are whole-number work."""


def checked_share(practice: Any) -> float:
    """What a caller declares: a share of the rows, or 0 or None for none of them.

    >>> checked_share(0.25), checked_share(None)
    (0.25, 0.0)
    """
    if practice is None:
        return 0.0
    real = isinstance(practice, Real) and not isinstance(practice, bool)
    if not (real and 0 <= practice < 1):
        raise Unaskable(
            f"practice is the share of the rows to set aside, such as 0.25, or 0 for none, not {show_value(practice)}"
        )
    return round(float(practice), 9)


def practice_units(share: float, units: int) -> int:
    """How many of so many sampled units are for practice: public, and within one of their share.

    >>> practice_units(0.25, 1_001), practice_units(0.0, 1_001)
    (250, 0)
    """
    size = units * round(share * _WHOLE) // _WHOLE
    if share and min(size, units - size) < FEWEST:
        raise Unaskable(
            f"practice={share:g} of {units} units leaves {size} for practice and {units - size} sealed, and each needs "
            f"at least {FEWEST}.\n  Choose another share, seal more rows, or give practice=0.",
            practice=size,
            units=units,
        )
    return size
