"""What Rounding, AboveThreshold and the Ladder say of shares of a subset and of rankings, and what it costs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.mechanisms.synthetic.nodes import chance_of_words
from unworn.bounds.code_length import Pattern
from unworn.events import Climbed, Described
from unworn.mechanisms import AboveThreshold, Guess, Ladder, Offer, PairedLadder, Rounding, State
from unworn.mechanisms.coded.coded_mechanism import CodedMechanism
from unworn.mechanisms.contract.conversation import charge_symbol, check_question, follow_event, publish_symbol
from unworn.mechanisms.contract.mechanism import RAISED, STOPPED
from unworn.mechanisms.symbols.gauges import octaves
from unworn.queries.query import Facts

ROWS = 40
MECHANISMS: dict[str, CodedMechanism] = {
    "rounding": Rounding(7),
    "above": AboveThreshold(0.3, tops=None),
    "ladder": Ladder(0.1, baseline=0.25),
    "at the top": Ladder(0.1, baseline=1.0),
    "first": Ladder(0.1),
    "bit": Ladder(0.1, baseline=0.25, feedback="bit"),
}


def node(mechanism: CodedMechanism, kind: str, runs_code: bool, gauge: float | None) -> tuple[State, Offer]:
    state = replace(mechanism.begin(ROWS, 0.95), asked=20, surprises=3)
    if state.pattern is not None:
        state = replace(state, pattern=Pattern.typical(20, 3))
    guess = None if gauge is None else Guess(0.5, gauge=gauge)
    facts = Facts(kind, 0.0, 1.0, kind == "conditional", runs_code)  # type: ignore[arg-type]
    return state, mechanism.offer(state, facts, guess)


def words(mechanism: CodedMechanism, offer: Offer) -> list[Any]:
    told: list[Any] = [RAISED, STOPPED]
    heights = range(octaves(ROWS) + 1)
    if isinstance(mechanism, Rounding):
        return told + [[height, cell] for height in heights for cell in range(7)]
    most = 1 if isinstance(mechanism, AboveThreshold) else mechanism._most(offer)  # type: ignore[attr-defined]
    first = isinstance(mechanism, Ladder) and mechanism.baseline is None
    least = 0 if offer.payload.gauge is not None else 1
    return told + [0] * (not first) + [[height, steps] for height in heights for steps in range(least, most + 1)]


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("gauge", [None, 7.0])
@pytest.mark.parametrize("law", ["C", "C'"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_words_are_a_law_and_octaves_are_paid_for(
    name: str, law: Any, gauge: float | None, runs_code: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Surprises among themselves, and all others among themselves; under C′ all of them together, with their places."""
    mechanism = replace(MECHANISMS[name], law=law)
    for kind in ("conditional", "ranking"):
        state, offer = node(mechanism, kind, runs_code, gauge)
        told = words(mechanism, offer)

        def sums(
            state: State = state, offer: Offer = offer, told: list[Any] = told, mechanism: CodedMechanism = mechanism
        ) -> list[float]:
            found = [0.0, 0.0]
            for symbol in told:
                later = follow_event(mechanism, state, charge_symbol(mechanism, offer, symbol))
                found[later.surprises - state.surprises] += math.exp(state.nats - later.nats)
            if law == "C'":
                found.append(chance_of_words(mechanism, state, offer, told))
            return found

        assert max(sums()) <= 1.0 + 1e-12
        assert max(sums()[:2]) > 0.85
        with monkeypatch.context() as planted:
            for home in ("rounding", "ladder"):
                planted.setattr(f"unworn.mechanisms.coded.{home}.grid_words", lambda offer, cells: cells)
            for home in ("above_threshold", "ladder"):
                planted.setattr(f"unworn.mechanisms.coded.{home}.octave_nats", lambda offer: 0.0)
            if len(told) > 3:  # where there is anything left to climb, or to declare
                assert max(sums()[:2]) > 1.5


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("gauge", [None, 7.0])
def test_offers_and_answers_are_read_back(name: str, gauge: float | None) -> None:
    for law in ("C", "C'"):
        mechanism = replace(MECHANISMS[name], law=law)  # type: ignore[arg-type]
        _, offer = node(mechanism, "conditional", False, gauge)
        assert Offer.from_json(offer.to_json()) == offer
        declared = gauge is not None and name in ("above", "ladder", "at the top", "bit")
        assert offer.payload.gauge == (gauge if declared else None)
        for symbol in words(mechanism, offer):
            told = publish_symbol(mechanism, offer, symbol)
            assert 0.0 <= told.low <= told.value <= told.high <= 1.0
            if isinstance(symbol, list) and symbol[0] == octaves(ROWS):  # there may be no rows
                assert (told.low, told.high) == (0.0, 1.0)
        assert (told := publish_symbol(mechanism, offer, mechanism.likely(offer))).low <= told.high
        assert mechanism.widest(offer) == 0.5
        calm, surprised = mechanism.prices(offer)
        assert 0 <= calm <= surprised


