"""Analysts who select or probe: each is misled where answers are exact, in the way its name says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import reseeded
from unworn import Holdout
from unworn.lab import FiniteWorld, SeededStore
from unworn.lab.analysts.analyst import Analyst, Played
from unworn.lab.analysts.probing.float_prober import FloatProber
from unworn.lab.analysts.probing.threshold_prober import ThresholdProber
from unworn.lab.analysts.selecting.greedy_selection import GreedySelection
from unworn.lab.analysts.selecting.hill_climber import HillClimber
from unworn.lab.analysts.selecting.memoriser import Memoriser
from unworn.lab.worlds import PlantedWorld, Scene, SignWorld, TabularWorld, World
from unworn.mechanisms import BoundedNoise, GuessAndCheck, Mechanism, Naive


def play(
    analyst: Analyst, world: World, rows: int, asks: int, mechanism: Mechanism, seed: int
) -> tuple[list[Played], Scene]:
    rng = np.random.default_rng(reseeded(seed))
    scene = world.draw(rows, asks, rng)
    holdout = Holdout(scene.data, scene.labels, mechanism=mechanism, asks=asks, practice=0, ledger=SeededStore(rng))
    return list(analyst.play(holdout, scene, asks, rng)), scene


@pytest.mark.parametrize(("analyst", "least"), [(GreedySelection(), 0.1), (HillClimber(), 0.05)])
def test_selecting_on_exact_answers_overfits_and_checked_answers_do_not(analyst: Analyst, least: float) -> None:
    # On 400 rows a single accuracy is off by 0.025; the largest of 400 honest ones by about 0.07, and of greedy
    # selection and climbing by 0.22 and 0.10 (four seeds each): half of that is asked for.
    played, _ = play(analyst, SignWorld(), 400, 400, Naive(), 1)
    assert max(each.answer.value for each in played) - 0.5 > least
    checked, _ = play(analyst, SignWorld(), 400, 400, GuessAndCheck(), 1)
    assert all(each.answer.low <= each.truth <= each.answer.high for each in checked)


@pytest.mark.parametrize("world", [PlantedWorld(20, 0.4), TabularWorld(6, 1.0)], ids=["planted", "tabular"])
def test_where_there_is_a_signal_selection_finds_it(world: World) -> None:
    # Twenty features of 400 are right with 0.7 each, on 2,000 rows where 0.011 is the standard error: eighteen of them.
    played, _ = play(GreedySelection(), world, 2_000, 400, GuessAndCheck(), 2)
    assert max(each.truth for each in played) > 0.72


def test_the_memoriser_finds_rows_it_never_saw() -> None:
    played, scene = play(Memoriser(), FiniteWorld(400), 40, 500, Naive(), 3)
    last = played[-1]
    assert last.answer.value == pytest.approx(1.0)  # exact answers: all of the rows
    assert last.truth < 0.5
    assert len(np.unique(scene.data["point"])) < 41  # type: ignore[index]


def test_digits_of_one_exact_answer_tell_many_counts() -> None:
    played, scene = play(FloatProber(), FiniteWorld(300), 60, 52, Naive(), 4)
    assert len(played) == 51  # six points an ask
    assert played[-1].answer.value == 1.0
    assert played[-1].truth == pytest.approx(len(np.unique(scene.data["point"])) / 300)  # type: ignore[index]


def test_digits_of_a_noisy_answer_tell_nothing() -> None:
    # All points that have a digit at all are named: that tells as much as naming all of those asked about.
    mechanism = BoundedNoise.for_(rows=4_000, asks=11, confidence=0.95)
    played, _ = play(FloatProber(), FiniteWorld(300), 4_000, 11, mechanism, 5)
    last = played[-1]
    assert abs(last.answer.value - last.truth) < 0.1  # noise of 0.02, and rows' own error of 0.008
    assert all(each.answer.low <= each.truth <= each.answer.high for each in played)


def test_a_threshold_is_crossed_where_the_value_lies() -> None:
    scene = FiniteWorld(100).draw(50, 3, np.random.default_rng(reseeded(6)))
    holdout = Holdout(scene.data, scene.labels, mechanism=Naive(), ledger=None, practice=0)
    played = list(ThresholdProber(steps=10).play(holdout, scene, 31, np.random.default_rng(1)))
    assert len(played) == 31
    for probe in range(3):
        values = scene.values[probe]
        off = abs(values[scene.points].mean() - scene.world.chances @ values)
        nearest = min(abs(each.answer.value - 0.5) for each in played[10 * probe : 10 * probe + 10])
        assert nearest < 2**-9 or off > 50**-0.5 - 2**-9  # bisected, unless it lies where nobody looked
