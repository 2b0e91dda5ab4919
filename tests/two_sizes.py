"""One body, two sizes: whatever ``make theory`` runs at full size, ``make test`` runs at a small one.

A simulation that is only run by hand stops working without anybody noticing. So a large test is not a function of its
own but one size of a function: ``in_two_sizes`` is the only way to the mark ``theory``, and it always makes the short
form too, unmarked, of the same code. ``tests/theory/test_short_forms.py`` sees to that.

What is asserted must hold for nearly every seed, not for the one that is written down: ``reseeded`` moves all of them,
and ``make theory SEEDS=3`` runs the same tests on other random streams.
"""

from __future__ import annotations

import os

import pytest

_SHIFT = 1_000_003
"""Further apart than the seeds of one test."""


def in_two_sizes(short: object, full: object) -> pytest.MarkDecorator:
    """Pass ``size``: ``short`` in every run, ``full`` in those of ``make theory``."""
    return pytest.mark.parametrize(
        "size", [pytest.param(short, id="short"), pytest.param(full, id="full", marks=pytest.mark.theory)]
    )


def reseeded(seed: int) -> int:
    """The seed of a stream of random numbers; another one for each ``UNWORN_TEST_SEEDS``, 0 if it is not set."""
    return seed + _SHIFT * int(os.environ.get("UNWORN_TEST_SEEDS", "0"))
