"""Optimisation by asking: how the excess risk falls with the rows, and what an adaptive analyst does to a plain fit.

Three problems whose population is a few hundred equally likely rows, so that risks are known exactly. From n to 100 n
rows the certificate must fall at the rate of its theorem, within a factor of 2: n^-1/3 for any convex loss, n^-2/5 for
a smooth one, √T/n after T iterations for a smooth one with a penalty; and so must the true excess. The iterations are
set against the published count, and certificates by curvature against those without. All noise is seeded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from table import Row, as_json, compared, options, show
from unworn import Holdout
from unworn.bounds.optimisation import published_iterations
from unworn.lab import SeededStore
from unworn.learn import Ball, Minimum, Risk, gradient, hinge, least_squares, logistic, minimise
from unworn.learn.descent_methods import Scheme
from unworn.learn.iteration_plan import plan_descent
from unworn.mechanisms import Gaussian
from unworn.rows import Sample

BOUNDS = {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}
PROBLEMS = {
    "hinge": (hinge(BOUNDS), Ball(2.0), 0.0, 1 / 3),
    "least squares": (least_squares(BOUNDS, range=(-1.0, 1.0)), Ball(1.0), 0.0, 2 / 5),
    "logistic with a penalty": (logistic(BOUNDS), Ball(2.0), 0.25, 1.0),
}


class Population:
    """Rows that are all there is: a mean over them is the truth."""

    def __init__(self, classes: bool) -> None:
        rng = np.random.default_rng(1)
        self.x = rng.uniform(-1, 1, (400, 2))
        score = 2 * self.x[:, 0] - self.x[:, 1]
        chance = rng.random(400) < 1 / (1 + np.exp(-2 * score))
        self.y = chance.astype(float) if classes else np.clip(score / 3 + 0.1 * rng.normal(size=400), -1, 1)
        self.all = Sample.read({"a": self.x[:, 0], "b": self.x[:, 1]}, self.y)

    def risk(self, problem: str, at: np.ndarray) -> float:
        loss, _, ridge, _ = PROBLEMS[problem]
        return float(self.all.means([Risk(loss, tuple(at))])[0]) + ridge / 2 * float(at @ at)

    def best(self, problem: str) -> float:
        """By descent on the exact gradient: with the steps of a smooth loss where it is one, else with falling ones."""
        loss, over, ridge, _ = PROBLEMS[problem]
        point = over.start(loss.dimension)
        least = self.risk(problem, point)
        for step in range(4_000):
            slope = self.all.means(gradient(loss, point)) + ridge * point
            rate = 1 / math.sqrt(step + 1) if loss.bend is None else 1 / (loss.bend * loss.dimension + ridge)
            point = over.project(point - rate * slope)
            least = min(least, self.risk(problem, point))
        return least

    def fit(self, problem: str, rows: int, seed: int) -> Minimum:
        loss, over, ridge, _ = PROBLEMS[problem]
        plan = plan_descent(rows, loss, over, ridge=ridge)
        holdout = self.holdout(rows, plan.asks, seed)
        return minimise(holdout, loss, over, ridge=ridge, iterations=plan.iterations, risk=False)

    def holdout(self, rows: int, asks: int, seed: int) -> Holdout:
        rng = np.random.default_rng(seed)
        drawn = rng.integers(0, len(self.x), rows)
        columns = {"a": self.x[drawn, 0], "b": self.x[drawn, 1]}
        return Holdout(columns, self.y[drawn], mechanism=Gaussian(), asks=asks, ledger=SeededStore(rng))


def rates(quick: bool) -> Iterator[Row]:
    few, many = (3_000, 30_000) if quick else (10_000, 1_000_000)
    for problem, (loss, over, ridge, power) in PROBLEMS.items():
        world = Population(loss.classifies)
        least = world.best(problem)
        found = {rows: world.fit(problem, rows, seed=rows) for rows in (few, many)}
        # With a penalty the error is that of the widths, squared: the root of the iterations over the rows.
        grown = math.sqrt(found[many].iterations / found[few].iterations) if ridge else 1.0
        goal = 2.0 * (few / many) ** power * grown
        told, truth = ({} for _ in range(2))
        for rows, one in found.items():
            told[rows], truth[rows] = one.excess, world.risk(problem, np.array(one.coefficients)) - least
        yield compared(f"{problem}: certificate at {many:,} rows over {few:,}", told[many], told[few], goal)
        # On a few thousand rows what is left by chance is no rate yet.
        yield compared(
            f"{problem}: true excess at {many:,} rows over {few:,}", truth[many], truth[few], None if quick else goal
        )
        for rows in found:
            yield compared(f"{problem}: true excess over certificate at {rows:,} rows", truth[rows], told[rows], 1.0)
        one = found[many]
        scheme = Scheme.best(loss, over, one.iterations, ridge)
        strongly = scheme.method != "convex"
        unit = scheme.lipschitz * scheme.reach if not strongly else scheme.smoothness * scheme.reach**2 / 2
        published = published_iterations(one.promise / unit, one.asks, 0.05, strongly=strongly)
        yield compared(f"{problem}: iterations over the published", one.iterations, published, 1.0)


def curved(quick: bool) -> Iterator[Row]:
    """Without a penalty, the curvature that is asked for makes certificates of smooth losses smaller."""
    rows, iterations = (100_000, 20) if quick else (1_000_000, 20)
    for loss, over in (
        (least_squares(BOUNDS, range=(-1.0, 1.0)), Ball(1.0)),
        (logistic(BOUNDS), Ball(2.0)),
    ):
        world = Population(loss.classifies)
        asks = loss.dimension * iterations + loss.dimension * (loss.dimension + 1) // 2
        found = {
            bends: minimise(
                world.holdout(rows, asks, rows), loss, over, iterations=iterations, curved=bends, risk=False
            )
            for bends in (True, False)
        }
        # The goal is for as many rows as make it worth its asks.
        goal = None if quick and loss.classifies else 0.5
        yield compared(
            f"{loss.kind}: certificate by curvature over the one without, {rows:,} rows",
            found[True].excess, found[False].excess, goal,
        )  # fmt: skip


def adaptive(quick: bool) -> Iterator[Row]:
    """Labels are coins. The analyst looks for the features that go with them, and fits on those, on the same rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    rows, columns, kept = (4_000, 200, 20) if quick else (20_000, 1_000, 60)
    rng = np.random.default_rng(5)
    X, y = rng.uniform(-1, 1, (rows, columns)), rng.integers(0, 2, rows)
    fresh, coins = rng.uniform(-1, 1, (rows, columns)), rng.integers(0, 2, rows)
    tilt = X.T @ (2 * y - 1)
    chosen = np.argsort(-np.abs(tilt))[:kept]
    plain = LogisticRegression(C=np.inf, max_iter=1000).fit(X[:, chosen], y)
    yield compared("plain fit: its own log-loss over the true one", log_loss(y, plain.predict_proba(X[:, chosen])),
                   log_loss(coins, plain.predict_proba(fresh[:, chosen])))  # fmt: skip
    yield compared("plain fit: its own accuracy over the true one", plain.score(X[:, chosen], y),
                   plain.score(fresh[:, chosen], coins))  # fmt: skip
    off, half = abs(plain.score(X[:, chosen], y) - 0.5), 1.96 * 0.5 / math.sqrt(rows)
    yield Row("plain fit: its accuracy off the true half, in half-widths of a plain 95 % interval", off, half,
              off / half, None, None)  # fmt: skip
    iterations = 8
    every = logistic({f"x{place}": (-1.0, 1.0) for place in range(columns)}, intercept=False)
    store = SeededStore(rng)
    holdout = Holdout(X, y, mechanism=Gaussian(), asks=columns + iterations * (kept + 1) + 1, ledger=store)
    told = holdout.ask_many(gradient(every, np.zeros(columns)))
    mine = np.argsort([-abs(answer.value) for answer in told])[:kept]
    loss = logistic({f"x{place}": (-1.0, 1.0) for place in mine})
    found = minimise(holdout, loss, Ball(3.0), iterations=iterations)
    assert found.risk is not None
    score = found.coefficients[0] + fresh[:, mine] @ np.array(found.coefficients[1:])
    truth = float(np.mean(np.logaddexp(0.0, -(2 * coins - 1) * score)))
    value, low, high = found.risk
    yield compared("asked: how far the true risk lies from the middle of the interval, over its half-width",
                   abs(truth - (low + high) / 2), (high - low) / 2, 1.0)  # fmt: skip
    yield Row("asked: log-loss told, against the true one", value, truth, value / truth, None, None)


def main() -> None:
    chosen = options("Excess risk and its certificate, against the theorems and against a plain fit")
    rows = [*rates(chosen.quick), *curved(chosen.quick), *adaptive(chosen.quick)]
    print(as_json(rows)) if chosen.json else show("optimisation by asking", rows, 4)


if __name__ == "__main__":
    main()
