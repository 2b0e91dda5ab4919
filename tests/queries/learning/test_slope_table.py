"""Tables of slopes: what is read off them holds for every row there could be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.errors import Unaskable
from unworn.queries import parse
from unworn.queries.learning.argmin import Curvature, Gradient, Risk
from unworn.queries.learning.linear_features import Feature
from unworn.queries.learning.linear_losses import LinearLoss
from unworn.queries.learning.slope_table import FORMS, SlopeTable
from unworn.rows import Sample

GOOD = {"name": "own", "form": "margin", "reach": 2.0, "start": 3.0, "slopes": (-1.0, -0.5, 0.0)}

slopes = st.lists(st.floats(-5, 5), min_size=3, max_size=9).map(sorted).map(tuple)


@settings(deadline=None)
@given(st.sampled_from(FORMS), slopes, st.floats(0.5, 8.0), st.floats(0.0, 12.0), st.integers(0, 2**32))
def test_values_and_slopes_stay_within_what_the_table_says(
    form: Any, rising: tuple[float, ...], reach: float, largest: float, seed: int
) -> None:
    table = SlopeTable("own", form, reach, 1.0, rising)
    rng = np.random.default_rng(seed)
    score = np.concatenate([rng.uniform(-largest, largest, 50), [-largest, 0.0, largest]])
    for truth in (np.sign(rng.uniform(-1, 1, score.size)), rng.uniform(-1, 1, score.size)):
        assert (np.abs(table.by_score(score, truth)) <= table.steepest(largest) + 1e-9).all()
        losses = table.loss(score, truth)
        assert (losses <= table.worst(largest)).all()
        assert (losses >= table.lowest(largest)).all()


@settings(deadline=None)
@given(slopes, st.floats(0.5, 8.0), st.floats(-20, 20), st.floats(-20, 20))
def test_values_are_the_integral_of_the_slope_and_convex(
    rising: tuple[float, ...], reach: float, one: float, other: float
) -> None:
    table = SlopeTable("own", "residual", reach, 1.0, rising)
    first, second = table.values(np.array([one, other]))
    steep = table.slope(np.array([one]))[0]
    assert second >= first + steep * (other - one) - 1e-9 * (1 + abs(first) + abs(second) + abs(steep) * 40)
    between = np.linspace(one, other, 4001)
    assert np.trapezoid(table.slope(between), between) == pytest.approx(second - first, abs=2e-3 + 1e-9)


def test_the_least_value_is_reached() -> None:
    """Not only a bound: (u² - 1/4)/2 is least at 0, or with truth·score taken off at ±1."""
    squared = tuple(np.linspace(-2.0, 2.0, 9))
    plain, tilted = (SlopeTable("own", form, 2.0, 1.875, squared) for form in ("residual", "score"))
    assert plain.lowest(1.0) == pytest.approx(-0.125, abs=1e-6)
    assert tilted.lowest(2.0) == pytest.approx(-0.625, abs=1e-6)
    assert tilted.lowest(0.5) == pytest.approx(-0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"form": "ratio"}, "margin"),
        ({"slopes": (0.0, 1.0)}, "places"),
        ({"slopes": tuple(range(4000))}, "places"),
        ({"slopes": (0.0, 1.0, 0.5)}, "not convex: its slope falls from 1 at 0 to 0.5 at 2"),
        ({"slopes": (0.0, math.nan, 1.0)}, "number"),
        ({"slopes": (0.0, 1.0, 1e7)}, "slope"),
        ({"slopes": ("0", 1.0, 2.0)}, "number"),
        ({"reach": 0.0}, "reach"),
        ({"reach": math.inf}, "number"),
        ({"start": 1e9}, "start"),
        ({"strongly": -1.0}, "strongly"),
        ({"strongly": 0.3}, "bends by 0.25"),
        ({"smoothness": 0.2}, "smoothness=0.25"),
        ({"distance": -1.0}, "distance"),
        ({"name": 5}, "name"),
    ],
)
def test_tables_that_do_not_hold_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(Unaskable, match=words):
        SlopeTable(**(GOOD | change))


def own(**settings: Any) -> LinearLoss:
    table = SlopeTable(**(GOOD | settings))
    target: dict[str, Any] = {"positive": 1} if table.form == "margin" else {"range": (0.0, 2.0)}
    return LinearLoss("own", (Feature("a", -1.0, 1.0),), "y", table=table, **target)


@pytest.mark.parametrize("form", FORMS)
def test_questions_come_back_from_their_json(form: str) -> None:
    loss = own(form=form, strongly=0.25, smoothness=0.5)
    for question in (Gradient(loss, (0.5, 1.0), 1), Risk(loss, (0.5, 1.0)), Curvature(loss, (0.5, 1.0), 0, 1)):
        again = parse(question.to_json())
        assert again == question
        assert again.fingerprint == question.fingerprint


def test_another_table_is_another_question() -> None:
    at = (0.5, 1.0)
    told = {Risk(own(**change), at).fingerprint for change in ({}, {"start": 3.5}, {"slopes": (-1.0, -0.6, 0.0)})}
    assert len(told) == 3


def test_a_table_belongs_to_a_loss_of_ones_own_alone() -> None:
    for kind, table in (("own", None), ("logistic", SlopeTable(**GOOD))):
        with pytest.raises(Unaskable, match="table"):
            LinearLoss(kind, (), "y", positive=1, table=table)  # type: ignore[arg-type]
    data = own().to_json()
    data["table"]["slopes"] = "many"
    with pytest.raises(Unaskable, match="table"):
        LinearLoss.from_json(data)


@pytest.mark.parametrize("form", FORMS)
def test_values_on_rows_are_inside_the_bounds_whatever_stands_there(form: str) -> None:
    a, y = np.array([0.2, np.nan, np.inf, -9.0, 1.0]), np.array([1.0, 0.0, np.nan, 2.0, 1e300])
    rows = Sample.read({"a": a}, y)
    loss = own(form=form, strongly=0.25)
    for question in (Gradient(loss, (0.5, 1.0), 1), Risk(loss, (0.5, 1.0)), Curvature(loss, (0.5, 1.0), 0, 1)):
        facts = question.facts(rows.schema, rows.size)
        assert facts.low <= rows.means([question])[0] <= facts.high
