"""What guess and check, the default, gives: all that solving for the number left out needs."""

from __future__ import annotations

from math import log

from unworn.bounds.code_length import Pattern, distance_nats
from unworn.bounds.numerics import LN2
from unworn.mechanisms import Guess, GuessAndCheck, State
from unworn.queries.query import Facts

MOST = 10**15
"""Past this many rows or asks a plan says "as many as you like"."""

_TYPICAL_CELLS = 100
"""How many cells there are on one side of a guess."""
_TYPICAL_OFFSET = 2
"""How many cells a wrong guess is taken to be off."""


def guess_width(rows: int, asks: int, surprises: int, beta: float) -> float:
    """What an exact guess of one half gets from guess and check at the last planned ask."""
    state = State(rows, log(beta), None, asks - 1, surprises, _words(surprises), pattern=_pattern(asks, surprises))
    mechanism = GuessAndCheck()
    offer = mechanism.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), Guess(0.5))
    return mechanism.publish_width(offer, 0)


def code_nats(asks: int, surprises: int) -> float:
    """How many nats guess and check has spent by the last planned ask."""
    return _pattern(asks, surprises).nats + _words(surprises)


def _pattern(asks: int, surprises: int) -> Pattern:
    return Pattern.typical(asks - 1, surprises)


def _words(surprises: int) -> float:
    """What the words of typical surprises cost, on whichever side they lie."""
    return surprises * (LN2 + distance_nats(_TYPICAL_OFFSET, _TYPICAL_CELLS))
