"""Answers leave at steps of time, and the first of them follows the machine but no rows that anybody seals."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from unworn.server.requests import answer_times
from unworn.server.requests.answer_times import first_step, next_step, wait_for_grid, wait_for_step
from unworn.server.settings import ServerSettings


def test_no_work_leaves_before_it_is_done_and_few_times_are_seen() -> None:
    left = {round(next_step(1e-5 * each, 0.0005, 0.004), 9) for each in range(1, 1_200)}
    assert left == {0.0005, 0.001, 0.002, 0.004, 0.008, 0.012}
    assert all(next_step(1e-5 * each, 0.0005, 0.004) > 1e-5 * each for each in range(1, 1_200))


@pytest.mark.parametrize("first", [0.0, 0.004, 1.0])
def test_without_a_first_step_below_the_grid_there_is_the_grid(first: float) -> None:
    assert next_step(0.0003, first, 0.004) == pytest.approx(0.004)
    assert next_step(0.0097, first, 0.004) == pytest.approx(0.012)


def test_the_first_step_is_a_matter_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWORN_HOME", str(tmp_path))
    monkeypatch.setattr(answer_times, "_usual", [])
    first = first_step()
    assert 5e-5 < first < 0.5
    assert first_step() == first
    assert not list(tmp_path.iterdir())  # nobody's rows were sealed


def test_whoever_set_a_step_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(answer_times, "first_step", lambda: pytest.fail("a step was set"))
    monkeypatch.setattr(time, "sleep", slept.append)
    wait_for_step(0.0007, ServerSettings(Path("."), ask_step=0.0005))
    wait_for_step(0.0007, ServerSettings(Path("."), ask_step=0.0))
    wait_for_step(0.0007, ServerSettings(Path("."), answer_grid=0.0))
    wait_for_grid(time.perf_counter(), 0.0)
    assert slept == pytest.approx([0.0003, 0.0033])
