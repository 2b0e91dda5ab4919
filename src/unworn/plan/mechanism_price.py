"""What a mechanism gives with parameters that were chosen already: leads that are told, widths of scores."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from unworn.bounds.code_length import distance_nats
from unworn.mechanisms import Guess, Ladder, Mechanism, Offer, PairedLadder
from unworn.mechanisms.coded.coded_mechanism import typical_state
from unworn.mechanisms.contract.capabilities import SettlesParameters
from unworn.mechanisms.contract.conversation import likely_width
from unworn.queries.query import Facts

_CLIMB = 2
"""How many steps an improvement is taken to be."""


def largest_silent_lead(
    ladder: PairedLadder, rows: int, asks: int, improvements: int, confidence: float, zero_one: bool = True
) -> float:
    """The largest lead over the best, as a share of the range, that may go unannounced, whatever the two differ on.

    >>> round(largest_silent_lead(PairedLadder(), 10_000, 1_000, 0, 0.95), 4)
    0.0775
    """
    offer = _paired_offer(ladder, rows, asks, improvements, confidence, zero_one)
    published = ladder.reveal(offer, 0)
    return published.high if ladder.higher else -published.low


def smallest_certain_lead(
    ladder: PairedLadder,
    rows: int,
    asks: int,
    improvements: int,
    confidence: float,
    discordance: float,
    zero_one: bool = True,
) -> float | None:
    """The smallest lead on the rows that is announced, where the two differ on so many; none where none would be.

    >>> round(smallest_certain_lead(PairedLadder(), 10_000, 1_000, 0, 0.95, 0.1), 4)
    0.0147
    """
    offer, side = _paired_offer(ladder, rows, asks, improvements, confidence, zero_one), 1 if ladder.higher else -1
    low, high = 0, floor(discordance * rows)
    if not high or not ladder.improves(offer, side * high / rows, discordance):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if ladder.improves(offer, side * middle / rows, discordance):
            high = middle
        else:
            low = middle
    return high / rows


def ladder_width(
    ladder: Ladder, rows: int, asks: int, improvements: int, confidence: float, zero_one: bool = True
) -> float:
    """The half-width of the last score that goes on the board, near the middle of the range, as a share of it."""
    steps = round(1 / ladder.step)
    nats = improvements * distance_nats(_CLIMB, steps)
    state = typical_state(ladder.begin(rows, confidence), asks - 1, improvements, nats)
    low, high = ladder.range
    facts = Facts("binary" if zero_one else "unit", low, high, zero_one=zero_one)
    offer = ladder.offer(replace(state, best=max(steps // 2 - 1, 0)), facts, None)
    return likely_width(ladder, offer) / (high - low)


def mechanism_width(
    mechanism: Mechanism,
    rows: int,
    asks: int,
    surprises: int,
    confidence: float,
    planned: int | None = None,
    zero_one: bool = True,
) -> float:
    """The half-width of the next answer to a question about a share of one half, guessed right where it is guessed."""
    if isinstance(mechanism, SettlesParameters):
        mechanism = mechanism.settled(rows, confidence, planned)
    state = mechanism.begin(rows, confidence, planned)
    if planned is None and state.pattern is not None:
        state = typical_state(state, asks - 1, surprises, 0.0)
    facts = Facts("binary" if zero_one else "unit", 0.0, 1.0, zero_one=zero_one)
    return likely_width(mechanism, mechanism.offer(state, facts, Guess(0.5)))


def _paired_offer(
    ladder: PairedLadder, rows: int, asks: int, improvements: int, confidence: float, zero_one: bool
) -> Offer:
    state = typical_state(ladder.begin(rows, confidence), asks - 1, improvements, 0.0)
    return ladder.offer(state, Facts("paired", -1.0, 1.0, zero_one=zero_one), None)
