"""Shares of a subset and rankings under Rounding, AboveThreshold and the Ladder, against all analysts, exactly.

Nothing is simulated: see ``gauged_games.py``. Planted mistakes are caught by the same sums; that octaves are paid for
is in ``tests/mechanisms/coded/test_octave_words.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.theory.gauged.gauged_games import GaugedGame, GaugedMove, Moves
from tests.theory.gauged.test_exact_gauges import AREAS, LAWS, SHARES
from tests.two_sizes import in_two_sizes
from unworn.mechanisms import AboveThreshold, Guess, Ladder, Offer, Rounding, State
from unworn.mechanisms.coded.coded_mechanism import CodedMechanism
from unworn.mechanisms.symbols import cell_limits

# name: (mechanism, planned asks)
MECHANISMS: dict[str, tuple[CodedMechanism, int | None]] = {
    "rounding": (Rounding(3), None),
    "rounding, the last of a plan": (Rounding(3), 2),
    "rounding, older": (Rounding(3, law="C"), 2),
    "above a half": (AboveThreshold(0.5, tops=None), None),
    "above .8, older": (AboveThreshold(0.8, tops=None, law="C"), None),
    "ladder": (Ladder(0.3, baseline=0.3), None),
    "ladder without a baseline": (Ladder(0.5), None),
    "one bit": (Ladder(0.25, baseline=0.25, feedback="bit"), None),
    "losses, older": (Ladder(0.3, baseline=0.7, higher=False, law="C"), None),
}


def asked(questions: Any, gauges: tuple[float, ...], finals: bool) -> Moves:
    def moves(state: State) -> Iterator[GaugedMove]:
        for question in questions:
            yield GaugedMove(question)
            yield from (GaugedMove(question, Guess(0.5, gauge=gauge)) for gauge in gauges)
            if finals:
                yield GaugedMove(question, how="final")

    return moves


def worst(
    name: str, rows: int, depth: int, confidence: float, laws: Any, questions: Any = SHARES, finals: bool = False
) -> float:
    mechanism, planned = MECHANISMS[name]
    gauges = () if isinstance(mechanism, Rounding) else (1.0, 2.0)
    moves, most = asked(questions, gauges, finals), depth if planned is None else min(depth, planned)
    return max(GaugedGame(mechanism, rows, confidence, law, moves, planned).worst(most) for law in laws)


@pytest.mark.parametrize("confidence", [0.5, 0.8])
@pytest.mark.parametrize("name", MECHANISMS)
@in_two_sizes(short=(LAWS[:4], 2), full=(LAWS, 3))
def test_no_analyst_gets_a_share_wrong_too_often(name: str, confidence: float, size: tuple[Any, int]) -> None:
    laws, depth = size
    assert 0.0 < worst(name, 8, depth, confidence, laws) <= 1.0
    mechanism, planned = MECHANISMS[name]
    if mechanism.law is None and planned is None:  # older ledgers have no final values
        assert 0.1 < worst(name, 5, depth, confidence, laws, finals=True) <= 1.0


@pytest.mark.parametrize("name", MECHANISMS)
@in_two_sizes(short=(LAWS[1:3], 8), full=(LAWS, 14))
def test_no_analyst_gets_a_ranking_wrong_too_often(name: str, size: tuple[Any, int]) -> None:
    """Chernoff's bound leaves much room, of few rows all; that the sum could pass 1 is shown below."""
    laws, rows = size
    assert worst(name, rows, 1, 0.5, laws, AREAS) <= 1.0


# ---------------------------------------------------------------- planted mistakes

RARE = [
    (0.02, 0.08, 0.9),
    (0.08, 0.02, 0.9),
    (0.05, 0.05, 0.9),
    (0.001, 0.95, 0.049),
    (0.3, 0.69, 0.01),
    (0.25, 0.7, 0.05),
    (0.85, 0.1, 0.05),
]
AREAS_ONLY, SHARES_ONLY = {"above .8, older"}, {"above a half", "ladder without a baseline", "losses, older", "one bit"}
"""Whose cells the mistake moves by too little to see, at so few rows, for questions of the other kind."""


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "conditional") for name in MECHANISMS if name not in AREAS_ONLY]
    + [(name, "ranking") for name in MECHANISMS if name not in SHARES_ONLY],
)
def test_all_rows_in_place_of_those_that_count_are_caught(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, questions = cell_limits._LIMITS[kind], SHARES if kind == "conditional" else AREAS

    def of_all_rows(offer: Offer, cell: Any, gauge: float, log_side: float | None) -> tuple[float, float]:
        return right(offer, cell, float(offer.rows), log_side)

    def largest() -> float:
        return max(worst(name, rows, 1, 0.5, [*LAWS, *RARE], questions) for rows in (8, 10))

    assert largest() <= 1.0
    monkeypatch.setitem(cell_limits._LIMITS, kind, of_all_rows)
    assert largest() > 1.03
