"""Several uses of the same rows: each on its own terms, and all agreeing on theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.holdout.uses.support import QUESTION, ROWS, THREE, USES, origin, people
from unworn import Holdout
from unworn.errors import Mismatch
from unworn.holdout.opening import open_rows
from unworn.holdout.wanted_terms import WantedTerms
from unworn.ledger import MemoryStore
from unworn.mechanisms import Naive, Rounding, SampleSplitting
from unworn.record.declared_uses import Uses
from unworn.rows import Sample


def test_each_use_has_its_own_terms(store: MemoryStore) -> None:
    first = Holdout(people(), "y", ledger=store, uses=USES, name="people", asks=20)
    second = Holdout(
        people(), "y", ledger=store, uses=USES, use="release", mechanism=Rounding(), confidence=0.9, asks=5
    )
    assert (first.name, second.name, first.size, second.size) == ("people", "people-release", 280, 120)
    assert first.id != second.id
    first.ask(QUESTION, 0.5)
    assert (first.meter.asked, second.meter.asked) == (1, 0)
    again = Holdout(people(), "y", ledger=store, uses={"release": 0.3, "asks": 0.7}, asks=20)
    assert (again.id, again.meter.asked) == (first.id, 1)
    for terms, named in (
        ({"asks": 21}, "asks"),
        ({"asks": 20, "confidence": 0.9}, "confidence"),
        ({"asks": 20, "mechanism": Naive()}, "mechanism"),
        ({"asks": 20, "name": "other"}, "name"),
        ({"asks": 20, "schema": {"a": "number"}}, "schema"),
    ):
        with pytest.raises(Mismatch, match=f"{named}: sealed with") as caught:
            Holdout(people(), "y", ledger=store, uses=USES, **terms)
        assert caught.value.numbers["differing"] == [named]
    assert len(store.holdouts()) == 2
    first.verify()
    second.verify()


@pytest.mark.parametrize("uses", [None, {"asks": 0.6, "release": 0.4}, {"asks": 0.7, "board": 0.3}, THREE])
@pytest.mark.parametrize("name", [None, "people", "fresh"])
def test_other_uses_or_none(store: MemoryStore, uses: Any, name: str | None) -> None:
    Holdout(people(), "y", ledger=store, uses=USES, name="people")
    with pytest.raises(Mismatch, match=r"uses: sealed with \{'asks': 0.7, 'release': 0.3\}, opened with ") as caught:
        Holdout(people(), "y", ledger=store, uses=uses, name=name)
    assert caught.value.numbers["differing"] == ["uses"]
    if uses is not None:
        with pytest.raises(Mismatch, match="uses: sealed with"):
            Holdout(people(), "y", ledger=store, uses=uses, use=next(use for use in uses if use != "asks"))
    assert len(store.holdouts()) == 1


def test_rows_sealed_for_one_use_alone_have_no_other(store: MemoryStore) -> None:
    Holdout(people(), "y", ledger=store)
    for use in USES:
        with pytest.raises(Mismatch, match=r"uses: sealed with None, opened with \{'asks': 0.7"):
            Holdout(people(), "y", ledger=store, uses=USES, use=use)
    assert len(store.holdouts()) == 1


def test_names_are_each_uses_own(store: MemoryStore) -> None:
    Holdout(people(), "y", ledger=store, uses=USES, name="people")
    with pytest.raises(Mismatch, match="or to another use of these"):
        Holdout(people(), "y", ledger=store, uses=USES, use="release", name="people")
    other = Holdout({"a": np.arange(7.0) ** 2}, ledger=store, name="people-release")
    second = Holdout(people(), "y", ledger=store, uses=USES, use="release")
    assert (other.name, second.name) == ("people-release", "people-release-2")
    with pytest.raises(Mismatch, match="name: sealed with"):
        Holdout(people(), "y", ledger=store, uses=USES, use="release", name="people")


def test_other_and_borrowed_rows(store: MemoryStore) -> None:
    first = Holdout(people(), "y", ledger=store, uses=USES)
    other = Holdout(people(seed=1), "y", ledger=store, uses={"asks": 0.5, "release": 0.5})
    assert first.id != other.id
    Holdout(people(seed=1), "y", ledger=store, uses={"asks": 0.5, "release": 0.5}, use="release")
    Holdout(people(), "y", ledger=store, uses=USES, use="release")
    for use in USES:
        with pytest.raises(Mismatch, match="second budget"):
            Holdout(people().assign(more=1.0), "y", ledger=store, uses=USES, use=use)
        with pytest.raises(Mismatch, match="second budget"):  # a part of the rows' columns is no other rows
            Holdout(people()[["a", "b", "y"]], "y", ledger=store, uses=USES, use=use)
    assert len(store.holdouts()) == 4


def test_a_plan_that_its_part_cannot_keep_seals_nothing(store: MemoryStore) -> None:
    with pytest.raises(ValueError, match="cannot be cut into"):
        Holdout(people(), "y", ledger=store, uses=USES, use="release", mechanism=SampleSplitting(), asks=121)
    assert store.holdouts() == {}
    Holdout(people(), "y", ledger=store, uses=USES, use="release", mechanism=SampleSplitting(), asks=120)


def test_a_use_may_have_no_labels(store: MemoryStore) -> None:
    """A release reads the labels as a column like any other."""
    asks = Holdout(people(), "y", ledger=store, uses=USES)
    opened = open_rows(Sample.read(people()), store, WantedTerms(None, Naive(), 0.95, None, Uses.of(USES, "release")))
    assert opened.transcript.terms.schema.target is None
    assert opened.rows.origin is not None
    assert set(opened.rows.origin.tolist()) == set(range(ROWS)) - set(origin(asks))
    assert (opened.rows.size, opened.rows.length, opened.reordered) == (120, ROWS, False)
    assert opened.key == store.key(opened.transcript.first.holdout)
