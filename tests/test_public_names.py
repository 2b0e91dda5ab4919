"""What was documented under a name is still found under it."""

from __future__ import annotations

from importlib import import_module

import pytest

from unworn.release import Outcome, ReleaseOutcome


@pytest.mark.parametrize(
    ("first", "now"), [("unworn.optimize", "unworn.learn"), ("unworn.sklearn", "unworn.learn.estimators")]
)
def test_rooms_that_moved_have_a_door_where_they_were(first: str, now: str) -> None:
    door, room = import_module(first), import_module(now)
    assert door.__all__ == room.__all__
    assert all(getattr(door, name) is getattr(room, name) for name in room.__all__)


@pytest.mark.parametrize(
    ("home", "names"),
    [
        ("unworn", "Answer Certificate Exhausted Failed Holdout Mismatch Plan Query Refused Unaskable Verdict plan"),
        ("unworn", "connect"),
        ("unworn.bounds", "clopper_pearson published_tolerance"),
        ("unworn.ledger", "Entry Key MemoryStore Store open_store verify"),
        ("unworn.release", "Estimate Method Outcome Problem Release ReleaseCertificate Tables fit"),
        (
            "unworn.testing",
            "Cells Claim Counted Coverage Outcome Pair Report Target audit check_mechanism check_release coverage",
        ),
        ("unworn.universe", "OTHER Bins Conjunctions Domain Marginals Ranges Shares Thresholds Workload"),
        ("unworn.universe.domain", "OTHER Bins Domain"),
        ("unworn.universe.workload", "Marginals Thresholds"),
    ],
)
def test_public_names_are_where_they_were(home: str, names: str) -> None:
    module = import_module(home)
    assert [name for name in names.split() if not hasattr(module, name)] == []


def test_a_class_that_was_renamed_has_its_first_name_too() -> None:
    assert Outcome is ReleaseOutcome
