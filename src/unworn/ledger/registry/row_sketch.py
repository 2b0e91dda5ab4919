"""What the registry keeps of single rows, so that they are known again where some were left out or others added."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RowSketch:
    """The smallest of the rows' keyed hashes (64 bits, ascending), and how often each of them occurs (32 bits).

    A sample of the different rows that is the same whenever the same rows come. ``size`` is the number of all rows.
    """

    size: int
    words: bytes
    times: bytes
