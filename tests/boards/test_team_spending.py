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
