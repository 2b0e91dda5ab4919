"""What guess and check, the default, gives: all that solving for the number left out needs.

Prices are never below what they will be, wherever the surprises fall: more asks, more surprises or fewer rows never
make a plan narrower.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, exp, log

from unworn.bounds import chernoff_kl, clopper_pearson
from unworn.bounds.code_length import Pattern, distance_nats, log_final_level
from unworn.bounds.noisy_agreement import all_surprises
from unworn.bounds.numerics import LN2
from unworn.mechanisms import Guess, GuessAndCheck, State
from unworn.mechanisms.coded.noisy_checks import NoisyCheckPayload
from unworn.mechanisms.contract.conversation import published_width
from unworn.queries.query import Facts

MOST = 10**15
"""Past this many rows or asks a plan says "as many as you like"."""

_TYPICAL_CELLS = 100
"""How many cells there are on one side of a guess."""
_TYPICAL_OFFSET = 2
"""How many cells a wrong guess is taken to be off."""
_WORD = LN2 + distance_nats(_TYPICAL_OFFSET, _TYPICAL_CELLS)
"""What the word of a typical surprise costs, on whichever side it lies."""
_SHARE = Facts("binary", 0.0, 1.0, zero_one=True)


def guess_width(
    rows: int, asks: int, surprises: int, beta: float, *, error: float | None = None, zero_one: bool = True
) -> float:
    """What an exact guess of one half gets from guess and check at the last planned ask.

    ``error`` is the standard error of the guess, if not that of as many rows; other means than shares are of values
    in [0, 1].
    """
    wrong = _dearest(asks - 1, surprises)
    pattern = Pattern.typical(asks - 1, wrong)
    state = State(rows, log(beta), None, asks - 1, wrong, wrong * _WORD, pattern=pattern)
    mechanism = GuessAndCheck()
    facts = Facts("binary" if zero_one else "unit", 0.0, 1.0, zero_one=zero_one)
    return published_width(mechanism, mechanism.offer(state, facts, Guess(0.5, error)), 0)


def noisy_check_width(rows: int, asks: int, surprises: int, beta: float) -> float | None:
    """The same where agreement is told with noise, for so many planned surprises; none where that cannot be priced.

    >>> [round(noisy_check_width(10_000, 1_000, wrong, 0.05), 4) for wrong in (5, 25, 100)]
    [0.0682, 0.0877, 0.116]
    """
    end = _noisy_check_end(rows, asks, surprises, beta)
    return end and published_width(end[0], end[0].offer(end[1], _SHARE, Guess(0.5)), 0)


def noisy_check_final(rows: int, asks: int, surprises: int, beta: float) -> float | None:
    """The half-width of a final number after such a conversation.

    >>> round(noisy_check_final(10_000, 1_000, 20, 0.05), 4), round(final_width(10_000, 1_000, 20, 0.05), 4)
    (0.0417, 0.0877)
    """
    end = _noisy_check_end(rows, asks, surprises, beta)
    if end is None:
        return None
    side = log_final_level(log(beta), end[0].spent(end[1]), 1) - LN2
    return _half_width(rows, side / (1.0 - end[1].kept) + LN2)


def _noisy_check_end(rows: int, asks: int, surprises: int, beta: float) -> tuple[GuessAndCheck, State] | None:
    """Before the last ask: all surprises that were planned are used up, and those that come by chance if guesses are
    right, as many as are reckoned with; from then on terms are those of twice as many."""
    wrong = max(surprises, 1)
    mechanism = GuessAndCheck(surprises=wrong)
    state = mechanism.begin(rows, 1.0 - beta, asks)
    first = mechanism.offer(state, _SHARE, Guess(0.5))
    if not isinstance(first.payload, NoisyCheckPayload):
        return None
    used = min(all_surprises(wrong), asks - 1)
    nats = used * mechanism.cost(first, [1, rows // 2])[1]
    return mechanism, replace(state, asked=asks - 1, surprises=used, nats=nats, kept=first.payload.kept)


def code_nats(asks: int, surprises: int) -> float:
    """How many nats guess and check has spent after so many asks, at most.

    >>> round(code_nats(300, 0), 2), round(code_nats(300, 1), 1)
    (0.39, 11.8)
    """
    wrong = _dearest(asks, surprises)
    return Pattern.typical(asks, wrong).nats + wrong * _WORD


def floor_width(rows: int, asks: int, surprises: int, beta: float) -> float:
    """The half-width of the confidence limits alone at the last planned ask: each has all of the level."""
    return _half_width(rows, log(beta) - code_nats(asks, surprises) + LN2)


def final_width(rows: int, asks: int, surprises: int, beta: float, *, zero_one: bool = True) -> float:
    """The half-width of a final number after so many asks and surprises."""
    return _half_width(rows, log_final_level(log(beta), code_nats(asks, surprises), 1), zero_one)


def untouched_width(rows: int, beta: float, *, zero_one: bool = True) -> float:
    """The half-width of one number from as many rows that nobody had asked anything before."""
    return _half_width(rows, log(beta), zero_one)


def _half_width(rows: int, log_level: float, zero_one: bool = True) -> float:
    level = min(log_level, 0.0)
    low, high = clopper_pearson(rows // 2, rows, level) if zero_one else chernoff_kl(0.5, rows, level)
    return float(high - low) / 2


def _dearest(asks: int, surprises: int) -> int:
    """The number of surprises, up to this one, that costs most: where nearly every guess is wrong, more are cheaper.

    The price of f surprises is that of the urn, -ln Beta(f + 1/5, asks - f + 10), and f words: concave in f.
    """
    peak = ((asks + 9.0) * exp(_WORD) - 0.2) / (1.0 + exp(_WORD))
    return min(surprises, max(1, ceil(peak)))
