"""A declared finite domain: one form whatever the words, and the value of a question at every point."""

from __future__ import annotations

import json
from datetime import date, datetime
from itertools import product

import numpy as np
import pytest

from unworn import Unaskable
from unworn.queries import accuracy, col, function, mean, share
from unworn.universe.domain import Domain

EVERYTHING = Domain(
    {
        "age": [60, 20, 40],
        "plan": ["pro", "basic", None],
        "retired": [True, False],
        "joined": [date(2024, 1, 5), datetime(2023, 2, 1, 12)],
    }
)


def test_the_order_of_words_makes_no_difference():
    other = Domain({"joined": ["2024"], "age": [1]})
    assert Domain({"age": [1.0], "joined": ["2024"]}) == other
    assert Domain({"a": [3, 1, 2]}) == Domain({"a": (1, 2.0, np.int8(3))})
    assert hash(Domain({"a": [3, 1]})) == hash(Domain({"a": [1, 3]}))
    assert Domain({"a": [1]}) != Domain({"a": [2]})


def test_a_domain_survives_json():
    text = json.dumps(EVERYTHING.to_json(), sort_keys=True)
    assert Domain(json.loads(text)) == EVERYTHING
    assert EVERYTHING.size == 3 * 3 * 2 * 2


def test_values_agree_with_rows_written_out():
    columns = dict(EVERYTHING.columns)
    points = [dict(zip(columns, point, strict=True)) for point in product(*columns.values())]
    questions = {
        share((col("age") > 30) & (col("plan") == "pro")): lambda p: p["age"] > 30 and p["plan"] == "pro",
        share(col("plan").is_null() | col("retired")): lambda p: p["plan"] is None or p["retired"],
        share(col("joined") > "2023-06-01"): lambda p: p["joined"] > datetime(2023, 6, 1),
        share(col("plan") != "pro"): lambda p: p["plan"] == "basic",
        mean(col("age") / 2, range=(0, 25)): lambda p: min(p["age"] / 2, 25),
    }
    for question, meaning in questions.items():
        assert EVERYTHING.values(question).tolist() == [float(meaning(point)) for point in points]


def test_what_has_no_value_on_a_domain_is_refused_with_the_reason():
    with pytest.raises(Unaskable, match=r"no value on the declared domain: there is no column 'income'.*age, joined"):
        EVERYTHING.values(share(col("income") > 3))
    with pytest.raises(Unaskable, match="brings together"):
        EVERYTHING.values(share(col("plan") == 3))
    with pytest.raises(Unaskable, match="predictions, models and functions belong to rows"):
        EVERYTHING.values(accuracy([1, 0, 1]))
    with pytest.raises(Unaskable, match="ask share"):
        EVERYTHING.values(function(lambda rows: rows, name="all", range=(0, 1)))
    with pytest.raises(Unaskable, match="nothing to say about the points"):
        EVERYTHING.frame().pick(np.zeros(3))
    with pytest.raises(Unaskable, match="no column 'income'"):
        EVERYTHING.frame().column("income")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "mapping of columns"),
        ([1, 2], "mapping of columns"),
        ({"a": []}, "none at all"),
        ({"a": [None]}, "none at all"),
        ({"a": "abc"}, "list of its values"),
        ({"a": 3}, "list of its values"),
        ({"a": [1, "x"]}, "number and text"),
        ({"a": [1, 1.0]}, "twice"),
        ({"a": [None, 1, None]}, "twice"),
        ({"a": [float("nan")]}, "finite"),
        ({"a": [float("inf")]}, "finite"),
        ({"a": [object()]}, "cannot stand"),
    ],
)
def test_what_is_no_domain_is_refused(columns, said):
    with pytest.raises(ValueError, match=said):
        Domain(columns)
