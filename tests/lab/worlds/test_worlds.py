"""Worlds know the truth: it is what many rows converge to, and what the questions are about."""

from __future__ import annotations

import numpy as np
import pytest

from unworn import Holdout, Unaskable
from unworn.lab import FiniteWorld, Rule, SignWorld, World, versus
from unworn.lab.worlds import Scene
from unworn.mechanisms import Naive

SKEWED = FiniteWorld(20, weights=tuple(range(1, 21)))


def sealed(scene: Scene) -> Holdout:
    return Holdout(scene.data, scene.labels, mechanism=Naive(), ledger=None)


def value(scene: Scene, rule: Rule) -> float:
    return sealed(scene).ask(rule.question).value


@pytest.mark.parametrize("world", [SignWorld(), FiniteWorld(20), SKEWED], ids=["sign", "uniform", "skewed"])
def test_the_truth_is_what_many_rows_tell(world: World) -> None:
    """Hoeffding: off by .01 at 200,000 rows with probability 2 exp(-40) a question, below 1e-15."""
    scene = world.draw(200_000, 4, np.random.default_rng(5))
    rules = [*map(scene.probe, range(4)), scene.vote([1.0, -2.0, 0.5, 0.0])]
    for rule in rules:
        assert value(scene, rule) == pytest.approx(rule.truth, abs=0.01)


def test_a_question_is_about_the_rows_it_is_put_to() -> None:
    scene = SKEWED.draw(50, 4, np.random.default_rng(1))
    for j in range(4):
        assert value(scene, scene.probe(j)) == pytest.approx(scene.values[j][scene.points].mean())
    assert value(scene, scene.among([19, 3])) == pytest.approx(np.isin(scene.points, [3, 19]).mean())


def test_every_form_is_used_and_says_its_kind() -> None:
    scene = FiniteWorld(20).draw(30, 4, np.random.default_rng(1))
    asked = [scene.probe(j).question for j in range(4)]
    facts = [question.facts(sealed(scene)._sample.schema, 30) for question in asked]
    assert [(fact.kind, fact.runs_code) for fact in facts] == [
        ("binary", False), ("unit", False), ("binary", False), ("unit", True),
    ]  # fmt: skip


def test_truths_of_a_finite_world_are_sums() -> None:
    scene = SKEWED.draw(10, 1, np.random.default_rng(1))
    assert scene.among([0, 19]).truth == pytest.approx(21 / 210)
    assert scene.among([4, 4]).truth == pytest.approx(5 / 210)
    assert FiniteWorld(40).draw(5, 3, np.random.default_rng(2)).vote([1, 2, 3]).truth == pytest.approx(0.25)


def test_a_pair_of_rules_is_their_difference() -> None:
    scene = FiniteWorld(40, forms=("accuracy",)).draw(50, 2, np.random.default_rng(3))
    pair = versus(scene.probe(0), scene.probe(1))
    assert pair.truth == scene.probe(0).truth - scene.probe(1).truth
    assert value(scene, pair) == pytest.approx(value(scene, scene.probe(0)) - value(scene, scene.probe(1)))
    mixed = FiniteWorld(40).draw(50, 3, np.random.default_rng(3))
    with pytest.raises(Unaskable, match="two questions of one metric"):
        versus(mixed.probe(0), mixed.probe(2))


def test_a_vote_on_the_rows_themselves_overfits() -> None:
    """The vote by exact values looks Φ(√(k/n)) = .84 right at k = n; six deviations (.037 each) below is .62."""
    scene = SignWorld().draw(400, 400, np.random.default_rng(4))
    right = (scene.features == scene.labels[:, None]).mean(axis=0)
    assert value(scene, scene.vote(right - 0.5)) > 0.62
    assert scene.vote(right - 0.5).truth == 0.5


@pytest.mark.parametrize("rows", [40, 41])
@pytest.mark.parametrize("world", [SignWorld(), SKEWED], ids=["sign", "finite"])
def test_a_certain_question_is_certain(world: World, rows: int) -> None:
    """Whatever the rows, and to the last row: as a 0/1 question, so that no coins come in."""
    for seed in range(5):
        scene = world.draw(rows, 1, np.random.default_rng(seed))
        rule = scene.certain()
        facts = rule.question.facts(sealed(scene)._sample.schema, rows)
        assert (facts.kind, facts.low, facts.high, facts.runs_code) == ("binary", 0.0, 1.0, False)
        assert value(scene, rule) == rule.truth == 20 / rows


def test_many_points_are_not_put_in_words() -> None:
    """A list of 1,000 is the longest the language has, and a slow one; truths stay what they were."""
    scene = FiniteWorld(20_000, forms=("share",)).draw(500, 3, np.random.default_rng(1))
    for j in range(3):
        assert scene.values[j].sum() < 120  # 50 on average; above 120 with probability below 1e-15
        assert value(scene, scene.probe(j)) == pytest.approx(scene.values[j][scene.points].mean())
    crowd = range(0, 20_000, 2)
    assert scene.among(crowd).truth == pytest.approx(0.5)
    assert value(scene, scene.among(crowd)) == pytest.approx((scene.points % 2 == 0).mean())


def test_the_same_seed_draws_the_same() -> None:
    first, second = (FiniteWorld(30).draw(20, 5, np.random.default_rng(6)) for _ in range(2))
    np.testing.assert_array_equal(first.points, second.points)
    np.testing.assert_array_equal(first.values, second.values)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ({"points": 1}, "at least 2 points"),
        ({"points": 3, "weights": (1.0, 2.0)}, "3 weights"),
        ({"points": 3, "weights": (1.0, 2.0, -1.0)}, "at least 0"),
        ({"points": 3, "forms": ("median",)}, "median"),
        ({"points": 3, "forms": ()}, "none"),
    ],
)
def test_a_world_that_cannot_be_is_refused(mistake: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FiniteWorld(**mistake)  # type: ignore[arg-type]
