"""Several uses of the same rows: what is declared of them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.holdout.uses.support import USES, people
from unworn import Holdout
from unworn.errors import Unaskable
from unworn.ledger import MemoryStore
from unworn.record.declared_uses import Uses


def test_shares_are_kept_to_nine_decimals_and_have_no_order() -> None:
    assert Uses.of({"release": 1 - 0.7, "asks": 0.7}, "asks") == Uses.of(USES, "asks")
    thirds = Uses.of({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, "b")
    assert Uses.from_json(json.loads(json.dumps(thirds.to_json()))) == thirds
    assert sum(thirds.sizes(10**12).values()) == 10**12


@given(
    st.lists(st.integers(1, 1000), min_size=2, max_size=6),
    st.integers(10_000, 10**13),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_sizes_are_all_the_units_and_near_the_shares(weights: list[int], units: int) -> None:
    shares = {f"u{place}": weight / sum(weights) for place, weight in enumerate(weights)}
    told = [Uses.of(shares, use) for use in shares]
    sizes = told[0].sizes(units) if min(shares.values()) * units > 3 else {}
    for name, size in sizes.items():
        assert abs(size - shares[name] * units) <= 1 + 2e-9 * units * len(weights)
    if sizes:
        assert sum(sizes.values()) == units
        spans = sorted((uses.span(units).start, uses.span(units).stop) for uses in told)
        assert (spans[0][0], spans[-1][1]) == (0, units)
        assert all(one[1] == two[0] for one, two in pairwise(spans))


@pytest.mark.parametrize(
    ("uses", "use", "why"),
    [
        ({"asks": 1.0}, "asks", "two or more"),
        ({}, "asks", "two or more"),
        ([("asks", 0.5), ("release", 0.5)], "asks", "two or more"),
        ({"asks": 0.7, "release": 0.2}, "asks", "sum to 1, not to 0.9"),
        ({"asks": 1.2, "release": -0.2}, "asks", "above 0 and below 1"),
        ({"asks": float("nan"), "release": 0.3}, "asks", "above 0 and below 1"),
        ({"asks": True, "release": 0.3}, "asks", "above 0 and below 1"),
        ({"asks": "0.7", "release": 0.3}, "asks", "above 0 and below 1"),
        ({"asks": 0.7, 3: 0.3}, "asks", "named by text"),
        ({"asks": 0.7, "\ud800": 0.3}, "asks", "named by text"),
        ({"asks": 0.7, " ": 0.3}, "asks", "named by text"),
        (USES, "board", "not one of the declared uses: asks, release"),
        (None, "release", "declare all"),
    ],
)
def test_what_cannot_be_declared(store: MemoryStore, uses: Any, use: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Holdout(people(), "y", ledger=store, uses=uses, use=use)
    assert store.holdouts() == {}


def test_a_use_of_fewer_than_two_rows(store: MemoryStore) -> None:
    with pytest.raises(Unaskable, match=r"use 'release' would get 1 of 400 units") as caught:
        Holdout(people(), "y", ledger=store, uses={"asks": 0.9985, "release": 0.0015})
    assert caught.value.numbers == {"use": "release", "size": 1, "units": 400}
    assert store.holdouts() == {}
