"""What guess and check, the default, gives: all that solving for the number left out needs."""

from __future__ import annotations

from math import log

from unworn.bounds import code_length, offset_nats
from unworn.mechanisms import Guess, GuessAndCheck, State
from unworn.queries.query import Facts

MOST = 10**15
"""Past this many rows or asks a plan says "as many as you like"."""

_TYPICAL_OFFSET = 2
"""How many cells a wrong guess is taken to be off."""


def guess_width(rows: int, asks: int, surprises: int, beta: float) -> float:
    """What an exact guess of one half gets from guess and check at the last planned ask."""
    nats = surprises * offset_nats(_TYPICAL_OFFSET)
    mechanism, state = GuessAndCheck(), State(rows, log(beta), asks, asks - 1, surprises, nats)
    offer = mechanism.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), Guess(0.5))
    return mechanism.publish_width(offer, 0)


def code_nats(asks: int, surprises: int) -> float:
    """How many nats guess and check has spent by the last planned ask."""
    return code_length(asks, surprises, surprises * offset_nats(_TYPICAL_OFFSET), asks)
