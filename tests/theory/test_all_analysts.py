"""Conversations and final values, against all analysts of a class, exactly (see ``all_analysts.py``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.mechanisms.changed_offers import with_numbers
from tests.theory.all_analysts import QUESTIONS, SHARE, Game, Move, Moves, laws
from unworn.events import Event, Finished
from unworn.mechanisms import GuessAndCheck, Mechanism, Offer, Rounding, State
from unworn.mechanisms.contract.conversation import charge_symbol
from unworn.mechanisms.contract.mechanism import FinalPlace
from unworn.mechanisms.contract.symbol import Symbol
from unworn.queries.query import Facts

TALKATIVE = GuessAndCheck(z=0.3, cell=0.34, unguessed="cells")


def asks_and_finals(state: State, depth: int) -> Iterator[Move]:
    """Asks, final values of one question or of two, or of one after which it goes on."""
    for kinds in QUESTIONS:
        yield Move((kinds,), guess=0.5)
        yield Move((kinds,))
        yield Move((kinds,), final=True)
        if depth > 1:
            yield Move((kinds,), final=True, close=False)
    yield Move(QUESTIONS[:2], final=True)


def something_first(state: State, depth: int) -> Iterator[Move]:
    """The same, but not the last word at once, which is what most is gained by."""
    for move in asks_and_finals(state, depth):
        if state.asked or not (move.final and move.close):
            yield move


@pytest.mark.parametrize("confidence", [0.5, 0.8])
@pytest.mark.parametrize("mechanism", [TALKATIVE, GuessAndCheck(unguessed="cells"), Rounding(3)], ids=repr)
@pytest.mark.parametrize("moves", [asks_and_finals, something_first])
def test_no_analyst_gets_anything_wrong_said_too_often(
    mechanism: GuessAndCheck, confidence: float, moves: Moves
) -> None:
    found = [Game(mechanism, 5, confidence, law, moves).worst(depth=2) for law in laws(8)]
    assert 0.2 < max(found) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("rows", [4, 7])
def test_the_same_for_one_move_more(rows: int) -> None:
    found = [Game(TALKATIVE, rows, 0.5, law, something_first).worst(depth=3) for law in laws(6)]
    assert 0.2 < max(found) <= 1.0


# ---------------------------------------------------------------- planted mistakes


def finals(state: State, depth: int) -> Iterator[Move]:
    """Final values one after another: what the mechanism forbids, or is paid for."""
    for kinds in QUESTIONS:
        yield Move((kinds,), final=True, close=False)


class FreeAndOpen(GuessAndCheck):
    """Planted: final values have the level of a last word, are charged nothing, and do not close."""

    def offer_final(self, state: State, facts: Facts, place: FinalPlace) -> Offer:
        return super().offer_final(state, facts, replace(place, last=True))


def charged_nothing(mechanism: Mechanism, offer: Offer, symbol: Symbol) -> Event:
    return Finished(False, 0.0) if offer.final is not None else charge_symbol(mechanism, offer, symbol)


def test_final_values_that_are_free_and_go_on_are_caught() -> None:
    for law in laws(8):
        assert Game(TALKATIVE, 6, 0.5, law, finals).worst(depth=3) <= 1.0
    planted = FreeAndOpen(z=TALKATIVE.z, cell=TALKATIVE.cell)
    found = [Game(planted, 6, 0.5, law, finals, charge=charged_nothing).worst(depth=3) for law in laws(8)]
    assert max(found) > 1.1, found


def together(state: State, depth: int) -> Iterator[Move]:
    yield Move(QUESTIONS, final=True)


def test_final_values_that_do_not_share_the_level_are_caught() -> None:
    def unshared(state: State, place: FinalPlace) -> Offer:
        offer = TALKATIVE.offer_final(state, SHARE, replace(place, position=0, questions=1))
        return with_numbers(offer, final=(place.position, place.questions, True))

    assert max(Game(TALKATIVE, 6, 0.5, law, together).worst(depth=1) for law in laws(12)) <= 1.0
    assert max(Game(TALKATIVE, 6, 0.5, law, together, unshared).worst(depth=1) for law in laws(12)) > 1.1
