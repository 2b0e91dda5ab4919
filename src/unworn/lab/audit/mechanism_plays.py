"""Plays of a mechanism on a table of counts, with what each ask released laid out as numbers.

Where a number stands follows from its own trial alone. A layout that looked at the other trials too, at the longest
symbol among them, say, would let one trial decide how another reads, and they would not be independent.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from unworn.errors import Exhausted
from unworn.lab.audit.counted_rows import SHARE, Counted, CountedQuestion
from unworn.lab.audit.target import Outputs
from unworn.mechanisms import Guess, Mechanism, State
from unworn.mechanisms.contract.conversation import follow_event
from unworn.mechanisms.threshold.secret_threshold import BELOW
from unworn.noise import Stream

PLACES = 4
"""Numbers that a symbol may have, unless an audit is told of longer ones."""
_WORDS = {BELOW: np.inf, "above": -np.inf}
"""Words that are common among symbols, as numbers: where one is left out, no half-line of counts holds it."""
_OTHERS = 2.0**40
"""All other words are numbers from here on, where no count lies."""


def play(
    mechanism: Mechanism,
    begun: State,
    guesses: list[Guess] | None,
    places: int,
    rows: Counted,
    trials: int,
    rng: np.random.Generator,
) -> Outputs:
    """One row per trial: first one number per ask, then, for each ask, what a list has besides.

    Asks that were refused, and places that a symbol does not fill, are NaN.
    """
    questions = [CountedQuestion(place) for place in range(rows.asks)]
    outputs = np.full((trials, places * rows.asks), np.nan)
    for told in outputs:
        # A key of its own for every trial, as every holdout has one: a secret may outlive an ask, and not a holdout.
        state, key = begun, rng.bytes(32)
        for place, question in enumerate(questions):
            try:
                offer = mechanism.offer(state, SHARE, None if guesses is None else guesses[place])
            except Exhausted:
                break
            noise = Stream(key, "ask", offer.index, question.fingerprint)
            reply = mechanism.answer(state, offer, question, rows, noise)
            state = follow_event(mechanism, state, reply.event)
            told[place], *rest = laid_out(reply.symbol, places)
            start = rows.asks + (places - 1) * place
            told[start : start + len(rest)] = rest
    return outputs


def laid_out(symbol: Any, places: int) -> list[float]:
    """A symbol as numbers: its first, and after it, for a list, how many there are and the others.

    >>> laid_out(7, 4), laid_out([7, 8, 9], 4), laid_out("below", 4)
    ([7.0], [7.0, 3.0, 8.0, 9.0], [inf])
    """
    if not isinstance(symbol, list | tuple):
        return _numbers(symbol)
    numbers = _numbers(symbol)
    room = max(places - 1, 1)  # one place is for how many there are
    if len(numbers) > room or (places == 1 and len(numbers) != 1):
        raise ValueError(
            f"a symbol of {len(numbers)} numbers was released, and there is room for {room} of each ask: "
            f"give mechanism_target(..., places={max(len(numbers) + 1, 2)}) or more"
        )
    first, others = numbers[:1] or [np.nan], numbers[1:]
    return first if places == 1 else [*first, float(len(numbers)), *others]


def _numbers(symbol: Any) -> list[float]:
    """What is in a list one after the other, words by a code."""
    if isinstance(symbol, list | tuple):
        return [number for part in symbol for number in _numbers(part)]
    if symbol is None:
        return [np.nan]
    if isinstance(symbol, str):
        return [_WORDS.get(symbol, _OTHERS + crc32(symbol.encode()))]
    try:
        return [float(symbol)]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"a symbol is a number, a word, or a list of these, not {symbol!r:.60}") from None
