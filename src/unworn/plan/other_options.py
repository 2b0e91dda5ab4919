"""Mechanisms that answer something else than any share: sides of a threshold, new bests, questions of a small domain.

Each is priced in the number that makes sense for it, and says in words which. As many ``surprises`` as are planned are
taken for what is rare in each: answers above the threshold, improvements, wrong guesses.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import ceil, log1p, sqrt

from unworn.bounds.code_length import distance_nats
from unworn.mechanisms import (
    AboveThreshold,
    Ladder,
    MedianOracle,
    MultiplicativeWeights,
    PairedLadder,
    PrivateGuessAndCheck,
    PrivateLadder,
    SparseVector,
    Thresholdout,
)
from unworn.mechanisms.coded.coded_mechanism import typical_state
from unworn.mechanisms.contract.conversation import likely_width
from unworn.mechanisms.noisy.privacy_price import price
from unworn.queries.query import Facts

SMALL_DOMAIN, TINY_DOMAIN = 1_024, 8
"""Cells of the domains for which the two mechanisms are priced that guess by themselves."""

_SHARE = Facts("binary", 0.0, 1.0, zero_one=True)
_CLIMB = 2
"""How many steps an improvement is taken to be."""

WidthAndReason = tuple[float | None, str]
"""A half-width, none where it cannot be had, and what to know about it."""


def above_threshold(rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    """How far past the threshold the last answer may lie, all tops but one being given."""
    search, tops = AboveThreshold(0.5, None), max(1, surprises)
    state = typical_state(search.begin(rows, 1 - beta), asks - 1, tops - 1, 0.0)
    how = f"says whether a value reaches a threshold, right to within this; {_times(tops, 'yes', 'yeses')}"
    return search.beyond(search.offer(state, _SHARE, None)), how


def ladder(rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    """The width of the last score that goes on the board, near one half."""
    board = Ladder(1 / ceil(2 * sqrt(rows)))
    steps = round(1 / board.step)
    nats = surprises * distance_nats(_CLIMB, steps)
    state = replace(typical_state(board.begin(rows, 1 - beta), asks - 1, surprises, nats), best=steps // 2 - 1)
    offer = board.offer(state, _SHARE, None)
    how = f"a board that shows only improvements; {_times(surprises, 'improvement')} before the last"
    return likely_width(board, offer), how


def paired_ladder(rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    """The largest lead, of a new model over the best, that may go unannounced whatever they differ on."""
    board = PairedLadder()
    state = typical_state(board.begin(rows, 1 - beta), asks - 1, surprises, 0.0)
    offer = board.offer(state, Facts("paired", -1.0, 1.0, zero_one=True), None)
    how = "says whether a model beats the best; no lead beyond this goes unannounced"
    return board.reveal(offer, 0).high, how


def sparse_vector(rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    tops = max(1, surprises)
    best = SparseVector.for_(rows=rows, asks=asks, confidence=1 - beta, tops=tops)
    how = f"AboveThreshold that also hides every row; {_times(tops, 'yes', 'yeses')}"
    return price(best, rows, asks, log1p(beta - 1)).width, how


def private_ladder(rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    tops = max(1, surprises)
    best = PrivateLadder.for_(rows=rows, asks=asks, confidence=1 - beta, tops=tops)
    how = f"a board that also hides every row; {_times(tops, 'improvement')}"
    return price(best, rows, asks, log1p(beta - 1)).width, how


def private_guess_and_check(rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    chosen = PrivateGuessAndCheck(tops=surprises + 1).settled(rows, 1 - beta, asks)
    return chosen.reach(rows, asks, 1 - beta), "hides every row; noise where a guess is wrong"


def thresholdout(rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    chosen = Thresholdout(budget=surprises + 1).settled(rows, 1 - beta, asks)
    return chosen.reach(rows, asks, 1 - beta), "the same with the noise as it was published"


def multiplicative_weights(rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    how = f"needs no guesses, but a domain; priced for {SMALL_DOMAIN:,} cells"
    chosen = MultiplicativeWeights(domain=_domain(SMALL_DOMAIN)).settled(rows, 1 - beta, asks)
    return chosen.reach(rows, asks, 1 - beta), how


def median_oracle(rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    how = f"needs no guesses, but a tiny domain; priced for {TINY_DOMAIN} points"
    chosen = MedianOracle(domain=_domain(TINY_DOMAIN)).settled(rows, 1 - beta, asks)
    return chosen.reach(rows, asks, 1 - beta), how


@lru_cache(maxsize=2)
def _domain(cells: int) -> dict[str, list[int]]:
    return {"x": list(range(cells))}


def _times(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"
