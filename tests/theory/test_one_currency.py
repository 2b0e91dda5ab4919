"""Coded and noisy answers together against every analyst, as in ``test_validity.py``: the same plays, the same alarm.

Of a player's eight short plays 7 missed ones reject at 0.95, and 15 of 50 at full size; all together 20 of 96 and 62
of 600.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import pytest

from tests.theory.test_validity import PLAYERS, Plays, check, worlds
from tests.two_sizes import in_two_sizes, reseeded
from unworn.lab import SignWorld, run
from unworn.lab.analysts import Boosting
from unworn.mechanisms import GuessAndCheck, blurred_counts

ALARM = 1e-7
NOISY = GuessAndCheck(unguessed="noise")


@pytest.mark.parametrize("confidence", [0.95, 0.5])
@in_two_sizes(short=Plays(100, 24, 4), full=Plays(200, 50, 25))
def test_no_analyst_makes_mixed_answers_miss_too_often(confidence: float, size: Plays) -> None:
    results = {}
    for place, (player, analyst) in enumerate(PLAYERS.items()):
        plays = [
            run(world, analyst, NOISY, size.rows, size.asks, size.repetitions, 7000 + where, confidence)
            for where, world in enumerate(worlds(analyst, 2 * size.rows, NOISY), start=reseeded(10 * place))
        ]
        results[player] = reduce(add, plays)
    check(results)


@in_two_sizes(short=30, full=100)
def test_the_same_with_noise_that_costs_nothing_is_lost(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: little noise, neither charged nor stretched. Nearly all plays miss where one in twenty may."""
    monkeypatch.setattr(blurred_counts, "choose_noise", lambda *_: (0.0, 2))
    monkeypatch.setattr(blurred_counts, "cosine_nats", lambda *_: 0.0)
    result = run(SignWorld(), Boosting(), NOISY, 100, 200, size, reseeded(90), confidence=0.95)
    assert result.tail < ALARM, result
