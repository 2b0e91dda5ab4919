"""Past the wall every mechanism has stopped, or says next to nothing, or is misled: there is no fourth way."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn import Holdout, mechanisms
from unworn.lab import FiniteWorld, Played
from unworn.lab.analysts import InteractiveFingerprinting
from unworn.lab.papers.overfitting.wall_play import MECHANISMS, Ending, play_wall
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Mechanism, PairedLadder, Rounding


def play(name: str, size: tuple[int, int]) -> tuple[Played | None, Ending]:
    return play_wall(name, *size, np.random.default_rng(reseeded(3)))


def test_every_mechanism_is_tried() -> None:
    """But for the ladder of differences, which answers no question about rows alone."""
    tried = {type(make(20)) for make, _ in MECHANISMS.values()}
    offered = [getattr(mechanisms, name) for name in mechanisms.__all__]
    known = {each for each in offered if isinstance(each, type) and issubclass(each, Mechanism)}
    assert known - tried == {Mechanism, PairedLadder}


@pytest.mark.filterwarnings("ignore::unworn.errors.SmallHoldout")
@pytest.mark.parametrize("name", MECHANISMS)
@in_two_sizes(short=(20, 801), full=(60, 10_001))
def test_nobody_stands_past_the_wall(name: str, size: tuple[int, int]) -> None:
    """Twice the rounds that answers on a grid of .2 withstand.

    False alarm: sound mechanisms are refused or have widths that follow from the number of asks alone. The control
    fails where its last interval reaches down to the truth, .25, for which more than half of its rows must escape: in
    each of 40 plays on 20 rows none did, and a row's score lies five standard deviations above the others'.
    """
    _, ending = play(name, size)
    assert ending != "standing"
    assert (ending == "misled") == (name == "naive")


@in_two_sizes(short=(20, 801), full=(60, 10_001))
def test_a_coarse_grid_hides_no_rows(size: tuple[int, int]) -> None:
    """Rounding to .2 names one of the two cells at the top, for a question about a quarter of the population.

    The answer was the top cell, .9, in each of 40 plays on 20 rows, and .65 asks for six tenths of them alone.
    """
    last, _ = play("rounding to .2", size)
    assert last is not None
    assert last.answer.value >= 0.65
    assert last.truth == pytest.approx(0.25, abs=0.02)


def test_questions_that_agree_on_all_rows_are_two_questions() -> None:
    """As predictions, "all points" and "the suspects" would be one: the same bits on the rows, and another truth."""
    rng = np.random.default_rng(1)
    scene = FiniteWorld(80).draw(20, 0, rng)
    holdout = Holdout(scene.data, scene.labels, mechanism=Rounding(5), ledger=SeededStore(rng))
    truths: dict[int, set[float]] = {}
    for played in InteractiveFingerprinting().play(holdout, scene, 801, rng):
        assert played.answer.index is not None
        truths.setdefault(played.answer.index, set()).add(played.truth)
    assert all(len(found) == 1 for found in truths.values())
