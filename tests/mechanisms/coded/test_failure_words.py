"""Every mechanism that prices failures has words for them: all the words of a node sum to one at most."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.mechanisms.changed_offers import number_in
from tests.mechanisms.synthetic.nodes import Told, chance_of_words
from unworn.bounds.code_length import Pattern
from unworn.events import Ended, Stopped
from unworn.mechanisms import Guess, GuessAndCheck, Mechanism, Offer, State, kinds
from unworn.mechanisms.contract.capabilities import ChecksHypotheses
from unworn.mechanisms.contract.conversation import charge_symbol, check_question, follow_event
from unworn.mechanisms.contract.mechanism import RAISED, STOPPED, Symbol
from unworn.queries.query import Facts

PRICED = sorted(name for name, kind in kinds().items() if kind.prices_failure and kind.promises)
CLOSED = sorted(name for name, kind in kinds().items() if not kind.prices_failure)
MADE: dict[str, list[dict[str, Any]]] = {
    "AboveThreshold": [{"threshold": 0.3, "tops": None}],
    "Ladder": [
        {"step": 0.01},
        {"step": 0.3, "baseline": 0.2},
        {"step": 0.004, "baseline": 0.5, "higher": False},
        {"step": 0.1, "baseline": 0.0, "feedback": "bit"},
        {"step": 0.1, "baseline": 1.0},
    ],
    "PairedLadder": [{}, {"rule": "heuristic"}],
    "GuessAndCheck": [{}, {"cell": 0.3}, {"cell": 1e-3}, {"z": 0.1}],
    "Rounding": [{"cells": 2}, {"cells": 45}],
}


def stated(mechanism: Mechanism, rows: int) -> State:
    """After 20 asks with three surprises, two of them above their guesses."""
    state = replace(mechanism.begin(rows, 0.95), asked=20, surprises=3, nats=7.0)
    return state if state.pattern is None else replace(state, pattern=Pattern.typical(20, 3), sides=(1, 2))


def offers(mechanism: Mechanism, runs_code: bool) -> list[Offer]:
    """Nodes of every kind of question that the mechanism takes, with and without guesses, tests and sharpening."""
    found: list[Offer] = []
    rng = np.random.default_rng(5)
    for kind in ("binary", "unit", "paired"):
        for rows in (3, 70):
            low = -1.0 if kind == "paired" else 0.0
            facts = Facts(kind, low, 1.0, kind != "unit", runs_code)  # type: ignore[arg-type]
            state = stated(mechanism, rows)
            try:
                check_question(mechanism, facts)
            except ValueError:
                continue
            guesses = [None, *(Guess(low + (1 - low) * share) for share in rng.random(2)), Guess(1.0), Guess(low)]
            here = [mechanism.offer(state, facts, guess) for guess in guesses]
            if isinstance(mechanism, GuessAndCheck):
                told = here[1]
                here.append(mechanism.sharpen(state, told, 0))
            if isinstance(mechanism, ChecksHypotheses):
                here.append(mechanism.offer_test(state, replace(facts, null=(1, 0.1, 0.05))))
            found += here
    return found


def words(mechanism: Mechanism, offer: Offer) -> list[Symbol]:
    """All that rows can make it say: their values, and means of differences, on a fine grid and at random."""
    rng, told = np.random.default_rng(9), {}
    values = offer.low + (offer.high - offer.low) * np.append(np.linspace(0, 1, 2 * offer.rows + 1), rng.random(60))
    if number_in(offer, "inside") is not None:
        values = np.linspace(*offer.payload.inside, 50)
    for value in values.tolist():
        if offer.kind == "binary":
            value = round(value * offer.rows) / offer.rows
        for spread in {abs(value), 1.0, *(2.0**-k for k in range(8))} if offer.kind == "paired" else {1.0}:
            if spread >= abs(value):
                rows: Any = Told(value, spread, offer.rows, offer.kind)
                symbol = mechanism.answer(State(1, 0.0), offer, None, rows).symbol
                told[str(symbol)] = symbol
    return [symbol for symbol in told.values() if symbol not in (RAISED, STOPPED)]


def made(name: str, law: str) -> list[Any]:
    return [kinds()[name](**parameters, law=law) for parameters in MADE[name]]


def after(mechanism: Mechanism, offer: Offer, symbol: Symbol) -> State:
    state = replace(stated(mechanism, offer.rows), surprises=0, nats=0.0, best=number_in(offer, "best"))
    return follow_event(mechanism, state, charge_symbol(mechanism, offer, symbol))


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("name", PRICED)
@pytest.mark.parametrize("law", ["C", "C'"])
def test_the_words_of_a_node_sum_to_one_at_most_failures_included(name: str, runs_code: bool, law: str) -> None:
    """Surprises among themselves, and all others among themselves: a state tells which of the two a word is."""
    tried = 0
    for mechanism in made(name, law):
        for offer in offers(mechanism, runs_code):
            told = [*words(mechanism, offer), RAISED, STOPPED]
            sums = {0: 0.0, 1: 0.0}
            for symbol in told:
                later = after(mechanism, offer, symbol)
                sums[later.surprises] += math.exp(-later.nats)
            assert max(sums.values()) <= 1 + 1e-12, (offer, sums)
            if law == "C'":  # and all of them together, where the word pays for its place as well
                state = replace(stated(mechanism, offer.rows), best=number_in(offer, "best"))
                assert chance_of_words(mechanism, state, offer, told) <= 1 + 1e-12
            tried += 1
    assert tried >= 6


@pytest.mark.parametrize("name", PRICED)
@pytest.mark.parametrize("law", ["C", "C'"])
def test_a_failure_that_is_no_codes_costs_at_most_thirty_bits_more_than_any_word(name: str, law: str) -> None:
    for mechanism in made(name, law):
        for offer in offers(mechanism, False):
            for symbol in (RAISED, STOPPED):
                assert 0 < after(mechanism, offer, symbol).nats < 22.2


@pytest.mark.parametrize("name", PRICED)
def test_a_failure_where_all_words_are_equally_long_is_no_surprise(name: str) -> None:
    """Under Theorem C′: on the grid, and for a first score, there is no pattern of surprises to pay for."""
    for mechanism in made(name, "C'"):
        for offer in offers(mechanism, True):
            assert offer.payload.place is not None
            outside = not offer.payload.place[0]
            for symbol in (RAISED, STOPPED):
                later = after(mechanism, offer, symbol)
                assert later.surprises == (not outside)
                assert (later.pattern == Pattern.typical(20, 3)) == outside


@pytest.mark.parametrize("name", CLOSED)
def test_what_cannot_price_a_failure_ends_with_it(name: str) -> None:
    """Whatever the mechanism makes of its own symbols: it is not asked."""
    offer = Offer(1, 100, "binary", 0.0, 1.0, True, False, -3.0)
    kind: Any = kinds()[name]
    mechanism = kind.__new__(kind)
    assert charge_symbol(mechanism, offer, RAISED) == Ended()
    assert charge_symbol(mechanism, offer, STOPPED) == Stopped()
    ended = follow_event(mechanism, State(100, -3.0), Ended())
    assert ended.ended
    with pytest.raises(TypeError, match="nothing follows"):
        follow_event(mechanism, ended, Stopped())
    stopped = follow_event(mechanism, State(100, -3.0, round=2, best=4), Stopped())
    assert stopped == State(100, -3.0, asked=1, round=2, best=4)


def test_no_honest_word_costs_more_than_a_billionth_of_a_nat() -> None:
    """What was entered before there were words for failures replays: its costs differ by less than rounding may."""
    for name in PRICED:
        for mechanism in made(name, "C"):
            for offer in offers(mechanism, False):
                for symbol in words(mechanism, offer):
                    told = charge_symbol(mechanism, offer, symbol)
                    assert abs(told.nats - before(mechanism, offer, symbol)) < 1e-9


def before(mechanism: Any, offer: Offer, symbol: Symbol) -> float:
    """What a word cost, by the formulas of the first format."""
    name = type(mechanism).__name__
    if name == "Rounding":
        return math.log(offer.payload.cells)
    if offer.null is not None or name in ("AboveThreshold", "PairedLadder"):
        return 0.0
    if name == "Ladder":
        if number_in(offer, "best") is None:
            return math.log(offer.payload.cells)
        return math.log(symbol * (symbol + 1)) if symbol and mechanism.feedback == "score" else 0.0  # type: ignore[operator]
    if offer.payload.guess is None:
        return math.log(offer.payload.cells)
    offset = symbol[1] if isinstance(symbol, list) else int(symbol)
    octaves = math.log((offer.rows - 1).bit_length() + 1) + math.log(2) if isinstance(symbol, list) else 0.0
    return octaves + (math.log(2 * abs(offset) * (abs(offset) + 1)) if offset else 0.0)
