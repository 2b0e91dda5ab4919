"""Shares and means: their facts, their values, their identity."""

# ruff: noqa: SIM300 (an expression on the left is not a constant)
from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from unworn import Holdout
from unworn.errors import Unaskable
from unworn.queries.language.expressions import col, lit
from unworn.queries.language.means import Mean, Share, mean, share
from unworn.queries.metrics.named_metrics import accuracy
from unworn.queries.query import Facts
from unworn.queries.row_protocol import Column
from unworn.queries.schema import ColumnType, Schema

X, M, B = col("x"), col("m"), col("b")
COLUMNS = {
    "x": ColumnType("number"),
    "m": ColumnType("number", True),
    "b": ColumnType("bool"),
    "s": ColumnType("text"),
}
SCHEMA = Schema(COLUMNS)


class Numbers:
    """A frame of float columns."""

    def __init__(self, **columns: list[float]) -> None:
        self.columns = {name: np.array(values, dtype=np.float64) for name, values in columns.items()}
        self.start = 0
        self.size = len(next(iter(self.columns.values())))

    def column(self, name: str) -> Column:
        return Column("number", self.columns[name])


def test_facts_are_kept_for_the_rows_they_are_about_and_no_others() -> None:
    question, renamed = share(X > 1), Schema({"z": ColumnType("number")})
    assert question.facts(SCHEMA, 10) is question.facts(SCHEMA, 10)
    assert question.facts(Schema(COLUMNS, grouped=True), 10).kind == "unit"
    for size in (10, 11):
        with pytest.raises(Unaskable, match="no column"):
            question.facts(renamed, size)
        assert question.facts(SCHEMA, size).kind == "binary"
    predicted = accuracy([1, 0, 1])
    labelled = Schema({"y": ColumnType("number")}, target="y")
    assert predicted.facts(labelled, 3).kind == "binary"
    with pytest.raises(Unaskable, match="3 predictions for 4 rows"):
        predicted.facts(labelled, 4)


def test_facts_follow_from_the_type_and_the_schema() -> None:
    assert share(X > 1).facts(SCHEMA, 10) == Facts("binary", 0.0, 1.0, zero_one=True)
    assert share(B).facts(SCHEMA, 10).kind == "binary"
    assert share(X > 1).facts(Schema(COLUMNS, grouped=True), 10) == Facts("unit", 0.0, 1.0)
    assert mean(X, range=(-5, 200)).facts(SCHEMA, 10) == Facts("unit", -5.0, 200.0)
    assert mean(M.fill(0) / 12, (0, 1)).facts(SCHEMA, 10).kind == "unit"


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: share(X), "parentheses|compare"),
        (lambda: share(col("s")), "compare"),
        (lambda: share(X), r"ask mean\(col\('x'\), range=\(low, high\)\)"),
        (
            lambda: share(M),
            r"ask mean\(col\('m'\)\.fill\(0\), range=\(low, high\)\)",
        ),  # or refused in turn
        (lambda: share(X + 1), "compare"),
        (lambda: share(col("zz") > 1), "no column 'zz'"),
        (lambda: mean(M, (0, 1)), r"\.fill\(value\).*schema="),
        (lambda: mean(X / X, (0, 1)), r"\.fill\(value\)"),
        (lambda: mean(X > 1, (0, 1)), r"use share\(\.\.\.\)"),
        (lambda: mean(B, (0, 1)), r"use share\(\.\.\.\)"),
        (lambda: mean(col("s"), (0, 1)), "is a text"),
        (lambda: mean(lit("a"), (0, 1)), "is a text"),
        (lambda: mean(X, (1, 1)), "low < high"),
        (lambda: mean(X, (2, 1)), "low < high"),
        (lambda: mean(X, (0, float("inf"))), "finite"),
        (lambda: mean(X, (float("nan"), 1)), "finite"),
        (lambda: mean(X, (-1.7e308, 1.7e308)), "not a range"),
        (lambda: mean(X, (False, True)), "a number is needed"),
        (lambda: mean(X, (0, 1, 2)), "range="),  # type: ignore[arg-type]
        (lambda: mean(X, None), "range="),  # type: ignore[arg-type]
        (lambda: mean(X, ("0", "1")), "a number is needed"),  # type: ignore[arg-type]
    ],
)
def test_refusals_name_the_fix(ask: Any, words: str) -> None:
    with pytest.raises(Unaskable, match=words):
        ask().facts(SCHEMA, 10)


def test_the_range_cannot_be_left_out() -> None:
    with pytest.raises(Unaskable, match=r"the mean of x needs range=\(low, high\), two numbers"):
        mean(X)
    with pytest.raises(Unaskable, match=r"use share\(...\)"):
        mean(X > 1)