@pytest.mark.parametrize("name", ["above", "ladder", "bit"])
def test_a_word_without_its_octave_is_refused(name: str) -> None:
    mechanism = MECHANISMS[name]
    _, declared = node(mechanism, "conditional", False, 7.0)
    _, unknown = node(mechanism, "conditional", False, None)
    for offer, symbol in ((declared, 1), (unknown, 1), (unknown, [2, 0]), (declared, [9, 1]), (declared, [1, 99])):
        with pytest.raises(ValueError, match="the words here are"):
            mechanism.event(offer, symbol)
        with pytest.raises(ValueError, match="the words here are"):
            mechanism.reveal(offer, symbol)


def test_not_better_says_nothing_without_a_declared_number_of_rows() -> None:
    for name in ("above", "ladder", "bit"):
        mechanism = MECHANISMS[name]
        _, declared = node(mechanism, "conditional", False, 30.0)
        _, unknown = node(mechanism, "conditional", False, None)
        assert publish_symbol(mechanism, declared, 0).high < 1.0
        assert publish_symbol(mechanism, unknown, 0).high == 1.0
        assert publish_symbol(mechanism, unknown, [0, 1]).low > 0.0


def test_fewer_rows_than_declared_are_a_surprise_that_moves_nothing() -> None:
    ladder = MECHANISMS["ladder"]
    state, offer = node(ladder, "conditional", False, 30.0)
    event = charge_symbol(ladder, offer, [3, 0])
    assert isinstance(event, Described)
    assert event.surprise
    later = follow_event(ladder, state, event)
    assert (later.best, later.surprises) == (state.best, state.surprises + 1)
    climbed = charge_symbol(ladder, offer, [0, 4])
    assert isinstance(climbed, Climbed)
    assert follow_event(ladder, state, climbed).best == (state.best or 0) + 4


@pytest.mark.parametrize("gauge", [None, 7.0])
@pytest.mark.parametrize("law", ["C", "C'"])
@pytest.mark.parametrize("kind", ["conditional", "ranking"])
def test_a_subset_without_rows_is_no_improvement(kind: str, law: Any, gauge: float | None) -> None:
    class Empty:
        def statistics(self, queries: Any, part: Any = None) -> list[Any]:
            return [(0, 0) if kind == "conditional" else (0.5, 0)]

    for name in ("above", "ladder", "bit", "first"):
        for higher in (True, False) if isinstance(MECHANISMS[name], Ladder) else (True,):
            mechanism = replace(MECHANISMS[name], law=law)
            if isinstance(mechanism, Ladder):
                mechanism = replace(mechanism, higher=higher)
            state, offer = node(mechanism, kind, False, gauge)
            symbol = mechanism.answer(state, offer, None, Empty()).symbol  # type: ignore[arg-type]
            last = octaves(ROWS)
            assert symbol == ([last, 1] if name == "first" else 0 if gauge is None else [last, 0])  # the lowest rung
            told = publish_symbol(mechanism, offer, symbol)
            assert (told.low, told.high) == (0.0, 1.0)


def test_a_comparison_of_shares_of_a_subset_is_refused_in_words() -> None:
    for kind, word in (("conditional", "shares of a subset is not a mean"), ("ranking", "ROC curve is not a mean")):
        with pytest.raises(ValueError, match=word):
            check_question(PairedLadder(), Facts(kind, 0.0, 1.0))  # type: ignore[arg-type]
