"""Certificates by curvature: never below the true excess, on risks that are known exactly; narrower than without."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learn.test_descent import FEATURES, Population
from unworn import Holdout
from unworn.errors import Exhausted, Unaskable
from unworn.learn import Ball, Box, Curvature, Stump, hinge, least_squares, logistic, minimise
from unworn.learn.curvature import everywhere, how_many, least, questions, rise
from unworn.learn.iteration_plan import plan_descent
from unworn.mechanisms import Gaussian, GuessAndCheck
from unworn.queries.learning.argmin import gradient
from unworn.rows import Sample

SQUARED, LOGISTIC = least_squares(FEATURES, range=(-1.0, 1.0)), logistic(FEATURES)


@dataclass
class Told:
    low: float
    high: float


class Exact:
    """The risk over a few rows, with its first and second derivatives."""

    def __init__(self, seed, smooth):
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(4, 60))
        self.x = np.column_stack([np.ones(rows), rng.uniform(-1, 1, (rows, 2)) * rng.choice([1.0, 0.3], 2)])
        self.y = rng.choice([-1.0, 1.0], rows) if smooth else rng.uniform(-1, 1, rows)
        self.loss, self.smooth = (LOGISTIC if smooth else SQUARED), smooth

    def risk(self, at):
        score = self.x @ at
        return np.mean(np.logaddexp(0, -self.y * score) if self.smooth else (score - self.y) ** 2 / 2)

    def slope(self, at):
        score = self.x @ at
        by_score = -self.y * np.exp(-np.logaddexp(0, self.y * score)) if self.smooth else score - self.y
        return self.x.T @ by_score / len(self.y)

    def bends(self, at):
        score = self.x @ at
        small = np.exp(-np.abs(score))
        weight = small / (1 + small) ** 2 if self.smooth else np.ones(len(score))
        return (self.x * weight[:, None]).T @ self.x / len(self.y)

    def lowest(self, start):
        """By Newton's steps, halved until they go down: as low as it gets, or so low that it tells."""
        at = start
        for _ in range(30):
            step = np.linalg.lstsq(self.bends(at), self.slope(at), rcond=None)[0]
            size = 1.0
            while size > 1e-9 and self.risk(at - size * step) > self.risk(at):
                size /= 2
            at = at - size * step if size > 1e-9 else at
        return self.risk(at)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.booleans(), st.floats(0, 0.1), st.floats(0, 0.05))
def test_no_risk_falls_further_than_the_rise_allows(seed, smooth, wider, lower):
    world, rng = Exact(seed, smooth), np.random.default_rng(seed)
    at = rng.normal(size=3) * rng.choice([0.1, 1.0])
    if seed % 3:  # near the minimum, where it is of use
        for _ in range(20):
            at = at - np.linalg.lstsq(world.bends(at) + 0.01 * np.eye(3), world.slope(at), rcond=None)[0]
            at = np.clip(at, -5, 5)
    told = rise(world.loss, world.bends(at) - lower * np.eye(3), np.abs(world.slope(at)) + wider)
    assert world.risk(at) - world.lowest(at) <= told + 1e-12
    for other in at + rng.normal(size=(20, 3)) * 2:
        assert world.risk(at) - world.risk(other) <= told + 1e-12


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.booleans())
def test_the_risk_is_as_convex_over_the_region_as_is_said(seed, smooth):
    world, rng, over = Exact(seed, smooth), np.random.default_rng(seed), Ball(2.0)
    at = over.project(rng.normal(size=3))
    furthest = over.largest(3) + float(np.abs(at).sum())
    strong = everywhere(world.loss, float(np.linalg.eigvalsh(world.bends(at))[0]), furthest)
    for _ in range(30):
        other = over.project(rng.normal(size=3) * 3)
        off = other - at
        assert world.risk(other) >= world.risk(at) + world.slope(at) @ off + strong / 2 * off @ off - 1e-12


def test_in_one_dimension_a_square_is_met_exactly():
    one = least_squares({"a": (-1, 1)}, range=(-1, 1), intercept=False)
    assert rise(one, np.array([[0.5]]), np.array([0.2])) == pytest.approx(0.04, rel=1e-8)
    assert rise(one, np.array([[0.0]]), np.array([0.2])) == math.inf


def test_a_logistic_rise_is_that_of_its_series():
    """Where the two ways of working it out meet, and against the maximum it is a formula for."""
    one = logistic({"a": (-1, 1)}, intercept=False)
    for slope in (1e-4, 0.00999 * 0.2, 0.01001 * 0.2, 0.1, 0.19):
        steps = np.linspace(0, 40, 400_001)
        wanted = np.max(slope * steps - 0.2 * (np.exp(-steps) + steps - 1))
        assert rise(one, np.array([[0.2]]), np.array([slope])) == pytest.approx(wanted, rel=1e-4)
    assert rise(one, np.array([[0.2]]), np.array([0.2])) == math.inf


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_the_least_matrix_lies_below_all_that_the_answers_allow(seed):
    rng = np.random.default_rng(seed)
    raw, widths = rng.uniform(-1, 1, (2, 4, 4))
    middle, widths = (raw + raw.T) / 2, np.abs(widths + widths.T) / 2
    ends = {(i, j): (middle[i, j], widths[i, j]) for i in range(4) for j in range(i, 4)}
    below = least(4, {place: Told(at - width, at + width) for place, (at, width) in ends.items()})
    for _ in range(20):
        signs = rng.choice([-1.0, 1.0], 4)
        worst = np.outer(signs, signs) * widths * rng.choice([1.0, rng.random()])
        assert np.linalg.eigvalsh(middle - worst - below)[0] >= 0


