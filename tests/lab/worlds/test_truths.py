"""What a world says is true is what enormous draws show; and what varies together does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.two_sizes import reseeded
from unworn.lab.worlds import (
    WORLDS,
    BoardWorld,
    FiniteWorld,
    LabelNoiseWorld,
    PlantedWorld,
    ProductWorld,
    Scene,
    SignWorld,
    TabularWorld,
    World,
)
from unworn.lab.worlds.exact_votes import chained_truth, vote_law, vote_truth, whole_weights

ALL: list[World] = [
    BoardWorld(0.55, 0.8, 0.2),
    FiniteWorld(40, forms=("accuracy",)),
    LabelNoiseWorld(0.2, 0.9),
    PlantedWorld(3, 0.3),
    ProductWorld(),
    SignWorld(),
    TabularWorld(4, 0.8),
]
ROWS, PROBES = 60_000, 7


def value(scene: Scene, predictions: object) -> float:
    return float(np.mean(np.asarray(predictions) == scene.labels))


def said(rule: object) -> np.ndarray:
    return rule.question.source.column.values  # type: ignore[attr-defined,no-any-return]


def test_every_world_is_tried() -> None:
    assert {type(world) for world in ALL} == set(WORLDS.values())


@pytest.mark.parametrize("world", ALL, ids=lambda world: type(world).__name__)
def test_truths_are_what_large_draws_show(world: World) -> None:
    # A share of 60,000 rows has a standard error below 0.0021: six of them, for eleven shares and seven worlds.
    rng = np.random.default_rng(reseeded(1))
    scene = world.draw(ROWS, PROBES, rng)
    assert (scene.rows, scene.probes) == (ROWS, PROBES)
    rules = [scene.probe(j) for j in range(PROBES)]
    rules += [scene.vote(rng.standard_normal(size)) for size in (2, 3, PROBES)]
    rules.append(scene.vote(np.ones(PROBES)))
    for rule in rules:
        assert abs(value(scene, said(rule)) - rule.truth) < 0.013


@pytest.mark.parametrize("world", ALL, ids=lambda world: type(world).__name__)
def test_the_certain_question_is_known_to_the_last_row(world: World) -> None:
    from unworn.holdout import Holdout
    from unworn.mechanisms import Naive

    scene = world.draw(41, PROBES, np.random.default_rng(reseeded(2)))
    rule = scene.certain()
    holdout = Holdout(scene.data, scene.labels, mechanism=Naive(), ledger=None, practice=0)
    assert holdout.ask(rule.question).value == rule.truth == 20 / 41


@pytest.mark.parametrize("world", [ALL[0], ALL[2], ALL[3], ALL[4]], ids=lambda world: type(world).__name__)
def test_values_vary_together_as_is_said(world: World) -> None:
    # 4,000 draws of 40 rows: a correlation has a standard error of 0.016, and 0.1 is six of them.
    rng = np.random.default_rng(reseeded(3))
    one = world.draw(160_000, 4, rng)
    right = np.array([said(one.probe(j)) == one.labels for j in range(4)], dtype=float)
    means = right.reshape(4, 4_000, 40).mean(axis=2)
    promised = one.covariance(4) * one.rows / 40
    scale = np.sqrt(np.outer(np.diag(promised), np.diag(promised)))
    assert np.abs((np.cov(means) - promised) / scale).max() < 0.15


def test_a_table_varies_by_its_labels_alone_once_it_is_public() -> None:
    # The same table with labels drawn again 4,000 times: as above.
    rng = np.random.default_rng(reseeded(4))
    scene = TabularWorld(3, 0.7).draw(40, 3, rng)
    chance = 1 / (1 + np.exp(-2 * scene.table @ scene.centre))
    labels = np.where(rng.random((4_000, 40)) < chance, 1, -1)
    means = np.array([(labels == said(scene.probe(j))).mean(axis=1) for j in range(3)])
    promised = scene.covariance(3)
    scale = np.sqrt(np.outer(np.diag(promised), np.diag(promised)))
    assert np.abs((np.cov(means) - promised) / scale).max() < 0.15


def test_a_tables_classifiers_with_an_offset() -> None:
    scene = TabularWorld(2, 1.0).draw(ROWS, 1, np.random.default_rng(reseeded(5)))
    for rule in (scene.classify(scene.centre, 0.5), scene.classify([1.0, 0.0], -0.3), scene.classify([0.0, 0.0])):
        assert abs(value(scene, said(rule)) - rule.truth) < 0.013
    best = scene.classify(scene.centre)
    assert best.truth == pytest.approx(1 - TabularWorld(2, 1.0).bayes_risk)


def test_nobody_is_right_beyond_the_noise_of_labels() -> None:
    world = LabelNoiseWorld(0.3, 1.0)
    scene = world.draw(100, 9, np.random.default_rng(reseeded(6)))
    assert max(scene.probe(j).truth for j in range(9)) == pytest.approx(world.ceiling) == pytest.approx(0.7)


@pytest.mark.parametrize("weights", [[1, 2, -3], [0, 4, 4], [5, 5, 5]])
@pytest.mark.parametrize("change", [0.0, 0.3, 1.0])
def test_votes_are_right_as_all_cases_say(weights: list[int], change: float) -> None:
    chances = np.array([0.6, 0.3, 0.8])
    whole = np.array(weights)
    total = 0.0
    for anew in itertools.product([False, True], repeat=2):
        for drawn in itertools.product([-1, 1], repeat=3):
            weight = float(np.prod([change if new else 1 - change for new in anew]))
            weight *= float(np.prod([p if r > 0 else 1 - p for p, r in zip(chances, drawn, strict=True)]))
            right = list(drawn)
            for place, new in enumerate(anew, start=1):
                right[place] = drawn[place] if new else right[place - 1]
            lead = int(whole @ np.array(right))
            total += weight * (1.0 if lead > 0 else 0.5 if lead == 0 else 0.0)
    assert chained_truth(whole, chances, change) == pytest.approx(total)
    if change == 1.0:
        assert vote_truth(whole, chances) == pytest.approx(total)
        assert vote_law(whole, chances).sum() == pytest.approx(1.0)


def test_weights_become_whole() -> None:
    assert whole_weights([]).tolist() == []
    assert whole_weights([0.0, 0.0]).tolist() == [0, 0]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: PlantedWorld(-1, 0.2),
        lambda: PlantedWorld(1, float("nan")),
        lambda: LabelNoiseWorld(0.5, 0.8),
        lambda: LabelNoiseWorld(0.1, 0.4),
        lambda: ProductWorld(0.0, 0.5),
        lambda: ProductWorld(0.6, 0.5),
        lambda: TabularWorld(0, 1.0),
        lambda: TabularWorld(2, float("nan")),
        lambda: BoardWorld(change=1.5),
    ],
)
def test_worlds_that_cannot_be_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="not"):
        wrong()  # type: ignore[operator]
