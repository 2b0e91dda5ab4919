"""No team can spend what the others' intervals are made of, whatever it calls what it spends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from unworn import Holdout, col, mechanisms, share
from unworn.boards.board import Board
from unworn.boards.board_errors import GateUnavailable
from unworn.boards.gate import Gate
from unworn.boards.submission import UNCHECKED
from unworn.boards.team_spending import NATS_OF_ONE, SpendingFold
from unworn.mechanisms import Payload, Rounding
from unworn.mechanisms.contract.capabilities import ChargesBySurprise

ROWS = 1_200


@pytest.fixture
def charging() -> Iterator[type[Rounding]]:
    """A third party's mechanism whose every answer is a cell, and which says that it charges by surprise."""

    @dataclass(frozen=True)
    class ChargingCells(Rounding, ChargesBySurprise):
        payloads: ClassVar[tuple[type[Payload], ...]] = ()

    mechanisms.register(ChargingCells)
    yield ChargingCells
    mechanisms.forget(ChargingCells)


def test_dear_answers_are_counted_of_any_mechanism_that_charges_by_surprise(charging: type[Rounding]) -> None:
    for mechanism, counted in ((charging(), 3), (Rounding(), 0)):
        holdout = Holdout({"age": np.arange(ROWS)}, mechanism=mechanism, practice=0, ledger=None)
        for least in (100, 200, 300):
            holdout.ask(share(col("age") > least), by="team")
        assert SpendingFold(holdout).surprises("team") == counted


@pytest.mark.parametrize("classes", [2, 8])
def test_a_team_spends_no_more_however_many_parts_a_metric_has(classes: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(classes)
    labels, ids = rng.integers(0, classes, 2 * ROWS), np.arange(2 * ROWS)
    frame = {"id": ids, "label": labels}
    with Board.create(tmp_path / "bench", frame, id="id", target="label", metric="f1_macro") as board:
        practice = board.holdout._practice_rows
        assert practice is not None
        assert practice.origin is not None
        seen = [int(board.ids[place]) for place in practice.origin]
        dearest = 0.0
        for _ in range(12):
            sent, before = rng.integers(0, classes, len(ids)), board.team_spending("hostile").nats
            sent[seen] = labels[seen]
            board.submit({"id": ids, "prediction": sent}, team="hostile")
            dearest = max(dearest, board.team_spending("hostile").nats - before)
        spent, cap = board.team_spending("hostile"), board.config.surprises_per_team
        assert spent.surprises >= cap
        assert spent.nats < (cap - 1) * NATS_OF_ONE + dearest + 1


def test_answers_that_are_no_surprise_and_cost_as_much_are_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels, ids = (rng.random(ROWS) < 0.3).astype(int), [f"r{place}" for place in range(ROWS)]
    with Board.create(
        tmp_path / "bench", {"id": ids, "label": labels}, id="id", target="label", metric="precision"
    ) as board:
        for _ in range(30):
            few = np.zeros(ROWS, dtype=int)
            few[rng.choice(ROWS, 4, replace=False)] = 1  # too few to guess by: each answer names a cell
            board.submit({"id": ids, "prediction": few}, team="hostile")
        (spent,) = board.spending()
        assert spent.surprises == board.config.surprises_per_team
        assert spent.nats < 12 * spent.surprises
        near = np.where(rng.random(ROWS) < 0.9, labels, 1 - labels)
        assert board.submit({"id": ids, "prediction": near}, team="honest").status == "checked"
        told = {each.team: each for each in board.spending()}
        assert told["honest"].surprises == 0
        assert told["honest"].nats < 2


def test_one_submission_of_forty_parts_costs_no_more_than_a_team_may_spend(tmp_path: Path) -> None:
    """Its parts are asked in pieces: all at once would cost everybody hundreds of nats before they are counted."""
    classes = 40
    rng = np.random.default_rng(3)
    labels, ids = rng.integers(0, classes, 8 * ROWS), np.arange(8 * ROWS)
    frame = {"id": ids, "label": labels}
    with Board.create(tmp_path / "bench", frame, id="id", target="label", metric="f1_macro") as board:
        practice = board.holdout._practice_rows
        assert practice is not None
        assert practice.origin is not None
        sent, seen = rng.integers(0, classes, len(ids)), [int(board.ids[place]) for place in practice.origin]
        sent[seen] = labels[seen]
        told = board.submit({"id": ids, "prediction": sent}, team="hostile")
        assert (told.status, told.indexes) == (UNCHECKED, ())
        assert told.why is not None
        assert "only a part of this score was checked" in told.why
        assert board.team_spending("hostile").nats <= board.config.surprises_per_team * NATS_OF_ONE
        right = np.where(rng.random(len(ids)) < 0.7, labels, rng.integers(0, classes, len(ids)))
        assert board.submit({"id": ids, "prediction": right}, team="honest").is_checked


def test_a_claim_of_forty_parts_costs_no_more_than_a_team_may_spend(tmp_path: Path) -> None:
    """Final values of all of them would cost as much as twenty surprises: then the claim is what is known."""
    classes = 40
    rng = np.random.default_rng(4)
    labels, ids = rng.integers(0, classes, 8 * ROWS), np.arange(8 * ROWS)
    frame = {"id": ids, "label": labels}
    with Board.create(tmp_path / "bench", frame, id="id", target="label", metric="f1_macro") as board:
        gate = Gate(board, "agent")
        for share in (0.5, 0.7):
            right = np.where(rng.random(len(ids)) < share, labels, rng.integers(0, classes, len(ids)))
            gate.propose({"id": ids, "prediction": right})
        claim = gate.finish()
        assert claim.gain is not None
        assert claim.score_low < 0.7 < claim.score_high
        assert board.team_spending("agent").nats <= board.config.surprises_per_team * NATS_OF_ONE


def test_a_gain_of_forty_parts_is_not_looked_at_to_its_end(tmp_path: Path) -> None:
    classes = 40
    rng = np.random.default_rng(6)
    labels, ids = rng.integers(0, classes, 8 * ROWS), np.arange(8 * ROWS)
    frame = {"id": ids, "label": labels}
    with Board.create(tmp_path / "bench", frame, id="id", target="label", metric="f1_macro") as board:
        practice = board.holdout._practice_rows
        assert practice is not None
        assert practice.origin is not None
        seen = [int(board.ids[place]) for place in practice.origin]
        gate = Gate(board, "agent", prove=True)
        gate.propose({"id": ids, "prediction": rng.integers(0, classes, len(ids))})
        sent = rng.integers(0, classes, len(ids))
        sent[seen] = labels[seen]
        verdict = gate.propose({"id": ids, "prediction": sent})
        assert (verdict.keep, verdict.milestone) == (False, None)
        assert verdict.note is not None
        assert "before all parts of the gain were looked at" in verdict.note
        with pytest.raises(GateUnavailable, match="used up what its 5 surprises may cost"):
            gate.finish()
        assert board.team_spending("agent").nats <= board.config.surprises_per_team * NATS_OF_ONE
