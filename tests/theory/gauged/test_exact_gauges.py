"""Shares of a subset, means with a declared variance and rankings, against all analysts of a class, exactly.

Nothing is simulated: see ``gauged_games.py``. Planted mistakes are caught by the same sums, or by Kraft's inequality.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.mechanisms.synthetic.nodes import chance_of_words
from tests.theory.gauged.gauged_games import GaugedGame, GaugedMove, KindQuestion, Moves
from tests.two_sizes import in_two_sizes
from unworn.mechanisms import Guess, GuessAndCheck, Offer, State
from unworn.mechanisms.coded.guess_words import farthest
from unworn.mechanisms.contract.symbol import RAISED, STOPPED
from unworn.mechanisms.symbols import cell_limits, gauges
from unworn.mechanisms.symbols.gauges import octaves
from unworn.queries.query import Facts

TALKATIVE = GuessAndCheck(z=0.3, cell=0.34, unguessed="cells")
SUBSET, MEAN = Facts("conditional", 0.0, 1.0, zero_one=True), Facts("unit", 0.0, 1.0)
RANKING = Facts("ranking", 0.0, 1.0)

SHARES = (
    KindQuestion(SUBSET, (1, 0, 0), (True, True, False)),
    KindQuestion(SUBSET, (1, 1, 0), (True, False, True)),
    KindQuestion(SUBSET, (0, 1, 1), (True, True, True)),
)
MEANS = (KindQuestion(MEAN, (0.0, 0.1, 1.0)), KindQuestion(MEAN, (0.05, 0.0, 1.0)), KindQuestion(MEAN, (0.4, 0.5, 0.6)))
AREAS = (
    KindQuestion(RANKING, (1.0, 0.0, 0.5), (True, False, False)),
    KindQuestion(RANKING, (1.0, 0.5, 0.5), (True, True, False)),
)
LAWS = [(0.1, 0.1, 0.8), (0.3, 0.2, 0.5), (0.45, 0.5, 0.05), (0.2, 0.75, 0.05), (0.6, 0.395, 0.005)]


def asks(questions: tuple[KindQuestion, ...], guesses: list[Guess]) -> Moves:
    def moves(state: State) -> Iterator[GaugedMove]:
        for question in questions:
            for guess in guesses:
                yield GaugedMove(question, guess)
            yield GaugedMove(question)
            if state.asked:
                yield GaugedMove(question, how="sharpen")
                yield GaugedMove(question, how="open")
            yield GaugedMove(question, how="final")

    return moves


GAMES: dict[str, Moves] = {
    "shares of a subset": asks(SHARES, [Guess(0.5, 0.0, gauge=2.0), Guess(1.0, 0.0, gauge=1.0)]),
    "means": asks(MEANS, [Guess(0.05, 0.0, gauge=0.003), Guess(0.2, 0.0, gauge=0.1)]),
    "rankings": asks(AREAS, [Guess(0.5, 0.0, gauge=1.0), Guess(0.0, 0.0, gauge=1.0), Guess(1.0, 0.0, gauge=1.0)]),
}


@pytest.mark.parametrize("confidence", [0.5, 0.8])
@pytest.mark.parametrize("game", GAMES)
@in_two_sizes(short=(LAWS[1:4:2], 0), full=(LAWS, 1))
def test_no_analyst_gets_anything_wrong_said_too_often(game: str, confidence: float, size: tuple[Any, int]) -> None:
    """Of a ranking of five rows nothing is said that could be wrong: there are more of them, and fewer moves.

    Chernoff's bound leaves rankings much room; that the sum could pass 1 is shown by the mistake below.
    """
    laws, more = size
    rows, depth = (12, 1) if game == "rankings" else (4, 2)
    found = [GaugedGame(TALKATIVE, rows + more, confidence, law, GAMES[game]).worst(depth + more) for law in laws]
    assert max(found) <= 1.0
    assert max(found) > (0.0 if game == "rankings" else 0.001)


# ---------------------------------------------------------------- planted mistakes


def worst(game: str, moves: Moves | None = None, rows: int = 8, depth: int = 1) -> float:
    laws = [*LAWS, (0.02, 0.08, 0.9), (0.08, 0.02, 0.9), (0.001, 0.95, 0.049), (0.5, 0.45, 0.05)]
    return max(GaugedGame(TALKATIVE, rows, 0.5, law, moves or GAMES[game]).worst(depth) for law in laws)


def test_all_rows_in_place_of_the_subset_s_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = cell_limits._subset_limits

    def of_all_rows(offer: Offer, cell: Any, gauge: float, log_side: float | None) -> tuple[float, float]:
        return right(offer, cell, float(offer.rows), log_side)

    told = asks(SHARES, [Guess(0.9, 0.0, gauge=1.0), Guess(0.1, 0.0, gauge=1.0)])
    assert worst("shares of a subset", told) <= 1.0
    monkeypatch.setitem(cell_limits._LIMITS, "conditional", of_all_rows)
    assert worst("shares of a subset", told) > 1.2


def test_all_rows_in_place_of_the_rarer_class_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = cell_limits._ranking_limits

    def of_both(offer: Offer, cell: Any, gauge: float, log_side: float | None) -> tuple[float, float]:
        return right(offer, cell, float(offer.rows), log_side)

    told = asks(AREAS, [Guess(1.0, 0.0, gauge=1.0), Guess(0.0, 0.0, gauge=1.0), Guess(0.5, 0.0, gauge=1.0)])
    assert worst("rankings", told) <= 1.0
    monkeypatch.setitem(cell_limits._LIMITS, "ranking", of_both)
    assert worst("rankings", told) > 1.2


def test_a_variance_that_nobody_checks_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    coin = KindQuestion(MEAN, (0.0, 1.0))

    def moves(state: State) -> Iterator[GaugedMove]:
        yield GaugedMove(coin, Guess(0.5, 0.1, gauge=1e-6))

    wide = GuessAndCheck(z=0.5, unguessed="cells")
    games = [GaugedGame(wide, 100, 0.9, (1 - heads, heads), moves) for heads in (0.38, 0.4, 0.42, 0.44)]
    assert max(game.worst(1) for game in games) <= 1.0
    monkeypatch.setattr(gauges._Variance, "holds", lambda self, gauge, bound: True)
    assert max(game.worst(1) for game in games) > 1.2


@pytest.mark.parametrize(
    ("facts", "guess"),
    [(SUBSET, Guess(0.3, gauge=7.0)), (RANKING, Guess(0.9, gauge=3.0)), (MEAN, Guess(0.1, gauge=0.01)), (SUBSET, None)],
)
@pytest.mark.parametrize("runs_code", [False, True])
def test_words_are_a_law_and_octaves_are_paid_for(
    facts: Facts, guess: Guess | None, runs_code: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = GuessAndCheck()
    state = mechanism.begin(40, 0.9)
    asked = Facts(facts.kind, 0.0, 1.0, facts.zero_one, runs_code)
    offer = mechanism.offer(state, asked, guess)
    words: list[Any] = [RAISED, STOPPED]
    if guess is None:
        words += [[h, cell] for h in range(octaves(40) + 1) for cell in range(offer.payload.cells)]  # type: ignore[attr-defined]
    else:
        assert offer.payload.gauge == guess.gauge
        offsets = [*range(-farthest(offer, -1), 0), 0, *range(1, farthest(offer, 1) + 1)]
        words += [0, *([h, o] for h in range(octaves(40) + 1) for o in offsets)]
    total = chance_of_words(mechanism, state, offer, words)
    assert 0.9 < total <= 1.0 + 1e-9 or (guess is not None and 0.7 < total <= 1.0 + 1e-9)
    for words_of in ("guess_words", "octave_words"):
        monkeypatch.setattr(f"unworn.mechanisms.coded.{words_of}.octaves", lambda rows: 0)
    assert chance_of_words(mechanism, state, offer, words) > 1.01


@pytest.mark.parametrize("gauge", [0.2499, 0.25, 0.1251, 0.125, 1e-9, 0.0])
def test_an_octave_of_a_variance_bounds_it(gauge: float) -> None:
    kind = gauges._Variance()
    octave = kind.octave(gauge, 1000)
    assert gauge <= kind.bound(octave, 1000)
    assert octave == octaves(1000) or gauge > kind.bound(octave + 1, 1000)
    assert math.isclose(kind.bound(0, 1000), 0.25)
