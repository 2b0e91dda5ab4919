"""Guesses checked with noise against every analyst, as in ``test_validity.py``, and one who guesses at the edge.

Of a player's eight short plays 7 missed ones reject at 0.95, and 15 of 50 at full size.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest
from scipy.stats import binom

from tests.theory.test_one_currency import ALARM, FACTS, Counted
from tests.theory.test_validity import PLAYERS, Plays, check, worlds
from tests.two_sizes import in_two_sizes, reseeded
from unworn.bounds.noisy_agreement import AgreementTerms
from unworn.lab import run
from unworn.mechanisms import Guess, GuessAndCheck
from unworn.mechanisms.coded import blurred_counts, noisy_checks
from unworn.mechanisms.contract.conversation import follow_event, publish_symbol
from unworn.noise import Stream

CHECKED = GuessAndCheck(surprises=5)


@pytest.mark.parametrize("confidence", [0.95, 0.5])
@in_two_sizes(short=Plays(100, 24, 4), full=Plays(200, 50, 25))
def test_no_analyst_makes_noisy_checks_miss_too_often(confidence: float, size: Plays) -> None:
    results = {}
    for place, (player, analyst) in enumerate(PLAYERS.items()):
        plays = [
            run(world, analyst, CHECKED, size.rows, size.asks, size.repetitions, 8000 + where, confidence)
            for where, world in enumerate(worlds(analyst, 2 * size.rows, CHECKED), start=reseeded(10 * place))
        ]
        results[player] = reduce(add, plays)
    check(results)


def misses_at_the_edge(seed: int, features: int = 200, rows: int = 200) -> bool:
    """Features of fair coins, each guessed so high that agreement is told of about half of the samples.

    Agreement, which costs nothing, speaks for a count above a half, and a surprise tells it with noise. The last
    questions ask which rows have many of the features that seemed frequent and few of the others: a half, in truth.
    """
    rng = np.random.default_rng(seed)
    has, state = rng.random((rows, features)) < 0.5, CHECKED.begin(rows, 0.5)
    signs = np.zeros(features)
    first = CHECKED.offer(state, FACTS, Guess(0.5, 0.0))
    edge = min(first.payload.slack, 0.45)  # type: ignore[attr-defined]
    for each in range(features + 3):
        if each < features:
            bits, guess = has[:, each], 0.5 + 0.85 * edge
        else:
            votes = (has - 0.5) @ signs + 1e-9 * (rng.random(rows) - 0.5)  # a tie is a coin
            bits, guess = votes > 0, (0.5, 0.7, 0.9)[each - features]
        offer = CHECKED.offer(state, FACTS, Guess(guess, 0.0))
        reply = CHECKED.answer(state, offer, None, Counted(int(bits.sum())), Stream(bytes(32), seed, each))  # type: ignore[arg-type]
        told = publish_symbol(CHECKED, offer, reply.symbol)
        if not told.low <= 0.5 <= told.high:
            return True
        if each < features:
            signs[each] = 1.0 if reply.symbol == 0 else np.sign(told.value - 0.5)
        state = follow_event(CHECKED, state, reply.event)
    assert state.surprises > features // 10
    return False


@in_two_sizes(short=30, full=200)
def test_guesses_at_the_edge_are_not_believed(size: int) -> None:
    """At 50 %: 29 missed plays of 30 reject, and 137 of 200."""
    missed = sum(misses_at_the_edge(seed) for seed in range(reseeded(900), reseeded(900) + size))
    assert binom.sf(missed - 1, size, 0.5) > ALARM


@in_two_sizes(short=30, full=100)
def test_the_same_with_surprises_that_cost_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: sharp checks and little noise, at no price. All plays miss."""
    monkeypatch.setattr(noisy_checks, "choose_agreement", lambda *_: AgreementTerms(0.01, 0.5, 2))
    monkeypatch.setattr(noisy_checks, "agreement_reach", lambda *_: 10)
    monkeypatch.setattr(noisy_checks, "surprise_nats", lambda *_: 1.0)
    for home in (noisy_checks, blurred_counts):
        monkeypatch.setattr(home, "matched_cost", lambda offer, payload, symbol: (isinstance(symbol, list), 0.0))
    missed = sum(misses_at_the_edge(seed) for seed in range(reseeded(950), reseeded(950) + size))
    assert binom.sf(missed - 1, size, 0.5) < ALARM
