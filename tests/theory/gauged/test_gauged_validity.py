"""Questions with a gauge against every analyst of the lab, through the real holdout; and mistakes that are caught.

As ``test_validity.py``: a play is missed when any of its intervals excludes the truth, and a test rejects when a
binomial that keeps the promise would reach the number of missed plays with probability below 1e-7. Gauges are declared
honestly (four standard errors), too boldly (so that they are surprises), or by the asker's array. Boosting compares
its models, and a comparison of recalls or areas is no single question: it plays where losses are asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import pytest

from tests.theory.gauged.gauged_worlds import KINDS, Declaring, GaugedPoints, GaugedSigns, OffGuesser
from tests.theory.test_validity import ALARM, PLAYERS, Plays, check
from tests.two_sizes import in_two_sizes, reseeded
from unworn.lab import Analyst, Result, World, run
from unworn.lab.analysts import SelectThenVote
from unworn.mechanisms import GuessAndCheck, Offer
from unworn.mechanisms.symbols import cell_limits, gauges

MECHANISMS = {"default": GuessAndCheck(), "talkative": GuessAndCheck(z=0.1, cell=0.02, unguessed="cells")}


def worlds(player: Analyst, kind: str, points: int) -> list[World]:
    finite = GaugedPoints(points, kind=kind)
    return [finite] if player.finite else [GaugedSigns(kind), finite]


def declared(world: World, kind: str, rows: int, bold: bool) -> float:
    """Rows of the rarer class; of losses the standard deviation of their values."""
    if kind == "loss":
        return (1.0 if isinstance(world, GaugedSigns) else 0.4) * (0.3 if bold else 1.0)
    share = 0.5 if isinstance(world, GaugedSigns) else 1 / 3
    return rows * share + (1 if bold else -4) * math.sqrt(rows * share * (1 - share))


@pytest.mark.parametrize("confidence", [0.95, 0.5])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MECHANISMS)
@in_two_sizes(short=Plays(100, 16, 2), full=Plays(200, 50, 25))
def test_no_analyst_makes_a_gauged_question_miss_too_often(
    name: str, kind: str, confidence: float, size: Plays
) -> None:
    results: dict[str, Result] = {}
    for place, (player, analyst) in enumerate(PLAYERS.items()):
        if player.startswith("boosting") and kind != "loss":
            continue
        found = []
        for where, world in enumerate(worlds(analyst, kind, 2 * size.rows)):
            gauge = declared(world, kind, size.rows, bold=place % 2 == 1)
            seed = reseeded(7000 + 10 * place + where)
            playing, plays = Declaring(analyst, gauge), (size.rows, size.asks, size.repetitions)
            found.append(run(world, playing, MECHANISMS[name], *plays, seed, confidence))
        results[player] = reduce(add, found)
    check(results)


# ---------------------------------------------------------------- planted mistakes


def of_all_rows(right: Callable[..., tuple[float, float]]) -> Callable[..., tuple[float, float]]:
    """Planted: all the rows in place of those that count."""

    def limits(offer: Offer, cell: Any, gauge: float, log_side: float | None) -> tuple[float, float]:
        return right(offer, cell, float(offer.rows), log_side)

    return limits


@pytest.mark.parametrize(("kind", "facts"), [("recall", "conditional"), ("area", "ranking")])
def test_all_rows_in_place_of_those_that_count_are_caught(
    kind: str, facts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six rows of 2,000 are positive: recalls on all the rows, areas on n₊ + n₋ instead of the smaller of the two.

    10 missed plays of 20 reject; of 100 other plays of each mistake all missed.
    """
    world, mechanism = GaugedSigns(kind, rare=0.003), MECHANISMS["talkative"]

    def play(repetitions: int) -> Result:
        return run(world, Declaring(SelectThenVote(), 1.0), mechanism, 2_000, 12, repetitions, reseeded(31))

    assert play(8).tail >= ALARM
    monkeypatch.setitem(cell_limits._LIMITS, facts, of_all_rows(cell_limits._LIMITS[facts]))
    result = play(20)
    assert result.tail < ALARM, str(result)


def test_a_variance_that_nobody_checks_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of 0 or 2 in a range of 2, said not to vary: agreement with a guess beside the truth then excludes it.

    10 missed plays of 20 reject; of 100 other plays of the mistake 99 missed.
    """

    def play(repetitions: int) -> Result:
        return run(GaugedSigns("loss", reach=2.0), OffGuesser(), GuessAndCheck(), 40_000, 12, repetitions, reseeded(32))

    assert play(8).tail >= ALARM
    monkeypatch.setattr(gauges._Variance, "holds", lambda self, gauge, bound: True)
    result = play(20)
    assert result.tail < ALARM, str(result)
