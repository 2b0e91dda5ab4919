"""Spark works out gradients, risks, curvature and responsibilities as NumPy does."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rows.sql.conformance import table_of
from tests.rows.sql.gradients import agree_on, asked_of
from tests.rows.sql.spark.spark_sessions import COMPILED, local_session
from tests.rows.sql.spark.test_spark_conformance import frame_of
from unworn.queries.learning.argmin import Gradient, Risk, gradient
from unworn.queries.learning.linear_losses import Feature, hinge, least_squares, logistic, pinball
from unworn.rows.sql.spark.spark_engine import Spark

pytestmark = pytest.mark.spark

seeds = st.integers(0, 2**32)


@pytest.fixture(scope="module")
def session():
    with local_session() as started:
        yield started


@pytest.fixture(params=["true", "false"])
def spark(session, request):
    session.conf.set("spark.sql.ansi.enabled", request.param)
    return session


@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seeds)
def test_spark_agrees_with_numpy(spark, seed):
    """What is compiled under one setting is not under the other, and rows and losses are others."""
    seed += spark.conf.get("spark.sql.ansi.enabled") == "true"
    for name, value in COMPILED[seed % 2 == 0].items():
        spark.conf.set(name, value)
    agree_on(lambda table: Spark(frame_of(spark, table, "timestamp")), table_of(seed), asked_of(seed))


def test_a_score_far_out_does_not_overflow(spark):
    rows = Spark(spark.createDataFrame(pa.table({"a": [1.0, -1.0, None, math.nan, 1e308], "y": [0, 0, 1, 1, 0]})))
    loss = logistic({"a": (-1.0, 1.0)}, intercept=False)
    slope, risk = (float(total) for total in rows.sums([Gradient(loss, (1e6,), 0), Risk(loss, (1e6,))]))
    assert slope == pytest.approx(2.0)
    assert risk == pytest.approx(2e6 + 2 * math.log(2))


def test_rows_on_a_kink_pull_as_they_do_in_memory(spark):
    """A margin of exactly 1 pulls nowhere, and a target that is met exactly pulls down."""
    rows = Spark(spark.createDataFrame(pa.table({"a": [1.0, -1.0, 0.5, 1.0], "y": [1, 0, 1, 0]})))
    margin, level = hinge({"a": (-1.0, 1.0)}, intercept=False), pinball(target="a", range=(-1, 1), quantile=0.25)
    slope, below = rows.sums([Gradient(margin, (1.0,), 0), Gradient(level, (0.5,), 0)])
    assert (float(slope), float(below)) == (-0.5 + 1.0, 2 * 0.75 - 2 * 0.25)


@pytest.mark.parametrize("label", ["it's", 'say "x"', "back\\slash", "${y}", "x' OR '1'='1", "--", "🙂", "a"])
def test_a_label_is_a_text_and_nothing_else(spark, label):
    words = ["it's", 'say "x"', "back\\slash", "${y}", "x' OR '1'='1", "--", "🙂", "A", None]
    rows = Spark(spark.createDataFrame(pa.table({"w`; --": [1.0] * len(words), "t": words})))
    (risk,) = rows.sums([Risk(hinge({"w`; --": (-1.0, 1.0)}, "t", positive=label, intercept=False), (1.0,))])
    assert float(risk) == 2.0 * (len(words) - words.count(label))


def test_sums_reach_both_ends_of_the_grid(spark):
    """Values at the ends of their range, where halves of sums are largest."""
    frame = spark.range(100_000).selectExpr("CAST(1e300 AS DOUBLE) AS a", "CAST(-1 AS DOUBLE) AS y")
    loss = least_squares([Feature("a", -1.0, 1.0)], range=(-1.0, 1.0), intercept=False)
    for size in (1e6, -1e6, 1.0):
        (total,) = Spark(frame).sums(gradient(loss, (size,)))
        assert float(total) == 100_000 * (size + 1)
