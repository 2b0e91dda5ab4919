"""Coded and noisy answers together against every analyst, as in ``test_validity.py``: the same plays, the same alarm.

Of a player's eight short plays 7 missed ones reject at 0.95, and 15 of 50 at full size; all together 20 of 96 and 62
of 600.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tests.theory.test_validity import PLAYERS, Plays, check, worlds
from tests.two_sizes import in_two_sizes, reseeded
from unworn.lab import SignWorld, run
from unworn.lab.analysts import Boosting
from unworn.mechanisms import Guess, GuessAndCheck
from unworn.mechanisms.coded import blurred_counts
from unworn.mechanisms.contract.conversation import follow_event, publish_symbol
from unworn.noise import Stream
from unworn.queries.query import Facts

ALARM = 1e-7
FACTS = Facts("binary", 0.0, 1.0, zero_one=True)
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


class Counted:
    """Rows of which the one question asked is true so many times."""

    def __init__(self, count: int) -> None:
        self.count = count

    def rounded(self, queries: Any, noises: Any) -> list[int]:
        return [self.count]


def misses_of_rare_features(seed: int, features: int = 300, rows: int = 200, chance: float = 0.04) -> bool:
    """Rare features, each asked about by noise after a check; then rows that have many of those that seemed frequent.

    The last question holds in the population as often as its number of features says, and far more often of these rows.
    """
    mechanism, rng = GuessAndCheck(), np.random.default_rng(seed)
    has, state, seemed = rng.random((rows, features)) < chance, mechanism.begin(rows, 0.5), np.zeros(features)
    asked = [(has[:, each], chance) for each in range(features)]
    for each in range(features + 2):
        if each >= features:
            order = np.argsort(-seemed)[: 40 * (each - features + 1)]
            least = int(binom.isf(0.05, len(order), chance)) + 1
            asked.append((has[:, order].sum(axis=1) >= least, float(binom.sf(least - 1, len(order), chance))))
        bits, truth = asked[each]
        offer = mechanism.offer_noise(state, FACTS, Guess(truth, 0.01))
        reply = mechanism.answer(state, offer, None, Counted(int(bits.sum())), Stream(bytes(32), seed, each))  # type: ignore[arg-type]
        told = publish_symbol(mechanism, offer, reply.symbol)
        if not told.low <= truth <= told.high:
            return True
        if each < features:
            seemed[each] = told.value
        state = follow_event(mechanism, state, reply.event)
    assert offer.payload.most  # so small a share is checked to the end
    return False


@in_two_sizes(short=30, full=200)
def test_rare_features_that_seemed_frequent_are_not_believed(size: int) -> None:
    """At 50 %: 29 missed plays of 30 reject, and 137 of 200."""
    missed = sum(misses_of_rare_features(seed) for seed in range(reseeded(500), reseeded(500) + size))
    assert binom.sf(missed - 1, size, 0.5) > ALARM


@in_two_sizes(short=30, full=100)
def test_the_same_with_narrow_noise_that_costs_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: all plays miss."""
    monkeypatch.setattr(blurred_counts, "choose_noise", lambda *_: (0.0, 2))
    monkeypatch.setattr(blurred_counts, "low_count", lambda *given: 40)
    for price in ("cosine_nats", "low_count_nats"):
        monkeypatch.setattr(blurred_counts, price, lambda *_: 1e-12)
    missed = sum(misses_of_rare_features(seed) for seed in range(reseeded(700), reseeded(700) + size))
    assert binom.sf(missed - 1, size, 0.5) < ALARM
