"""Lanes in a database: written once, in turn, and read back the same, in SQLite and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.postgres_server import postgres_server, postgres_url  # noqa: F401
from unworn.boards.files.predictions_check import Predictions
from unworn.boards.gate_values import GateClaim, GateVerdict, Milestone
from unworn.boards.gating.gate_climb import LanePosition, WeighedProposal
from unworn.boards.gating.gate_luck import ProposalStep
from unworn.boards.gating.gate_tables import GateTables, RecordedProposal
from unworn.database import Database, open_database

START = Predictions(np.array([1, 0, 1]), 3)
BETTER = Predictions(np.array(["a", "b", "ü"], dtype=object), 3)
CLAIM = GateClaim("blue", "main", 2, 2, 0.3, 0.15, 0.12, 0.18, 0.83, 0.81, 0.85, 0.95, (5, 6))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    url = tmp_path / "board.db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))
    with open_database(url) as made:
        yield made


def proposal(number: int, verdict: GateVerdict | None = None, request: str | None = None) -> RecordedProposal:
    weighed = WeighedProposal(0.5 + number / 10, None if number == 1 else 0.5, 0.1 * (number - 1), 0.01)
    return RecordedProposal(number, f"digest {number}", request, f"idea {number}", weighed, verdict)


def verdict(number: int) -> GateVerdict:
    return GateVerdict(True, number, 0.5, None, f"idea {number}", None, number)


def test_a_lane_comes_back_as_it_was_written(database: Database) -> None:
    tables = GateTables(database, "blue", "main")
    assert tables.load() is None
    first, second = LanePosition(1, 1, 1), LanePosition(2, 2, 1, certified=0.25, is_pending=True)
    assert tables.enter(first, proposal(1, verdict(1)), {1: START}, is_proving=False)
    assert tables.enter(second, proposal(2, None, "key"), {1: START, 2: BETTER}, is_proving=False)
    lane = GateTables(database, "blue", "main").load(with_history=True)
    assert lane is not None
    assert (lane.position, lane.last, lane.is_proving, lane.claim) == (second, proposal(2, None, "key"), False, None)
    assert set(lane.predictions) == {1, 2}
    assert lane.predictions[1].values.tolist() == [1, 0, 1]
    assert lane.predictions[2].values.tolist() == ["a", "b", "ü"]
    assert (lane.steps, lane.milestones) == ([ProposalStep(0.1, 0.01, True)], [])
    assert GateTables(database, "red", "main").load() is None
    assert GateTables(database, "blue", "other").load() is None


def test_only_the_next_proposal_is_entered_and_none_while_a_milestone_is_pending(database: Database) -> None:
    tables = GateTables(database, "blue", "main")
    assert not tables.enter(LanePosition(2, 1, 1), proposal(2), {1: START}, is_proving=False)
    assert tables.enter(LanePosition(1, 1, 1), proposal(1, verdict(1)), {1: START}, is_proving=False)
    assert not tables.enter(LanePosition(1, 1, 1), proposal(1, verdict(1)), {1: START}, is_proving=False)
    pending = LanePosition(2, 2, 1, is_pending=True)
    assert tables.enter(pending, proposal(2), {1: START, 2: BETTER}, is_proving=False)
    assert not tables.enter(LanePosition(3, 3, 1), proposal(3), {1: START, 3: BETTER}, is_proving=False)
    settled = replace(pending, is_pending=False, kept=1)
    assert tables.settle(settled, verdict(2), {1}) == verdict(2)
    assert tables.settle(pending, replace(verdict(2), keep=False), {1, 2}) == verdict(2)  # what was written first
    lane = tables.load()
    assert lane is not None
    assert lane.position == settled
    assert set(lane.predictions) == {1}  # the other is let go


def test_requests_and_repeats_are_found(database: Database) -> None:
    tables = GateTables(database, "blue", "main")
    tables.enter(LanePosition(1, 1, 1), proposal(1, verdict(1), "first"), {1: START}, is_proving=True)
    tables.enter(LanePosition(2, 1, 1), proposal(2, verdict(2)), {1: START}, is_proving=True)
    lane = tables.load()
    assert lane is not None
    assert lane.is_proving
    assert tables.find(lane, "digest 2", "idea 2", None) == proposal(2, verdict(2))
    assert tables.find(lane, "digest 2", "another idea", None) is None
    assert tables.find(lane, "digest 1", "idea 1", None) is None
    assert tables.find(lane, "digest 9", None, "first") == proposal(1, verdict(1), "first")
    assert tables.find(lane, "digest 2", "another idea", "new") is None
    assert tables.find(lane, "digest 2", "idea 2", "new") == proposal(2, verdict(2))
    assert tables.find(lane, "digest 9", None, "new") == proposal(2, verdict(2))  # from now on it stands for that
    assert not tables.enter(LanePosition(3, 1, 1), proposal(3, None, "new"), {1: START}, is_proving=True)
    assert tables.find(lane, "digest 2", "idea 2", None, check=True) is None


def test_a_claim_is_written_once_and_ends_the_lane(database: Database) -> None:
    tables = GateTables(database, "blue", "main")
    tables.enter(LanePosition(1, 1, 1), proposal(1, verdict(1)), {1: START}, is_proving=False)
    assert tables.finish(CLAIM) == CLAIM
    assert tables.finish(replace(CLAIM, gain=0.9)) == CLAIM
    assert not tables.enter(LanePosition(2, 2, 1), proposal(2), {1: START, 2: BETTER}, is_proving=False)


def test_of_a_long_lane_only_the_latest_steps_are_read_and_all_milestones(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A team that makes a hundred thousand proposals must not keep everybody waiting at each of its checks."""
    monkeypatch.setattr("unworn.boards.gating.gate_tables.HISTORY", 3)
    tables, milestone = GateTables(database, "blue", "main"), Milestone(0.1, 0.05, 0.2, True, 1, 2)
    for number in range(1, 9):
        told = replace(verdict(number), message='"milestone":{', milestone=milestone if number == 2 else None)
        kept = {1: START, number: BETTER} if number > 1 else {1: START}
        assert tables.enter(LanePosition(number, number, 1), proposal(number, told), kept, is_proving=False)
    lane = tables.load(with_history=True)
    assert lane is not None
    assert (len(lane.steps), lane.skipped, lane.milestones) == (3, 4, [milestone])
    assert [round(step.gain, 6) for step in lane.steps] == [0.5, 0.6, 0.7]
