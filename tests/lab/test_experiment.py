"""Experiments: misses are counted a play, numbers repeat with the seed, and a result knows what it proves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from unworn.holdout import Holdout
from unworn.lab import Analyst, FiniteWorld, Played, Result, SignWorld, run
from unworn.lab.analysts import SelectThenVote
from unworn.lab.analysts.analyst import ask
from unworn.lab.worlds import Scene
from unworn.mechanisms import GuessAndCheck, Naive, SampleSplitting


@dataclass(frozen=True)
class Liar(Analyst):
    """Reports truths that no interval can hold, in the asks named."""

    name: ClassVar[str] = "liar"

    about: tuple[int, ...] = ()

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        for j in range(asks):
            answer, truth = ask(holdout, scene.probe(j), 0.5)
            yield Played(answer, 2.0 if j in self.about else truth)


@pytest.mark.parametrize(("about", "misses"), [((), 0), ((0,), 4), ((2,), 4), ((0, 1, 2), 4)])
def test_one_miss_or_many_is_one_missed_play(about: tuple[int, ...], misses: int) -> None:
    result = run(SignWorld(), Liar(about), GuessAndCheck(), rows=50, asks=3, repetitions=4, seed=1)
    assert (result.misses, result.repetitions, result.asked) == (misses, 4, 12)
    assert result.miss_rate == misses / 4


@pytest.mark.parametrize("mechanism", [SampleSplitting(), SampleSplitting(rounds=2)])
def test_the_same_seed_gives_the_same_numbers_even_where_rows_are_split(mechanism: SampleSplitting) -> None:
    def play(seed: int) -> Result:
        analyst = SelectThenVote(batch=True)
        return run(
            FiniteWorld(60, forms=("accuracy", "mae", "share")),
            analyst,
            mechanism,
            60,
            6,
            3,
            seed,
            confidence=0.5,
            planned=True,
        )

    assert play(1) == play(1)
    assert play(1).widths != play(2).widths


def test_a_refusal_ends_the_play_and_not_the_experiment() -> None:
    result = run(SignWorld(), SelectThenVote(), SampleSplitting(rounds=2), 40, 6, 3, 1, planned=True)
    assert (result.asked, result.repetitions, len(result.widths)) == (6, 3, 3)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    run(SignWorld(), Liar(), Naive(), 20, 1, 3, 1, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_results_add_up() -> None:
    first, second = Result(1, 10, 0.9, 20, 3, (0.1,) * 10), Result(2, 30, 0.9, 60, 4, (0.2,) * 30)
    assert first + second == Result(3, 40, 0.9, 80, 7, (0.1,) * 10 + (0.2,) * 30)
    with pytest.raises(ValueError, match="do not add up"):
        first + Result(1, 10, 0.5, 20, 3, (0.1,) * 10)


def test_a_result_knows_what_chance_would_do() -> None:
    assert Result(0, 20, 0.95, 0, 0, (0.1,)).tail == 1.0
    assert Result(20, 20, 0.5, 0, 0, (0.1,)).tail == pytest.approx(2.0**-20)
    low, high = Result(30, 30, 0.95, 0, 0, (0.1,)).limits(1e-7)
    assert low == pytest.approx(1e-7 ** (1 / 30), rel=1e-6)
    assert high == 1.0


def test_an_experiment_needs_something_to_do() -> None:
    with pytest.raises(ValueError, match="at least one repetition"):
        run(SignWorld(), Liar(), Naive(), 20, 1, 0, 1)
    with pytest.raises(ValueError, match="give Holdout"):
        run(SignWorld(), Liar(), SampleSplitting(), 20, 1, 1, 1)
