"""``check_mechanism``: what this package's mechanisms keep for every kind of question, and what it finds wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from unworn.mechanisms import GuessAndCheck, Mechanism, Rounding, kinds
from unworn.mechanisms.contract.symbol import Published, Symbol
from unworn.queries.query import SUBSETS
from unworn.testing import check_mechanism

SPECIAL = {"MedianOracle", "MultiplicativeWeights", "OneSample", "PairedLadder", "PrivateLadder"}
"""They need a domain or many rows, or compare only: what the lab's analysts ask is nothing for them."""
REFUSED = {"Naive": 0, "GuessAndCheck": 0, "Rounding": 0, "AboveThreshold": 0, "SampleSplitting": 1, "Ladder": 2}


@pytest.mark.parametrize("name", sorted(kinds().keys() - SPECIAL))
def test_every_mechanism_conforms(name: str) -> None:
    kind: Any = kinds()[name]
    report = check_mechanism(kind.for_(rows=8_000, asks=6, confidence=0.9), rows=8_000, asks=6, repetitions=1)
    assert report.passed, str(report)
    assert report.tried == 6
    assert report.refused == REFUSED.get(name, 3)


@dataclass(frozen=True)
class Overreaching(Rounding):
    """Publishes what cannot be, of some of the rows only."""

    def reveal(self, offer: Any, symbol: Symbol) -> Published:
        told = super().reveal(offer, symbol)
        return replace(told, high=told.high + 1) if offer.kind in SUBSETS else told


@dataclass(frozen=True)
class Counting(GuessAndCheck):
    """Counts no answer about some of the rows."""

    def after(self, state: Any, event: Any) -> Any:
        further = super().after(state, event)
        return further if event.nats > 0.1 else replace(further, asked=state.asked)


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (Overreaching(12), "a share of a subset: the likely symbol"),
        (Overreaching(12), "a ranking: the likely symbol"),
        (Counting(), "the state does not count it"),
    ],
)
def test_a_fault_with_one_kind_of_question_is_found(mechanism: Mechanism, words: str) -> None:
    report = check_mechanism(mechanism, rows=400, asks=12, repetitions=1)
    assert not report.passed
    assert words in str(report)
