"""A declared finite domain: one form whatever the words, and the value of a question at every point."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import date, datetime
from itertools import product

import numpy as np
import pytest

from unworn import Unaskable
from unworn.queries import accuracy, col, function, mean, share
from unworn.universe.domain.domain import CELLS, OTHER, Bins, Domain

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
    with pytest.raises(Unaskable, match="says nothing about the points"):
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
        ({"a": [1, OTHER]}, "OTHER is for text"),
        ({"a": [OTHER, "x", OTHER]}, "twice"),
        ({"a": ["(other)", OTHER]}, "how OTHER reads"),
        ({"a": {}}, "'edges'.*or with 'values'.*not with nothing"),
        ({"a": {"edges": [0, 1], "other": True}}, "not with 'edges', 'other'"),
        ({"a": {"edges": [1, 0]}}, "column 'a': the edges of bins must rise"),
        ({"a": {"edges": [0, 1], "whole": 1}}, "true or false"),
        ({"a": {"values": [1], "other": True}}, "OTHER is for text"),
        ({"a": {"values": 1}}, "list of its values"),
        ({1: [0, 1], "1": [0, 1]}, "names a column twice"),
        ({"origin": "rows"}, "fields origin and columns"),
        ({"origin": "nowhere", "columns": {"a": [1]}}, "origin of a domain is one of"),
        ({"origin": "rows", "columns": []}, "mapping of columns"),
    ],
)
def test_what_is_no_domain_is_refused(columns, said):
    with pytest.raises(ValueError, match=said):
        Domain(columns)


def test_old_json_stays_as_it_was():
    """What ledgers hold already: written and read as ever."""
    old = {
        "age": [20, 40, 60],
        "joined": [{"date": "2023-02-01T12:00:00"}, {"date": "2024-01-05"}],
        "plan": ["basic", "pro", None],
        "retired": [False, True],
    }
    assert EVERYTHING.to_json() == old
    assert Domain(old) == EVERYTHING
    assert Domain(old).origin == "declared"


def test_a_domain_of_every_kind_survives_json_pickles_and_repr():
    domain = Domain({"plan": ["pro", None, OTHER], "age": Bins([None, 18, 65], missing=True), "b": [True, False]})
    assert domain.to_json() == {
        "age": {"edges": [None, 18, 65], "missing": True},
        "b": [False, True],
        "plan": ["pro", {"other": True}, None],
    }
    assert Domain(json.loads(json.dumps(domain.to_json()))) == domain
    assert pickle.loads(pickle.dumps(domain)) == copy.deepcopy(domain) == domain
    assert eval(repr(domain)) == domain
    assert hash(Domain(domain.to_json())) == hash(domain)
    assert domain.labels("plan") == ("pro", "(other)", "missing")
    assert [domain.ordered(name) for name in domain.names] == [False, False, False]
    assert EVERYTHING.labels("joined") == ("2023-02-01T12:00:00", "2024-01-05")
    with pytest.raises(Unaskable, match=r"no column 'income'; its columns are: age, b, plan"):
        domain.labels("income")


def test_where_a_domain_came_from_is_written_down_and_does_not_tell_domains_apart():
    declared = Domain({"origin": ["here", "there"], "columns": [1, 2]})
    seen = Domain(declared.to_json(), origin="train")
    assert seen == declared
    assert seen.origin == Domain(seen.to_json()).origin == seen.only(["origin"]).origin == "train"
    assert seen.to_json() == {"origin": "train", "columns": declared.to_json()}
    assert "origin='train'" in repr(seen)
    assert eval(repr(seen)).origin == "train"
    assert seen.with_other().with_missing().origin == "train"
    with pytest.raises(ValueError, match="declared, dtypes, train, rows"):
        Domain({"a": [1]}, origin="elsewhere")


def test_room_for_others_and_for_what_is_missing():
    domain = Domain({"plan": ["pro"], "city": ["Oslo"], "age": Bins([0, 18])})
    assert domain.with_other("plan").labels("plan") == ("pro", "(other)")
    assert domain.with_other("plan").labels("city") == ("Oslo",)
    assert domain.with_other().with_other() == domain.with_other() == domain.with_other("city", "plan")
    assert domain.with_missing().shape == (2, 2, 2)
    assert domain.with_missing("age").with_missing("age").shape == (2, 1, 1)
    with pytest.raises(Unaskable, match="Bins with open ends"):
        domain.with_other("age")
    with pytest.raises(Unaskable, match="no column 'x'"):
        domain.with_missing("x")


def test_a_domain_of_twenty_columns_is_as_good_as_any_but_for_writing_it_out():
    wide = Domain({f"c{place:02}": range(10) for place in range(20)} | {"age": Bins(range(100))})
    assert wide.size == 99 * 10**20
    axes, table = wide.weights(share((col("c03") >= 5) & (col("age") < 50)))
    assert axes == (0, 4)
    assert table.sum() == 50 * 5
    for write in (wide.frame, lambda: wide.values(share(col("c03") >= 5))):
        with pytest.raises(Unaskable, match=rf"21 columns have 9.9e\+21 points together, and at most {CELLS:,}"):
            write()
    every = col("age") < 50
    for place in range(20):
        every = every & (col(f"c{place:02}") == 1)
    with pytest.raises(Unaskable, match="ask about fewer columns at once"):
        wide.weights(share(every))


def test_weights_are_the_values_over_the_columns_a_question_speaks_of():
    domain = Domain({"a": [0, 1], "b": ["x", "y", OTHER], "c": Bins([0, 1, 2], missing=True)})
    question = share(((col("a") == 1) & (col("c") >= 1)) | (col("b") == "x"))
    axes, table = domain.weights(question)
    assert axes == (0, 1, 2)
    assert table.reshape(-1).tolist() == domain.values(question).tolist()
    axes, table = domain.weights(share(col("c").is_null() & (col("a") == 0)))
    assert axes == (0, 2)
    assert table.tolist() == [[0, 0, 1], [0, 0, 0]]
    axes, table = domain.weights(share(True))
    assert (axes, table.tolist()) == ((), 1.0)
    with pytest.raises(Unaskable, match="no column 'income'"):
        domain.weights(share(col("income") > 3))
    with pytest.raises(Unaskable, match="belong to rows"):
        domain.weights(accuracy([1, 0, 1]))
