"""Building expressions: what the operators make, what is refused at once, how nodes compare and print."""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
import pickle
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from unworn.errors import Unaskable
from unworn.queries.language.expressions import MAX_DEPTH, MAX_NODES, Expression, col, lit

X, Y = col("x"), col("y")


def test_text_reads_like_python() -> None:
    assert repr((col("age") > 65) & (col("plan") == "basic")) == "(age > 65) & (plan == 'basic')"
    assert repr(~(X > 5) | X.is_null()) == "~(x > 5) | x.is_null()"
    assert repr(-(X + Y) * 2.5) == "(-(x + y)) * 2.5"
    assert repr(col("a b").fill(0)) == "col('a b').fill(0)"
    assert repr(col("d") >= date(2024, 1, 5)) == "d >= 2024-01-05"
    assert "20 values" in repr(X.isin(range(20)))


@pytest.mark.parametrize("join", [lambda: bool(X > 5), lambda: (X > 5) and (Y > 5), lambda: not X, lambda: 1 < X < 3])
def test_python_words_are_refused_with_the_fix(join: object) -> None:
    with pytest.raises(TypeError, match=r"use & \| ~ and parentheses"):
        join()  # type: ignore[operator]


def test_forgotten_parentheses_are_caught() -> None:
    with pytest.raises(Unaskable, match="parentheses"):
        X > 5 & Y < 3  # noqa: B015


def test_same_is_value_equality_and_tells_bool_from_number() -> None:
    assert (X > 65).same(X > 65.0)
    assert (X > 65).same(X > 65)
    assert (X > 65).same(np.int8(65) < X)
    assert (X > 65).same(np.float64(65) < X)
    assert not (X == True).same(X == 1)  # noqa: E712
    assert not (X > 65).same("x > 65")
    assert (X == -0.0).same(X == 0)
    assert X.isin([3, 1, 3.0]).same(X.isin([1, 3]))
    assert ((X > 1) & ((Y > 1) & (X > 2))).same(((X > 1) & (Y > 1)) & (X > 2))
    # Addition of floats is not associative, so these two are different questions.
    assert not (X + (Y + 1)).same((X + Y) + 1)


def test_nodes_are_frozen_unhashable_and_survive_pickling() -> None:
    question = (X > 5) & col("plan").isin(["a", "b"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        X.name = "z"  # type: ignore[misc]
    with pytest.raises(TypeError, match="cannot be hashed"):
        hash(X)
    assert pickle.loads(pickle.dumps(question)).same(question)
    assert copy.deepcopy(question).same(question)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is_null"),
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (np.float32("-inf"), "finite"),
        (2**53 + 1, "2\\*\\*53"),
        pytest.param(-(10**6000), "2\\*\\*53", id="huge"),
        (Decimal("1.5"), "Decimal"),
        (1j, "complex"),
        (b"x", "bytes"),
        (np.arange(3), "ndarray"),
        ("x" * 1001, "too long"),
        ("\ud800", "surrogate"),
        (np.datetime64("NaT", "us"), "is_null"),
        (pd.NaT, "is_null"),
        (datetime(2024, 1, 1, tzinfo=UTC), "time zone"),
        (np.datetime64(1, "ns"), "microseconds"),
        (pd.Timestamp(1), "microseconds"),
        (np.datetime64(10**9, "Y"), "years"),
    ],
)
def test_literals_that_are_refused(value: object, words: str) -> None:
    with pytest.raises(Unaskable, match=words):
        value == X  # noqa: B015


def test_literals_of_other_libraries_become_plain_ones() -> None:
    assert lit(np.datetime64("2024-01-05")).value == datetime(2024, 1, 5)
    assert lit(pd.Timestamp("2024-01-05 10:00")).value == datetime(2024, 1, 5, 10)
    assert lit(np.bool_(True)).value is True
    assert lit(np.str_("a")).value == "a"
    assert type(lit(np.str_("a")).value) is str


def test_shapes_that_are_refused_at_once() -> None:
    for wrong in (
        lambda: X.isin("abc"),
        lambda: X.isin(5),  # type: ignore[arg-type]
        lambda: X.isin([]),
        lambda: X.isin([1, "a"]),
        lambda: X.isin([1, True]),
        lambda: X.isin([Y]),
        lambda: X.isin(range(1001)),
        lambda: X.between(3, 1),
        lambda: X.between(1, "a"),
        lambda: X.between(False, True),
        lambda: X.fill(Y),
        lambda: X.fill(None),
        lambda: (X > 3).fill(True),
        lambda: (X > 3).is_null(),
        lambda: (X > 3) + 1,
        lambda: X + "a",
        lambda: ~(X + 1),
        lambda: (X + 1) & (Y > 1),
        lambda: col(""),
        lambda: col(3),  # type: ignore[arg-type]
        lambda: col("\udc00"),
    ):
        with pytest.raises(Unaskable):
            wrong()


def test_between_columns_is_two_comparisons() -> None:
    assert X.between(Y, 5).same((X >= Y) & (X <= 5))


def test_long_chains_stay_flat_and_the_caps_hold() -> None:
    terms = [col(f"x{i}") for i in range(499)]
    total = functools.reduce(operator.add, terms)
    assert (total.depth, total.nodes) == (2, 500)
    either = functools.reduce(operator.or_, [i == X for i in range(160)])
    assert either.depth == 3
    with pytest.raises(Unaskable, match=f"at most {MAX_NODES}"):
        total + 1
    nested: Expression = X
    for _ in range(MAX_DEPTH - 1):
        nested = Y - nested
    assert nested.depth == MAX_DEPTH
    with pytest.raises(Unaskable, match=f"at most {MAX_DEPTH}"):
        Y - nested
