"""Learning from rows that stay in DuckDB: the same results as from rows in memory, by every currency and estimator."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unworn import Holdout
from unworn.errors import Unaskable
from unworn.learn import Ball, Box, L1Ball, Stump, fit_mixture, hinge, least_squares, logistic, minimise, pinball
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import BoundedNoise, Gaussian, GuessAndCheck, Rounding, Subsampled
from unworn.queries.learning.argmin import Risk, gradient
from unworn.rows import Sample

BOUNDS = {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}
SURE = 1 - 1e-8  # so that all certificates of this file together fail by chance less than once in a million
CASES = [
    (logistic(BOUNDS), Ball(3.0), 0.1),
    (logistic([Stump("a", 0.0), Stump("b", 0.2)]), L1Ball(2.0), 0.0),
    (hinge(BOUNDS), Box(-1.0, 1.0), 0.0),
    (least_squares({"a": (-1.0, 1.0)}, "b", range=(-1.0, 1.0)), Ball(1.0), 0.0),
    (pinball(target="b", range=(-1.0, 1.0), quantile=0.7), Box(-1.0, 1.0), 0.5),
]


def made(n=3_000, seed=0):
    """Rows drawn from a hundred equally likely ones, some of which lack a value; and those hundred."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.2, 1.2, (100, 2))
    x[::17, 0] = np.nan
    y = (rng.random(100) < 1 / (1 + np.exp(-3 * (np.nan_to_num(x[:, 0]) - x[:, 1])))).astype(int)
    drawn = rng.integers(0, 100, n)
    return ({"a": x[drawn, 0], "b": x[drawn, 1]}, y[drawn]), Sample.read({"a": x[:, 0], "b": x[:, 1]}, y)


def in_duckdb(rows, **terms):
    columns, y = rows
    store = SeededStore(np.random.default_rng(3))
    return Holdout(duckdb.from_arrow(pa.table({**columns, "y": y})), "y", ledger=store, **terms)


def in_memory(rows, **terms):
    return Holdout(*rows, ledger=SeededStore(np.random.default_rng(3)), **terms)


@pytest.mark.parametrize("mechanism", [GuessAndCheck(unguessed="cells"), Rounding(64)], ids=["guess", "round"])
@pytest.mark.parametrize(("loss", "over", "ridge"), CASES)
def test_without_noise_the_minimum_is_that_of_rows_in_memory(loss, over, ridge, mechanism):
    """To the last bit: answers are cells of a grid, on whose edges no mean of these rows lies."""
    rows, _ = made()
    terms = {"mechanism": mechanism, "asks": 8 * loss.dimension + 1}
    there, here = (minimise(make(rows, **terms), loss, over, ridge=ridge) for make in (in_duckdb, in_memory))
    assert there.coefficients == here.coefficients
    assert (there.excess, there.risk, there.picked) == (here.excess, here.risk, here.picked)


SUBSAMPLED = Subsampled(0.0025, 3_178)
"""About what ``Subsampled.for_`` finds, in seconds, for this plan."""


@pytest.mark.parametrize("mechanism", [Gaussian(), BoundedNoise(), SUBSAMPLED], ids=lambda one: type(one).__name__)
def test_with_noise_the_certificate_covers_the_population(mechanism):
    rows, everybody = made(60_000)
    loss, over = logistic(BOUNDS), Ball(3.0)
    found = minimise(in_duckdb(rows, mechanism=mechanism, asks=25, confidence=SURE), loss, over, ridge=0.2)
    truth = float(everybody.means([Risk(loss, found.coefficients)])[0])
    assert found.risk[1] <= truth <= found.risk[2]
    point = np.zeros(3)
    for _ in range(300):  # on exact gradients, of a problem that is smooth and curved
        point = over.project(point - (everybody.means(gradient(loss, point)) + 0.2 * point))
    best = float(everybody.means([Risk(loss, tuple(point))])[0]) + 0.1 * float(point @ point)
    assert truth + 0.1 * float(np.square(found.coefficients).sum()) - best <= found.excess < 2
    assert found.coefficients[1] > 0 > found.coefficients[2]


def test_a_file_by_its_engines_name(tmp_path):
    (columns, y), _ = made()
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "rows.parquet")
    terms = {"mechanism": GuessAndCheck(unguessed="cells"), "asks": 13}
    holdout = Holdout(f"duckdb:{tmp_path / 'rows.parquet'}", "y", **{"ledger": None, **terms})
    found = minimise(holdout, logistic(BOUNDS), Ball(1.0))
    assert found.coefficients == minimise(in_memory((columns, y), **terms), logistic(BOUNDS), Ball(1.0)).coefficients
    assert holdout.meter.asked == 13


def test_a_mixture_is_fitted_where_the_rows_lie():
    rows, _ = made()
    terms = {"mechanism": GuessAndCheck(unguessed="cells"), "asks": 40}
    there, here = (
        fit_mixture(make(rows, **terms), BOUNDS, 2, iterations=4, narrowest=1e-4) for make in (in_duckdb, in_memory)
    )
    assert (there.mixture, there.weights, there.means) == (here.mixture, here.weights, here.means)


def test_what_does_not_fit_is_refused_before_anything_is_asked():
    rows, _ = made()
    holdout = in_duckdb(rows, mechanism=Gaussian(), asks=100)
    for wrong in (logistic({"c": (0, 1)}), logistic(BOUNDS, positive="yes"), logistic(BOUNDS, "z")):
        with pytest.raises(Unaskable):
            minimise(holdout, wrong, Ball(1.0), iterations=2)
    with pytest.raises(ValueError, match="smaller region"):
        minimise(holdout, logistic(BOUNDS), L1Ball(2e6), iterations=2)
    assert holdout.meter.asked == 0


def test_estimators_learn_from_it_and_say_so_where_they_cannot():
    pytest.importorskip("sklearn")
    from unworn.learn.estimators import (
        AskedGaussianMixture,
        AskedLinearRegression,
        AskedLogisticRegression,
        AskedStumps,
    )

    rows, _ = made()
    X = np.nan_to_num(np.column_stack([rows[0]["a"], rows[0]["b"]]))
    for kind, target in ((AskedLogisticRegression, "y"), (AskedStumps, "y"), (AskedLinearRegression, "b")):
        bounds = BOUNDS if target == "y" else {"a": (-1.0, 1.0)}
        there, here = (
            kind(iterations=4).learn(make(rows, mechanism=GuessAndCheck(unguessed="cells"), asks=100), bounds, target)
            for make in (in_duckdb, in_memory)
        )
        assert np.array_equal(there.predict(X[:, : len(bounds)]), here.predict(X[:, : len(bounds)]))
    mixture = AskedGaussianMixture(iterations=3, random_state=1)
    mixture.learn(
        in_duckdb(rows, mechanism=GuessAndCheck(unguessed="cells"), asks=30), {"a": (-2.0, 2.0), "b": (-1.0, 1.0)}
    )
    assert mixture.means_.shape == (2, 2)
    assert mixture.predict(X).shape == (3_000,)
    relation = duckdb.from_arrow(pa.table({**rows[0], "y": rows[1]}))
    for model in (AskedLogisticRegression(), AskedLinearRegression(), AskedGaussianMixture()):
        for rows_in_engine in (relation, "duckdb:people.parquet"):
            with pytest.raises(Unaskable, match=r"learn\(holdout"):
                model.fit(rows_in_engine, "y")