@pytest.mark.parametrize("loss", [SQUARED, LOGISTIC, logistic([Stump("a", 0.1), Stump("b", 0.0)], intercept=False)])
def test_curvature_is_the_derivative_of_the_gradient(loss):
    rng = np.random.default_rng(2)
    sample = Sample.read({"a": rng.normal(size=300), "b": rng.normal(size=300)}, rng.integers(0, 2, 300))
    at, step = rng.normal(size=loss.dimension) * 0.3, 1e-6
    for row in range(loss.dimension):
        ahead, behind = at.copy(), at.copy()
        ahead[row] += step
        behind[row] -= step
        difference = (sample.means(gradient(loss, ahead)) - sample.means(gradient(loss, behind))) / (2 * step)
        told = sample.means([Curvature(loss, tuple(at), row, column) for column in range(loss.dimension)])
        assert told == pytest.approx(difference, abs=1e-7)
    assert Curvature(loss, tuple(at), 0, 1) == Curvature(loss, tuple(at), 1, 0)


@pytest.mark.parametrize(("loss", "over", "classes"), [(SQUARED, Ball(1.0), False), (LOGISTIC, Ball(3.0), True)])
def test_the_excess_over_a_known_population_is_within_a_narrower_certificate(loss, over, classes):
    """A simulation, at a confidence for which a false alarm is rarer than one in a million."""
    world = Population(3, classes)
    asks = 12 * loss.dimension + len(questions(loss, (0.0,) * loss.dimension))
    found = {
        curved: minimise(
            world.holdout(300_000 if classes else 600_000, 5, mechanism=Gaussian(), asks=asks),
            loss,
            over,
            iterations=12,
            curved=curved,
            risk=False,
        )
        for curved in (False, True)
    }
    best = world.best(loss, over, 0.0)
    for one in found.values():
        assert world.risk(loss, one.coefficients, 0.0) - best <= one.excess
        assert one.excess == pytest.approx(one.regret + one.error)
    assert found[True].asks == asks
    if not classes:  # where the curvature is largest
        assert found[True].picked.endswith("by its curvature")
        assert found[True].certificate["theorem"].endswith("the curvature asked for at the point")
        assert found[True].excess < 0.5 * found[False].excess


def test_where_the_minimum_lies_on_the_edge():
    world, over = Population(3, False), Box(-0.2, 0.2)
    holdout = world.holdout(300_000, 5, mechanism=Gaussian(), asks=60)
    found = minimise(holdout, SQUARED, over, iterations=12, curved=True, risk=False)
    excess = world.risk(SQUARED, found.coefficients, 0.0) - world.best(SQUARED, over, 0.0)
    assert -1e-9 <= excess <= found.excess


def test_it_is_planned_for_and_refused_before_anything_is_asked():
    world = Population(3, True)
    holdout = world.holdout(5_000, 5, mechanism=Gaussian(), asks=12)
    for loss, more in ((hinge(FEATURES), {}), (LOGISTIC, {"blocks": 3})):
        with pytest.raises(ValueError, match="curved=True needs"):
            minimise(holdout, loss, Ball(1.0), iterations=1, curved=True, **more)
    with pytest.raises(Exhausted):
        minimise(holdout, LOGISTIC, Ball(1.0), iterations=2, curved=True)
    assert holdout.meter.asked == 0
    found = minimise(holdout, LOGISTIC, Ball(1.0), curved=True)
    assert (found.iterations, holdout.meter.asked) == (1, 10)
    plans = [plan_descent(10**6, LOGISTIC, Ball(1.0), iterations=20, curved=curved).asks for curved in (False, True)]
    assert plans == [61, 67]


def test_what_is_asked_is_counted_without_being_made():
    stumps = [Stump("a", 0.1), Stump("b", 0.0)]
    for make in (logistic, lambda *a, **k: least_squares(*a, range=(-1, 1), **k)):
        for features in (FEATURES, stumps):
            for intercept in (True, False):
                loss = make(features, intercept=intercept)
                assert how_many(loss) == len(questions(loss, (0.0,) * loss.dimension))


def test_a_certificate_names_what_it_rests_on():
    """Rows that a score tells apart, at a risk near 0: that the loss is never negative says more than its curvature."""
    x = np.tile([-1.0, 1.0], 50_000)
    holdout = Holdout({"a": x}, x > 0, mechanism=GuessAndCheck(), asks=100, ledger=None)
    found = minimise(holdout, logistic({"a": (-1, 1)}, intercept=False), Ball(30.0), iterations=40, curved=True)
    assert found.picked.endswith("by its risk")
    assert "curvature" not in found.picked + found.certificate["theorem"]
    assert found.certificate["theorem"].endswith("since no loss is below its least value")


@pytest.mark.parametrize("place", [(-1, 0), (0, 3), (True, 0), (0.0, 1), ("0", 1)])
def test_places_are_checked(place):
    with pytest.raises(Unaskable):
        Curvature(LOGISTIC, (0.0, 0.0, 0.0), *place)
