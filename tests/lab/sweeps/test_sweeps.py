"""Sweeps: the same table however it is run, and a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from unworn.holdout import Holdout
from unworn.lab import ANALYSTS, Analyst, FiniteWorld, Played, SignWorld
from unworn.lab.analysts.analyst import ask
from unworn.lab.sweeps import Sweep, run_sweep, sweep_frame
from unworn.lab.sweeps.sweep import UnfitSweep
from unworn.lab.sweeps.sweep_folder import SweepFolder, saved_sweep
from unworn.lab.worlds import Scene
from unworn.mechanisms import Gaussian, GuessAndCheck, Naive

SWEEP = Sweep(
    [SignWorld(), FiniteWorld(60, forms=("accuracy", "mae", "share"))],
    [ANALYSTS["select_then_vote"](), ANALYSTS["roll_call"]()],
    [Naive(), GuessAndCheck()],
    rows=[40],
    asks=[8],
    repetitions=2,
    seed=3,
)


@dataclass(frozen=True)
class Stopping(Analyst):
    """Plays as others do, and stops everything at one of its plays."""

    name: ClassVar[str] = "stopping"

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        yield ask(holdout, scene.probe(0))


def test_a_table_has_a_row_for_every_combination() -> None:
    rows = run_sweep(SWEEP)
    assert len(rows) == 16
    assert len({tuple(str(row[name]) for name in list(row)[:8]) for row in rows}) == 16
    assert [row["refused"] is not None for row in rows].count(True) == 4  # a roll call without points
    played = [row for row in rows if row["refused"] is None]
    assert all(1 <= row["asked"] <= 8 and 0 <= row["error"] <= row["worst"] for row in played)
    assert sweep_frame(rows, "polars").shape == (16, 15)
    assert list(sweep_frame(rows, "pandas")["rows"]) == [40] * 16


def test_a_cell_does_not_depend_on_what_else_is_played() -> None:
    whole = run_sweep(SWEEP)
    part = run_sweep(replace(SWEEP, worlds=SWEEP.worlds[1:], mechanisms=SWEEP.mechanisms[::-1], rows=[60, 40]))
    alike = [row for row in part if row["rows"] == 40]
    assert len(alike) == 8
    assert all(row in whole for row in alike)
    assert run_sweep(replace(SWEEP, seed=4)) != whole


def test_processes_change_nothing(tmp_path: Path) -> None:
    few = replace(SWEEP, worlds=SWEEP.worlds[1:], repetitions=1)
    assert run_sweep(few, tmp_path, processes=2) == run_sweep(few)


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 5:
            raise Stop

    with pytest.raises(Stop):
        run_sweep(SWEEP, tmp_path, progress=stop)
    path = tmp_path / "cells.jsonl"
    kept = path.read_bytes()
    assert kept.count(b"\n") == 5
    path.write_bytes(kept + kept.splitlines(keepends=True)[0][:40])  # the line that was being written
    told: list[tuple[int, int]] = []
    rows = run_sweep(saved_sweep(tmp_path), tmp_path, progress=lambda done, total: told.append((done, total)))
    assert (told[0], told[-1]) == ((5, 16), (16, 16))
    assert rows == run_sweep(SWEEP)
    assert path.read_bytes().startswith(kept)
    again: list[tuple[int, int]] = []
    assert run_sweep(SWEEP, tmp_path, progress=lambda done, total: again.append((done, total))) == rows
    assert again == [(16, 16)]  # nothing is played twice
    assert sorted(each.name for each in tmp_path.iterdir()) == ["cells.jsonl", "sweep.json"]


def test_another_sweep_or_version_does_not_go_into_the_same_folder(tmp_path: Path) -> None:
    few = replace(SWEEP, worlds=SWEEP.worlds[:1], analysts=SWEEP.analysts[:1], repetitions=1)
    run_sweep(few, tmp_path)
    with pytest.raises(UnfitSweep, match=r"differs in rows, seed"):
        run_sweep(replace(few, rows=[50], seed=9), tmp_path)
    spec = tmp_path / "sweep.json"
    told = json.loads(spec.read_text())
    spec.write_text(json.dumps({**told, "unworn": "0.0.1"}))
    with pytest.raises(UnfitSweep, match=r"begun by unworn 0\.0\.1"):
        run_sweep(few, tmp_path)
    spec.unlink()
    with pytest.raises(UnfitSweep, match="nobody knows"):
        run_sweep(few, tmp_path)


def test_one_process_at_a_time_writes(tmp_path: Path) -> None:
    with SweepFolder(tmp_path, SWEEP).appending(), pytest.raises(UnfitSweep, match="another process"):
        run_sweep(SWEEP, tmp_path)


@pytest.mark.parametrize("line", ['{"cell": 1}', "[]", '{"cell": "a", "row": 3}', '{"cell": NaN}'])
def test_a_line_that_is_no_cell_is_named(tmp_path: Path, line: str) -> None:
    folder = SweepFolder(tmp_path, SWEEP)
    (tmp_path / "cells.jsonl").write_text(f"{line}\n")
    with pytest.raises(UnfitSweep, match="line 1 of"):
        folder.finished()


def test_a_saved_sweep_is_read_and_never_evaluated(tmp_path: Path) -> None:
    assert Sweep.from_json(json.loads(json.dumps(SWEEP.to_json()))) == SWEEP
    own = Sweep([SignWorld()], [Stopping()], [Naive()], rows=[20], asks=[1], repetitions=1)
    assert run_sweep(own, tmp_path)[0]["asked"] == 1
    with pytest.raises(UnfitSweep, match="in Python"):
        saved_sweep(tmp_path)
    for wrong in (None, {}, {**SWEEP.to_json(), "worlds": [{"name": "os.system"}]}, {**SWEEP.to_json(), "rows": 3}):
        with pytest.raises(UnfitSweep):
            Sweep.from_json(wrong)


def test_what_a_mechanism_refuses_is_a_row_that_says_so() -> None:
    (row,) = run_sweep(Sweep([SignWorld()], [Stopping()], [Gaussian()], rows=[20], asks=[2], repetitions=1))
    assert row["asked"] is None
    assert "asks" in row["refused"]


@pytest.mark.parametrize(
    "wrong", [{"worlds": []}, {"rows": [0]}, {"repetitions": 0}, {"seed": -1}, {"asks": [3, 3]}], ids=str
)
def test_sweeps_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UnfitSweep):
        replace(SWEEP, **wrong)  # type: ignore[arg-type]
