"""Coverage: a mechanism that breaks its promise is refuted, one that keeps it is not, whoever wrote it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

import unworn.mechanisms
from unworn.errors import Unaskable, UnwornError
from unworn.lab.analysts import QuadraticAdaptive, SelectThenVote, SurpriseMaximiser
from unworn.lab.audit import coverage
from unworn.lab.audit.catalogue import COVERED, coverage_case
from unworn.mechanisms import GuessAndCheck, Naive, Offer, Published, Rounding, Thresholdout
from unworn.mechanisms.contract.mechanism import Symbol


@dataclass(frozen=True)
class Overconfident(Rounding):
    """Not of this package: publishes a tenth of the interval."""

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        told = super().reveal(offer, symbol)
        tenth = (told.high - told.low) / 20
        return replace(told, low=told.value - tenth, high=told.value + tenth)


def test_a_third_party_is_caught_and_leaves_no_trace() -> None:
    """Every play misses; a mechanism that promises 95 % would be refuted with probability 1e-6."""
    told = coverage(
        Overconfident(12), rows=100, asks=24, repetitions=20, analysts=[SelectThenVote(), QuadraticAdaptive()]
    )
    assert told.refuted
    assert (told.name, told.worst.misses) == ("Overconfident", 20)
    assert "Overconfident" not in unworn.mechanisms.kinds()
    right = coverage(Rounding(12), rows=100, asks=24, repetitions=20, analysts=[SelectThenVote()])
    assert not right.refuted
    assert unworn.mechanisms.kinds()["Rounding"] is Rounding


def test_everybody_plays() -> None:
    ticks: list[tuple[int, int]] = []
    told = coverage(GuessAndCheck(), rows=60, asks=12, repetitions=2, progress=lambda *at: ticks.append(at))
    assert len(told.plays) == len(unworn.lab.ANALYSTS)
    assert ticks[-1] == (2 * len(told.plays), 2 * len(told.plays))
    document = json.loads(json.dumps(told.to_json(), allow_nan=False))
    assert document["refuted"] is False
    assert {play["analyst"] for play in document["plays"]} == set(unworn.lab.ANALYSTS)
    assert "not refuted" in str(told)
    assert "<table>" in told._repr_html_()


def test_limits_hold_together() -> None:
    """The limits widen with the number of analysts, and hold the rate that was seen."""
    one = coverage(Naive(), rows=60, asks=40, repetitions=5, analysts=[SelectThenVote()]).plays[0]
    several = coverage(Naive(), rows=60, asks=40, repetitions=5, analysts=[SelectThenVote()] * 3).plays[0]
    assert one.misses == several.misses
    assert several.low < one.low <= one.misses / 5 <= one.high <= several.high


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="repetitions"):
        coverage(Rounding(12), rows=60, asks=4, repetitions=0)
    with pytest.raises(UnwornError, match="There are"):
        coverage_case("nothing")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"certainty": 1.0}, r"certainty must lie in \[0.5, 1\)"),
        ({"certainty": float("nan")}, "certainty"),
        ({"analysts": []}, "at least one"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"rows": 0}, "rows must be a whole number from 1"),
        ({"asks": 0}, "asks must be a whole number from 1"),
    ],
)
def test_numbers_out_of_range(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        coverage(Rounding(12), **{"rows": 60, "asks": 4} | given)


def test_a_name_of_this_package_is_taken() -> None:
    """A ledger tells mechanisms apart by name: an audit of another Rounding would run as the one that is known."""
    other = type("Rounding", (Overconfident,), {})
    with pytest.raises(ValueError, match="mechanism Rounding already: give yours another name"):
        coverage(other(12), rows=60, asks=4, repetitions=1, analysts=[SelectThenVote()])
    assert unworn.mechanisms.kinds()["Rounding"] is Rounding


def test_each_plan_can_be_played() -> None:
    """Once each, by one who brings guesses and one who does not."""
    for plan in COVERED:
        players = [SelectThenVote(), SurpriseMaximiser()]
        told = coverage(plan.mechanism, plan.rows, plan.asks, repetitions=1, analysts=players)
        assert {played.analyst for played in told.plays} | set(told.refused) == {player.name for player in players}
        assert "surprise_maximiser" not in told.refused


def test_who_was_refused_is_said() -> None:
    players = [SelectThenVote(), SurpriseMaximiser()]
    told = coverage(Thresholdout(), rows=2_000, asks=10, repetitions=1, analysts=players)
    assert told.refused == ("select_then_vote",)  # it brings no guesses
    with pytest.raises(Unaskable, match="choose others"):
        coverage(Thresholdout(), rows=2_000, asks=10, repetitions=1, analysts=players[:1])
