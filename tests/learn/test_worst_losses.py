"""Answers as wrong as their intervals allow, on risks known exactly: no certificate is ever below the true excess.

No chance is involved but the choice of problems: every answer's interval holds, so that a certificate must.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.learn import Ball, Box, Curvature, Gradient, L1Ball, Simplex, least_squares, logistic, minimise
from unworn.rows import Sample


class World:
    """A population of a few kinds of rows, and an adversary who answers about it, asked as a holdout is."""

    def __init__(self, rng, smooth, wide, habit):
        self.rng, self.smooth, self.wide, self.habit = rng, smooth, wide, habit
        rows, width = int(rng.integers(2, 12)), int(rng.integers(1, 4))
        told = rng.uniform(-1, 1, (rows, width)) if rng.random() < 0.5 else rng.choice([-1.0, 0.0, 1.0], (rows, width))
        self.x = told * rng.choice([1.0, 1.0, 0.3])
        self.y = rng.choice([-1.0, 1.0], rows) if smooth else rng.uniform(-1, 1, rows)
        self.shares = rng.dirichlet(np.full(rows, rng.choice([0.1, 1.0, 10.0])))
        features = {f"a{place}": (-1.0, 1.0) for place in range(width)}
        self.loss = (
            logistic(features, intercept=False) if smooth else least_squares(features, range=(-1, 1), intercept=False)
        )
        self.meter, self.confidence = SimpleNamespace(planned=None, asked=0), 0.95
        self.name, self.size, self.asked = "world", rows, 0
        columns = {name: self.x[:, place] for place, name in enumerate(features)}
        self.terms = SimpleNamespace(schema=Sample.read(columns, self.y).schema)

    def risk(self, at, ridge=0.0):
        score = self.x @ at
        losses = np.logaddexp(0, -self.y * score) if self.smooth else (score - self.y) ** 2 / 2
        return float(self.shares @ losses) + ridge / 2 * float(at @ at)

    def slope(self, at):
        score = self.x @ at
        by_score = -self.y * np.exp(-np.logaddexp(0, self.y * score)) if self.smooth else score - self.y
        return self.x.T @ (self.shares * by_score)

    def bends(self, at):
        small = np.exp(-np.abs(self.x @ at))
        weights = self.shares * (small / (1 + small) ** 2 if self.smooth else 1.0)
        return (self.x * weights[:, None]).T @ self.x

    def best(self, over, ridge, start):
        """The least risk over the region, or a little above it, by descent with momentum that starts anew."""
        steep = float(np.linalg.eigvalsh(self.bends(np.zeros(start.size)))[-1]) + ridge + 1e-12
        at = ahead = over.project(start)
        pace = 1.0
        for _ in range(2_000):
            following = over.project(ahead - (self.slope(ahead) + ridge * ahead) / steep)
            back = (ahead - following) @ (following - at) > 0
            faster = 1.0 if back else (1 + math.sqrt(1 + 4 * pace**2)) / 2
            ahead = following if back else following + (pace - 1) / faster * (following - at)
            if np.abs(following - at).max() < 1e-14:
                break
            at, pace = following, faster
        return min(self.risk(at, ridge), self.risk(start, ridge))

    def ask_many(self, asked, by=None):
        return [self._told(query) for query in asked]

    def _told(self, query):
        at = np.array(query.at)
        match query:
            case Gradient():
                truth = self.slope(at)[query.coordinate]
            case Curvature():
                truth = self.bends(at)[query.row, query.column]
            case _:
                truth = self.risk(at)
        room = self.wide * (query.bounds[1] - query.bounds[0])
        way = {"low": 1.0, "high": -1.0, "any": self.rng.choice([-1.0, 1.0]), "flat": -np.sign(truth)}[self.habit]
        off = way * (min(room, abs(truth)) if self.habit == "flat" else room)
        self.asked += 1
        certificate = SimpleNamespace(assumptions=(), head="")
        return SimpleNamespace(
            value=truth + off, low=truth + off - abs(off), high=truth + off + abs(off), index=self.asked,
            certificate=certificate,
        )  # fmt: skip


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.integers(0, 2**32),
    st.booleans(),
    st.sampled_from([1e-5, 1e-3, 1e-2, 0.1]),
    st.sampled_from(["low", "high", "any", "flat"]),
    st.sampled_from([Ball, Box, L1Ball, Simplex]),
    st.sampled_from([0.3, 1.0, 3.0, 20.0]),
    st.sampled_from([0.0, 0.0, 0.01, 0.5]),
    st.sampled_from([1, 2, 10, 50]),
)
def test_no_certificate_is_below_the_excess(seed, smooth, wide, habit, shape, size, ridge, iterations):
    world = World(np.random.default_rng(seed), smooth, wide, habit)
    over = Box(-size, size) if shape is Box else shape(size)
    found = minimise(world, world.loss, over, ridge=ridge, iterations=iterations, curved=True, risk=False)
    at = np.array(found.coefficients)
    excess = world.risk(at, ridge) - world.best(over, ridge, at)
    assert excess <= found.excess * (1 + 1e-9) + 1e-13, (excess, found.excess, found.picked)
