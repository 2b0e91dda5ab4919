"""minimise: its certificate against populations that are known exactly, and everything it refuses."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn import Holdout
from unworn.errors import Exhausted, Unaskable, UnwornError
from unworn.learn import Ball, Box, L1Ball, Simplex, Stump, hinge, least_squares, logistic, minimise, pinball
from unworn.learn.descent_methods import Scheme
from unworn.learn.excess_risk import Path, certify_excess, regret
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import BoundedNoise, Gaussian, GuessAndCheck, Naive
from unworn.queries.learning.argmin import Risk
from unworn.rows import Sample

REGIONS = [Ball(1.5), Box(-1.0, 0.5), Simplex(2.0), L1Ball(1.5)]
FEATURES = {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}
SURE = 1 - 1e-8  # so that all certificates of this file together fail by chance less than once in a million


class Population:
    """A hundred equally likely rows, known exactly: what is promised about it can be checked."""

    def __init__(self, seed, classes):
        rng = np.random.default_rng(seed)
        self.x = rng.uniform(-1, 1, (100, 2))
        score = 2 * self.x[:, 0] - self.x[:, 1]
        chance = 1 / (1 + np.exp(-2 * score))
        self.y = (rng.random(100) < chance).astype(float) if classes else np.clip(score / 3, -1, 1)
        self.all = Sample.read({"a": self.x[:, 0], "b": self.x[:, 1]}, self.y)

    def holdout(self, n, seed, **terms):
        drawn = np.random.default_rng(seed).integers(0, 100, n)
        columns = {"a": self.x[drawn, 0], "b": self.x[drawn, 1]}
        store = SeededStore(np.random.default_rng(seed + 1))
        return Holdout(columns, self.y[drawn], ledger=store, **{"confidence": SURE} | terms)

    def risk(self, loss, at, ridge):
        at = np.asarray(at, dtype=float)
        return float(self.all.means([Risk(loss, tuple(at))])[0]) + ridge / 2 * float(at @ at)

    def best(self, loss, over, ridge):
        """A risk that is nearly the least: by many random points, and then by looking closer around the best."""
        rng, point = np.random.default_rng(0), over.start(loss.dimension)
        least = self.risk(loss, point, ridge)
        for step in range(400):
            other = over.project(point + rng.normal(size=loss.dimension) * 0.5 * 0.985**step)
            value = self.risk(loss, other, ridge)
            if value < least:
                point, least = other, value
        return least


CASES = [
    (logistic(FEATURES), Ball(3.0), 0.0, True),
    (logistic(FEATURES), Ball(3.0), 0.1, True),
    (logistic(FEATURES, intercept=False), L1Ball(3.0), 0.0, True),
    (logistic([Stump("a", c) for c in (-0.5, 0.0, 0.5)] + [Stump("b", 0.0)]), L1Ball(2.0), 0.0, True),
    (hinge(FEATURES), Box(-1.0, 1.0), 0.0, True),
    (hinge(FEATURES), Ball(2.0), 1.0, True),
    (least_squares(FEATURES, range=(-1.0, 1.0)), Ball(1.0), 0.0, False),
    (least_squares(FEATURES, range=(-1.0, 1.0), intercept=False), Simplex(1.0), 0.0, False),
    (pinball(FEATURES, range=(-1.0, 1.0), quantile=0.7), Ball(1.0), 0.0, False),
    (pinball(range=(-1.0, 1.0), quantile=0.7), Box(-1.0, 1.0), 0.5, False),
]


@pytest.mark.parametrize(("loss", "over", "ridge", "classes"), CASES)
def test_the_excess_over_a_known_population_is_within_the_certificate(loss, over, ridge, classes):
    world = Population(3, classes)
    holdout = world.holdout(100_000, 5, mechanism=Gaussian(), asks=30 * loss.dimension + 1)
    found = minimise(holdout, loss, over, ridge=ridge)
    truth = world.risk(loss, found.coefficients, ridge)
    assert truth - world.best(loss, over, ridge) <= found.excess
    assert found.excess == pytest.approx(found.regret + found.error)
    assert found.risk[1] <= world.risk(loss, found.coefficients, 0.0) <= found.risk[2]
    assert np.allclose(over.project(np.array(found.coefficients)), found.coefficients, atol=1e-9)
    assert found.iterations == 30
    assert holdout.meter.asked <= found.asks == 30 * loss.dimension + 1  # at a corner seen before the answer is free
    # And it is of some use: the start is not where it ends, and it ends lower.
    assert truth < world.risk(loss, over.start(loss.dimension), ridge)


@pytest.mark.parametrize("mechanism", [GuessAndCheck(), BoundedNoise()])
def test_any_mechanism_that_promises_will_do(mechanism):
    world, loss, over = Population(4, True), logistic(FEATURES), Ball(3.0)
    found = minimise(world.holdout(100_000, 6, mechanism=mechanism, asks=61), loss, over, ridge=0.05)
    assert world.risk(loss, found.coefficients, 0.05) - world.best(loss, over, 0.05) <= found.excess < 10


def test_nothing_is_promised_where_the_mechanism_promises_nothing():
    found = minimise(
        Population(4, True).holdout(500, 1, mechanism=Naive()), logistic(FEATURES), Ball(1.0), iterations=3
    )
    assert found.excess == np.inf
    assert found.certificate["excess"] is None
    json.dumps(found.certificate, allow_nan=False)


def test_blocks_of_coordinates_by_a_public_seed():
    world, loss, over = Population(3, True), hinge(FEATURES), Ball(2.0)
    runs = [
        minimise(
            world.holdout(20_000, 5, mechanism=Gaussian(), asks=400),
            loss,
            over,
            blocks=3,
            seed=9,
            luck=1 - 1e-8,
            risk=False,
        )
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert runs[0].iterations == 400
    assert runs[0].confidence == pytest.approx(1 - 2e-8, abs=1e-12)
    assert world.risk(loss, runs[0].coefficients, 0) - world.best(loss, over, 0) <= runs[0].excess
    assert any("seed" in words for words in runs[0].assumptions)


def test_the_theorem_sets_the_iterations():
    world, loss, over = Population(3, True), logistic(FEATURES), Ball(2.0)
    found = minimise(world.holdout(5_000, 5, mechanism=GuessAndCheck()), loss, over, excess=0.1, risk=False)
    (scheme,) = Scheme.all(loss, over)
    assert found.iterations == scheme.iterations(0.1) == 15
    assert found.promise <= 0.1
    assert found.asks == 45
    assert found.risk is None


@pytest.mark.parametrize("ridge", [1e-323, 1e-15, 1e-3])
def test_a_tiny_penalty_puts_no_excess_out_of_reach(ridge):
    for loss in (hinge(FEATURES), logistic(FEATURES), least_squares(FEATURES, range=(-1, 1))):
        free, held = (Scheme.fewest(loss, Ball(2.0), 0.2, penalty) for penalty in (0.0, ridge))
        assert held <= free * 1.01
        assert Scheme.best(loss, Ball(2.0), held, ridge).regret(held) <= 0.2 * (1 + 1e-9)
    with pytest.raises(ValueError):
        Scheme.fewest(loss, Ball(2.0), float("nan"), ridge)


def test_a_repeat_is_free_and_the_result_the_same():
    world, loss = Population(3, True), logistic(FEATURES)
    holdout = world.holdout(5_000, 5, mechanism=Gaussian(), asks=100)
    first = minimise(holdout, loss, Ball(1.0), iterations=5)
    asked = holdout.meter.asked
    second = minimise(holdout, loss, Ball(1.0), iterations=5)
    assert (first.coefficients, first.excess) == (second.coefficients, second.excess)
    assert holdout.meter.asked == asked


def test_certificates_are_plain_and_survive_pickling(tmp_path):
    found = minimise(
        Population(3, True).holdout(5_000, 5, mechanism=Gaussian(), asks=16), logistic(FEATURES), Ball(1.0)
    )
    assert pickle.loads(pickle.dumps(found)) == found
    found.save(tmp_path / "card.json")
    found.save(tmp_path / "card.json")  # over its like, and over nothing else
    diary = tmp_path / "diary.json"
    diary.write_text("dear diary")
    for path in (diary, tmp_path, tmp_path / "rows.db-wal", 3, "a\0"):
        with pytest.raises(UnwornError, match="could not be written"):
            found.save(path)
    assert diary.read_text() == "dear diary"
    card = json.loads((tmp_path / "card.json").read_text())
    assert card["excess"] == found.excess
    assert card["theorem"].startswith("O3")
    assert "at most" in str(found)
    intercept, slopes = found.raw
    assert intercept == found.coefficients[0]
    assert slopes.tolist() == list(found.coefficients[1:])


@pytest.mark.filterwarnings("ignore:.*repeat another row exactly")  # fifty draws from a hundred rows
def test_what_is_refused_is_refused_before_anything_is_asked():
    world = Population(3, True)
    holdout = world.holdout(5_000, 5, mechanism=Gaussian(), asks=10)
    loss = logistic(FEATURES)
    for wrong, error in (
        ({"iterations": 4}, Exhausted),
        ({"iterations": 0}, ValueError),
        ({"iterations": True}, ValueError),
        ({"iterations": 1, "excess": 0.1}, ValueError),
        ({"excess": float("nan")}, ValueError),
        ({"ridge": -1.0}, ValueError),
        ({"ridge": float("inf")}, ValueError),
        ({"blocks": 4}, ValueError),
        ({"blocks": 2, "luck": 1.0}, ValueError),
        ({"blocks": 2, "luck": "0.9"}, ValueError),
        ({"blocks": 2, "luck": True}, ValueError),
    ):
        with pytest.raises(error):
            minimise(holdout, loss, Ball(1.0), **wrong)
    with pytest.raises(Unaskable):
        minimise(holdout, logistic({"c": (0, 1)}), Ball(1.0), iterations=1)
    with pytest.raises(ValueError, match="region"):
        minimise(holdout, loss, 1.0)
    for far in (L1Ball(2e6), Ball(1e6), Box(-1.0, 1e6), Simplex(3e6)):
        with pytest.raises(ValueError, match="smaller region"):
            minimise(holdout, loss, far, iterations=1)
    with pytest.raises(ValueError, match="iterations="):
        minimise(world.holdout(50, 5), loss, Ball(1.0))
    assert holdout.meter.asked == 0


def test_luck_and_confidence_must_leave_a_promise():
    holdout = Population(3, True).holdout(5_000, 5, mechanism=Gaussian(), asks=10, confidence=0.9)
    for luck in (0.1, 0.05, 1e-9):
        with pytest.raises(ValueError, match="promise nothing together"):
            minimise(holdout, logistic(FEATURES), Ball(1.0), blocks=3, luck=luck, iterations=2)
    assert holdout.meter.asked == 0
    found = minimise(holdout, logistic(FEATURES), Ball(1.0), blocks=3, luck=0.2, iterations=2, risk=False)
    assert found.confidence == pytest.approx(0.1)


def test_regions_just_below_the_limit_are_walked_to_the_end():
    holdout = Population(3, True).holdout(5_000, 5, mechanism=Gaussian(), asks=20)
    for over in (L1Ball(9.99999e5), Ball(9.99999e5)):
        assert minimise(holdout, least_squares(FEATURES, range=(0.0, 1.0)), over, iterations=3, risk=False).asks == 9


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), True, "1", None])
def test_regions_need_a_size(wrong):
    for kind in (Ball, Simplex, L1Ball):
        with pytest.raises(ValueError):
            kind(wrong)


def test_a_box_needs_room():
    with pytest.raises(ValueError, match="low < high"):
        Box(1.0, 1.0)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(REGIONS), st.integers(0, 10**6), st.integers(1, 6))
def test_regions_do_what_they_say(over, seed, dimension):
    rng = np.random.default_rng(seed)
    points = np.array([over.project(rng.normal(size=dimension) * 3) for _ in range(40)])
    away = rng.normal(size=dimension) * 3
    nearest, start = over.project(away), over.start(dimension)
    assert np.allclose(over.project(nearest), nearest, atol=1e-9)
    assert np.allclose(over.project(start), start, atol=1e-9)
    # A projection makes an obtuse angle with every point of the set: that is what makes it the nearest.
    assert np.all((points - nearest) @ (away - nearest) <= 1e-7)
    direction, errors = rng.normal(size=dimension), rng.random(dimension)
    assert np.all(points @ direction <= over.support(direction) + 1e-9)
    assert np.all(np.linalg.norm(points - start, axis=1) <= over.reach(dimension) + 1e-9)
    assert np.all(np.abs(points).sum(axis=1) <= over.largest(dimension) + 1e-9)
    assert np.all(np.abs(points - points[0]) @ errors <= over.doubt(points[0], errors) + 1e-9)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(REGIONS), st.integers(0, 10**6), st.floats(0, 3), st.integers(1, 5))
def test_a_certificate_covers_every_gradient_in_the_intervals_and_every_rival(over, seed, curvature, count):
    """The inequality it maximises, at random gradients inside the intervals and random points of the region."""
    rng = np.random.default_rng(seed)
    points = np.array([over.project(rng.normal(size=3)) for _ in range(count)])
    values, errors, extra = rng.normal(size=(count, 3)), rng.random((count, 3)), rng.random(count)
    weights = rng.random(count) + 0.1
    path = Path(points, values, errors, extra, weights / weights.sum())
    told = sum(certify_excess(path, over, curvature))
    exact = regret(path, over, curvature)
    for _ in range(50):
        rival = over.project(rng.normal(size=3) * 3)
        truth = values + errors * rng.uniform(-1, 1, (count, 3))
        bends = extra - curvature / 2 * np.sum((points - rival) ** 2, axis=1)
        assert path.weights @ (np.sum(truth * (points - rival), axis=1) + bends) <= told + 1e-9
        assert path.weights @ (np.sum(values * (points - rival), axis=1) + bends) <= exact + 1e-9


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(CASES), st.integers(0, 10**6), st.integers(1, 40))
def test_with_exact_answers_the_regret_is_within_the_theorem(case, seed, count):
    """The steps and weights of every method, on gradients that an adversary makes up: no more is left than promised."""
    loss, over, ridge, _ = case
    rng, dimension = np.random.default_rng(seed), loss.dimension
    for scheme in Scheme.all(loss, over, ridge):
        if scheme.method == "corners":
            continue  # no regret against an adversary: its last point is certified step by step
        steep = loss.steepest(over.largest(dimension))
        point, asked, stepped, values = over.start(dimension), [], [], []
        for place in range(count):
            value = rng.uniform(-steep, steep, dimension)
            following = scheme.step(over, point, value, place, count)
            asked.append(point)
            stepped.append(following)
            values.append(value)
            point = following
        points = np.array(stepped if scheme.method == "smooth" else asked)
        extra = scheme.smoothness / 2 * np.sum((points - np.array(asked)) ** 2, axis=1)
        extra = extra if scheme.method == "smooth" else np.zeros(count)
        path = Path(points, np.array(values) + ridge * points, np.zeros(points.shape), extra, scheme.weights(count))
        assert regret(path, over, 0.5 * ridge) <= scheme.regret(count) * (1 + 1e-6) + 1e-6