def test_values_stay_in_the_range_whatever_the_rows_hold() -> None:
    rows = Numbers(x=[-7.0, 0.25, 99.0, float("nan"), float("inf"), -float("inf"), 1e308])
    values = mean(X, (-1, 2)).values(rows)
    assert values.dtype == np.float64
    assert values.tolist() == [-1.0, 0.25, 2.0, -1.0, -1.0, -1.0, 2.0]
    # An overflow counts as the low end too: raising would tell that such a row is there.
    assert mean(X * 10, (-1, 2)).values(rows).tolist()[-1] == -1.0
    assert mean(lit(1), (0, 2)).values(rows).tolist() == [1.0] * 7
    assert rows.columns["x"][2] == 99.0
    assert share(X > 0).values(rows).dtype == np.bool_
    assert share(X > 0).values(rows).tolist() == [False, True, True, False, False, False, True]
    assert share(True).values(rows).all()


def test_equal_words_are_equal_questions() -> None:
    assert share(X > 65) == share(65.0 < X)
    assert hash(share(X > 65)) == hash(share(65.0 < X))
    assert len({share(X > 65), share(X > 65.0), share(X > 66)}) == 2
    assert mean(X, (0, 1)) == mean(X, (-0.0, np.float32(1)))  # type: ignore[arg-type]
    assert mean(X, (0, 1)) != mean(X, (0, 2))
    assert share(X == True) != share(X == 1)  # noqa: E712
    assert share(B) != "share(b)"
    assert pickle.loads(pickle.dumps(share(X > 65))) == share(X > 65)


def test_labels_and_json() -> None:
    assert share((X > 65) & B).label == "share of (x > 65) & b"
    assert mean(X / 2, (0, 0.5)).label == "mean of x / 2 in [0, 0.5]"
    assert repr(mean(X, (0, 1))) == "mean(x, range=(0, 1))"
    assert share(B).to_json() == {"ask": "share", "where": ["col", "b"]}
    assert mean(X, (0, 1)).to_json() == {"ask": "mean", "of": ["col", "x"], "range": [0, 1]}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"ask": "share"},
        {"ask": "mean", "where": ["col", "b"]},
        {"where": ["col", "b"]},
        {"ask": "share", "where": ["col", "b"], "more": 1},
        {"ask": "share", "where": "b"},
        {1: 2, "ask": "share"},
        {"ask": "mean", "of": ["col", "x"], "range": [1, 0]},
        {"ask": "mean", "of": ["col", "x"], "range": "01"},
        {"ask": "mean", "of": ["col", "x"], "range": [False, True]},
        {"ask": "mean", "of": ["col", "x"], "range": [0, float("nan")]},
    ],
)
def test_wrong_questions_are_refused(data: Any) -> None:
    for kind in (Share, Mean):
        with pytest.raises(Unaskable):
            kind.from_json(data)


def test_text_is_sql_wherever_an_expression_is_meant() -> None:
    assert share("age > 65 and plan = 'pro'") == share((col("age") > 65) & (col("plan") == "pro"))
    assert share("bought = 1", given="arm = 'B'") == share(col("bought") == 1, given=col("arm") == "B")
    assert share(col("bought") == 1, given="arm = 'B'") == share("bought = 1", given="arm = 'B'")
    assert mean("coalesce(income, 0)", range=(0, 9)) == mean(col("income").fill(0), range=(0, 9))
    for wrong in ("age >", "age + 1", "'pro'"):
        with pytest.raises(Unaskable):
            share(wrong)
    with pytest.raises(Unaskable, match="true or false"):
        mean("age > 65", range=(0, 1))


def test_a_predicate_by_itself_asks_for_its_share() -> None:
    holdout = Holdout({"age": np.arange(1_000), "plan": np.array(["a", "b"] * 500)}, ledger=None)
    told = holdout.ask(col("age") < 500, guess=0.5)
    assert told.index == holdout.ask("age < 500").index == holdout.ask(share("age < 500")).index
    assert holdout.quote(col("age") < 500).repeat
    with pytest.raises(Unaskable, match=r"ask mean\(col\('age'\), range=\(low, high\)\)"):
        holdout.ask(col("age"))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('plan = "a"', "text goes in single quotes, as in plan = '...'"),
        ("plan = a", "text goes in single quotes"),
        ("flag = 1", "use a bool on both sides, or flag by itself"),
        ("flag = 0", "or not flag"),
        ("avg(age)", "mean('...', range=(low, high)) in Python"),
        ("nothing = 1", "the columns are: plan, flag, age"),
    ],
)
def test_what_is_nearly_right_is_told_how_to_be_right(asked: str, said: str) -> None:
    rows = {"plan": np.array(["a", "b"]), "flag": np.array([True, False]), "age": np.array([1, 2])}
    with pytest.raises(Unaskable) as refusal:
        Holdout(rows, ledger=None).ask(asked)
    assert said in refusal.value.message
