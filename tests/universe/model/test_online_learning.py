"""Online learning: whatever the costs, the regret never passes its bound; and with a planted mistake it does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.regret import regret_bound
from unworn.universe.domain.domain import Domain
from unworn.universe.model import online_learning
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.online_learning import Learner, ModelLearner
from unworn.universe.workload import Marginals, Thresholds


def steady(p, t):
    """One action is free, the others never are."""
    return (np.arange(len(p)) > 0).astype(float)


def against_the_favourite(p, t):
    """Whatever is played most costs 1, and nothing else does."""
    return (np.arange(len(p)) == p.argmax()).astype(float)


def swings(p, t):
    """Whoever follows the leader is one step late."""
    return np.where(np.arange(len(p)) % 2 == t % 2, 1.0, 0.0) if t else np.where(np.arange(len(p)) % 2, 0.0, 0.5)


def switches(p, t):
    """An action that is cheap for half of the time, and another that is cheap to the end."""
    cost = np.ones(len(p))
    cost[0 if t < 200 else -1] = 0.0
    return cost


ADVERSARIES = [steady, against_the_favourite, swings, switches]


def played(learner, adversary, rounds):
    """The regrets after each round."""
    regrets = []
    for t in range(rounds):
        learner.learn(adversary(learner.distribution, t))
        regrets.append(learner.regret)
    return regrets


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("actions", [2, 3, 16, 1000])
@pytest.mark.parametrize("rounds", [1, 7, 100, 400])
def test_regret_stays_below_its_bound(adversary, actions, rounds):
    planned = Learner(actions, rounds)
    last = played(planned, adversary, rounds)[-1]
    assert last <= regret_bound(actions, rounds)
    assert last <= planned.bound + 1e-12
    assert planned.bound == pytest.approx(9 / 8 * math.sqrt(math.log(actions) / rounds))


@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("actions", [2, 16, 1000])
def test_without_a_plan_the_bound_holds_after_every_round(adversary, actions):
    learner = Learner(actions)
    for t in range(400):
        learner.learn(adversary(learner.distribution, t))
        assert learner.regret <= regret_bound(actions, t + 1)
        assert learner.regret <= learner.bound + 1e-12 <= 5 / 4 * math.sqrt(math.log(actions) / (t + 1)) + 1e-11


@given(st.integers(1, 6), st.integers(1, 30), st.data())
@settings(deadline=None)
def test_no_costs_break_the_bound(actions, rounds, data):
    costs = data.draw(
        st.lists(st.lists(st.floats(0, 1), min_size=actions, max_size=actions), min_size=rounds, max_size=rounds)
    )
    for learner in (Learner(actions, rounds), Learner(actions)):
        for t, cost in enumerate(costs, 1):
            learner.learn(np.array(cost))
            assert learner.regret <= learner.bound + 1e-12
            if learner.planned is None or t == rounds:
                assert learner.regret <= regret_bound(actions, t) + 1e-12


@pytest.mark.parametrize(
    ("adversary", "wrong"),
    [
        (steady, lambda m, t: -math.sqrt(math.log(m) / t)),  # the sign
        (steady, lambda m, t: math.log(m) / t),  # the root forgotten: too slow
        (swings, lambda m, t: math.sqrt(math.log(m) * t)),  # multiplied instead of divided: too fast
        (against_the_favourite, lambda m, t: math.sqrt(math.log(m) * t)),
    ],
)
def test_a_wrong_rate_is_found_out(adversary, wrong, monkeypatch):
    monkeypatch.setattr(online_learning, "learning_rate", wrong)
    assert played(Learner(2, 400), adversary, 400)[-1] > regret_bound(2, 400)


def test_the_bound_is_not_idle():
    assert played(Learner(1000, 400), steady, 400)[-1] > regret_bound(1000, 400) / 3


QUESTIONS = (Marginals(2) + Thresholds("b")).blocks(Domain({"a": [0, 1], "b": [1, 2, 3, 4], "c": [0, 1, 2]}))


def worst(learner, rows):
    """The question on which the model says most above the rows, as its complement where that is worse."""
    best = (-1.0, QUESTIONS[0].axes, np.zeros(QUESTIONS[0].shape))
    for block, mine, theirs in zip(
        QUESTIONS,
        learner.model.tables([block.axes for block in QUESTIONS]),
        rows.tables([block.axes for block in QUESTIONS]),
        strict=True,
    ):
        gaps = block.answers(mine) - block.answers(theirs)
        place = int(np.argmax(np.abs(gaps)))
        question = block.question(place)
        best = max(
            best,
            (abs(gaps[place]), block.axes, question if gaps[place] > 0 else 1.0 - question),
            key=lambda one: one[0],
        )
    return best


@given(st.integers(0, 2**32), st.integers(1, 80))
@settings(max_examples=25, deadline=None)
def test_a_model_learns_from_questions_and_its_regret_is_bounded(seed, rounds):
    rows = Explicit(np.random.default_rng(seed).dirichlet(np.full(24, 0.3)).reshape(2, 4, 3) + 1e-12)
    learner, plain = ModelLearner(Explicit.uniform((2, 4, 3)), rounds), Learner(24, rounds)
    gaps = []
    for _ in range(rounds):
        gap, axes, cost = worst(learner, rows)
        gaps.append(gap)
        wide = np.zeros((2, 4, 3)) + cost.reshape([s if a in axes else 1 for a, s in enumerate((2, 4, 3))])
        assert learner.learn(axes, cost) == pytest.approx(plain.learn(wide.reshape(-1)), abs=1e-12)
    assert learner.regret() == pytest.approx(plain.regret, abs=1e-12)
    assert learner.regret(rows) <= learner.regret() + 1e-12 <= regret_bound(24, rounds) + 1e-12
    # The slide's use of it: each round's cost was `gap` above the rows', so the average gap is the regret.
    assert np.mean(gaps) == pytest.approx(learner.regret(rows), abs=1e-9)
    np.testing.assert_allclose(learner.model.weights.reshape(-1), plain.distribution, atol=1e-12)


def test_what_cannot_be_learnt_is_refused():
    learner = Learner(3, 2)
    for cost, said in (
        ([0.0, 0.5], "shape"),
        ([0.0, 0.5, 1.1], "in \\[0, 1\\]"),
        ([0.0, 0.5, math.nan], "in \\[0, 1\\]"),
    ):
        with pytest.raises(ValueError, match=said):
            learner.learn(np.array(cost))
    assert learner.learned == 0
    assert learner.regret == learner.bound == 0.0
    for _ in range(2):
        learner.learn(np.ones(3))
    with pytest.raises(ValueError, match="all 2 planned rounds"):
        learner.learn(np.ones(3))
    for wrong in ((0, 1), (True, 1), (2.0, 1), (2, 0), (2, -1), (2, True)):
        with pytest.raises(ValueError, match=r"whole number|from 1 on"):
            Learner(*wrong)
    with pytest.raises(ValueError, match="rounds must be"):
        ModelLearner(Explicit.uniform((2,)), 0)
    model = ModelLearner(Explicit.uniform((2, 3)), 1)
    assert model.regret() == 0.0
    with pytest.raises(ValueError, match="shape"):
        model.learn((0,), np.ones(3))
    model.learn((0,), np.ones(2))
    with pytest.raises(ValueError, match="planned"):
        model.learn((0,), np.ones(2))


def test_one_action_has_no_regret():
    learner = Learner(1)
    for _ in range(5):
        assert learner.learn(np.array([0.7])) == 0.7
    assert learner.regret == pytest.approx(0.0, abs=1e-15)
    assert learner.bound == 0.0
