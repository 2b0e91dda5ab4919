"""DuckDB works out gradients, risks and responsibilities as NumPy does."""

from __future__ import annotations

import math
import tempfile

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rows.sql.conformance import table_of
from tests.rows.sql.gradients import agree_gradients, agree_on, asked_of
from unworn.errors import Unaskable
from unworn.queries.learning.argmin import Gradient, Risk, gradient
from unworn.queries.learning.linear_losses import Feature, hinge, least_squares, logistic
from unworn.queries.learning.mixture_moments import Mixture, Moment
from unworn.rows.sql.duckdb.duckdb_engine import DuckDB
from unworn.rows.sql.sql_batch import columns_of, plain_question, statement

seeds = st.integers(0, 2**32)


def relation(table: pa.Table) -> DuckDB:
    return DuckDB(duckdb.from_arrow(table))


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seeds)
def test_duckdb_agrees_with_numpy(seed):
    agree_gradients(relation, seed)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seeds, seeds)
def test_so_it_does_on_parquet(rows, asked):
    """Whose smallest and largest values, NaN left out, DuckDB believes."""
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table_of(rows), f"{folder}/rows.parquet")
        agree_on(lambda _: DuckDB(f"duckdb:{folder}/rows.parquet"), table_of(rows), asked_of(asked))


def test_a_score_far_out_does_not_overflow():
    """At 1e6 a score's exponential is infinite, and its inverse 0: neither is ever worked out."""
    engine = relation(pa.table({"a": [1.0, -1.0, None, math.nan, 1e308], "y": [0, 0, 1, 1, 0]}))
    loss = logistic({"a": (-1.0, 1.0)}, intercept=False)
    slope, risk = (float(total) for total in engine.sums([Gradient(loss, (1e6,), 0), Risk(loss, (1e6,))]))
    assert slope == pytest.approx(2.0)  # two rows on the wrong side, and -1 and two missing that pull nowhere
    assert risk == pytest.approx(2e6 + 2 * math.log(2))


def test_small_losses_keep_their_digits():
    """1 + 1e-9 has lost a part of what is added, and its logarithm with it: 8e-8 of it. The grid is finer than that."""
    engine = relation(pa.table({"a": [1.0], "y": [1]}))
    size = 9 * math.log(10)
    (total,) = engine.sums([Risk(logistic({"a": (-1.0, 1.0)}, intercept=False), (size,))])
    assert float(total) == pytest.approx(math.log1p(math.exp(-size)), rel=1e-8, abs=0.0)


def test_scores_have_the_same_bits():
    """From left to right 0.1 + 0.2 + 0.7 is 1, where the hinge has no slope; the other way round it is less."""
    engine = relation(pa.table({"a": [1.0], "b": [1.0], "c": [1.0], "y": [1]}))
    loss = hinge({"a": (-1, 1), "b": (-1, 1), "c": (-1, 1)}, intercept=False)
    told = engine.sums([Gradient(loss, at, 0) for at in ((0.1, 0.2, 0.7), (0.7, 0.2, 0.1))])
    assert [float(total) for total in told] == [0.0, -1.0]


def test_a_label_may_end_in_a_nul():
    table = pa.table({"a": [1.0, 0.5, 1.0], "y": ["n", "n\0", ""]})
    question = Gradient(logistic({"a": (-1, 1)}, positive="n\0", intercept=False), (0.0,), 0)
    engine = relation(table)
    assert float(engine.sums([question])[0]) == question.values(engine.draw(np.arange(3), ["a", "y"])).sum() == 0.75


def test_three_hundred_features_stay_shallow():
    names = {f"x{place}": (-1.0, 1.0) for place in range(300)}
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(-1, 1, 50) for name in names}
    columns["y"] = rng.integers(0, 2, 50)
    engine = relation(pa.table(columns))
    asked = [Gradient(hinge(names), rng.normal(size=301), place) for place in (0, 300)]
    told = statement(asked, engine._held, "duckdb")
    assert len(told.layers) < 8
    rows = engine.draw(np.arange(50), list(columns))
    for query, total in zip(asked, engine.sums(asked), strict=True):
        assert float(total) == pytest.approx(math.fsum(query.values(rows)), abs=1e-12)


def test_what_a_batch_shares_is_worked_out_once():
    engine = relation(pa.table({"a": [0.5], "b": [0.5], "y": [1.0]}))
    loss = least_squares({"a": (-1, 1), "b": (-1, 1)}, range=(0, 1))
    alone = statement([Gradient(loss, (0.1, 0.2, 0.3), 1)], engine._held, "duckdb")
    together = statement(gradient(loss, (0.1, 0.2, 0.3)), engine._held, "duckdb")
    assert together.layers == alone.layers


def test_they_say_which_columns_they_read():
    loss = logistic({"a": (0, 1), "b": (0, 1)}, "label")
    assert columns_of(Gradient(loss, (0, 0, 0), 1)) == ("a", "b", "label")


def test_a_mixture_too_long_for_a_statement_is_refused():
    features = tuple(Feature(f"x{place}", 0, 1) for place in range(201))
    means = ((0.0,) * 201,) * 10
    mixture = Mixture(features, (0.1,) * 10, means, tuple(tuple(1.0 for _ in row) for row in means))
    with pytest.raises(Unaskable, match="too long"):
        plain_question(Moment(mixture, 0, 0, 0))
