"""Boundary guesses: the truth is just outside of what agreement would publish, and a narrow limit shows at once.

Everything is seeded; false-alarm rates over all seeds are stated where chance enters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import binom

import unworn.mechanisms
from unworn import Holdout
from unworn.lab import Rule, SeededStore, SignWorld, run
from unworn.lab.analysts import BoundaryGuesser
from unworn.lab.analysts.boundary_guesser import boundary_guess, excludes
from unworn.mechanisms import GuessAndCheck, Mechanism, Naive, Offer, Published, Rounding
from unworn.mechanisms.contract.mechanism import Symbol

ALARM = 1e-7


def opened(mechanism: Mechanism, rows: int = 1_000) -> tuple[Holdout, Rule]:
    rng = np.random.default_rng(4)
    scene = SignWorld().draw(rows, 3, rng)
    holdout = Holdout(scene.data, scene.labels, mechanism=mechanism, ledger=SeededStore(rng), confidence=0.5)
    return holdout, scene.probe(0)


@pytest.mark.parametrize("side", [-1, 1])
def test_the_truth_is_just_outside(side: int) -> None:
    holdout, rule = opened(GuessAndCheck())
    guess = boundary_guess(holdout, rule, side)
    assert guess is not None
    assert side * (guess - rule.truth) > 0
    assert excludes(holdout, rule, guess)
    assert not excludes(holdout, rule, guess - side * 0.0005)


@pytest.mark.parametrize("side", [-1, 1])
def test_agreement_is_then_nearly_as_likely_as_its_level_allows(side: int) -> None:
    """The side's level is never passed, and at least half of it is used: counts are whole numbers of rows."""
    holdout, rule = opened(GuessAndCheck())
    guess = boundary_guess(holdout, rule, side)
    answer = holdout.ask(rule.question, guess)
    offer = answer.certificate.record.offer
    assert offer.payload.guess == guess
    first = math.ceil((offer.payload.guess - offer.payload.slack) * 1_000)
    last = math.floor((offer.payload.guess + offer.payload.slack) * 1_000)
    agreement = float(binom.cdf(last, 1_000, 0.5) - binom.cdf(first - 1, 1_000, 0.5))
    assert agreement <= math.exp(offer.log_level)
    assert agreement > math.exp(offer.log_level) / 4  # a quarter where the level is halved between the sides


@pytest.mark.parametrize("mechanism", [Naive(), Rounding(12)], ids=["naive", "rounding"])
def test_who_has_no_use_for_guesses_is_asked_without(mechanism: Mechanism) -> None:
    holdout, rule = opened(mechanism)
    assert boundary_guess(holdout, rule, 1) is None


@dataclass(frozen=True)
class NarrowLimits(GuessAndCheck):
    """Planted: limits at a level of one third, whatever was told before."""

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        return super().reveal(replace(offer, log_level=-math.log(3)), symbol)


@dataclass(frozen=True)
class BareCells(GuessAndCheck):
    """Planted: agreement publishes its cell, as if the rows were the population."""

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        told = super().reveal(offer, symbol)
        if offer.payload.guess is None or symbol != 0:
            return told
        return replace(
            told,
            low=max(offer.payload.guess - offer.payload.slack, 0.0),
            high=min(offer.payload.guess + offer.payload.slack, 1.0),
        )


@pytest.fixture(params=[NarrowLimits, BareCells])
def planted(request: pytest.FixtureRequest) -> Iterator[type[GuessAndCheck]]:
    """A holdout finds its mechanism by the name in entry 0: let it find this one, meanwhile."""
    unworn.mechanisms.register(request.param)
    yield request.param
    unworn.mechanisms.forget(request.param)


def test_narrow_limits_are_caught(planted: type[GuessAndCheck]) -> None:
    """A correct mechanism is rejected with probability below 1e-7. Power: see the numbers of plays below."""
    caught = run(SignWorld(), BoundaryGuesser(), planted(), 400, 40, 24, seed=6)
    assert caught.tail < ALARM, str(caught)
    sound = run(SignWorld(), BoundaryGuesser(), GuessAndCheck(), 400, 40, 8, seed=6)
    assert sound.tail >= ALARM, str(sound)


def test_a_quote_tells_what_agreement_would_publish() -> None:
    holdout, rule = opened(GuessAndCheck())
    quote = holdout.quote(rule.question, 0.5)
    answer = holdout.ask(rule.question, 0.5)
    assert answer.source == "guess"
    assert (quote.low, quote.high, quote.repeat) == (answer.low, answer.high, False)
    repeat, again = holdout.quote(rule.question, 0.5), holdout.quote(rule.question, 0.5, again=True)
    assert (repeat.low, repeat.high, repeat.repeat) == (answer.low, answer.high, True)
    assert (again.index, again.repeat) == (2, False)
