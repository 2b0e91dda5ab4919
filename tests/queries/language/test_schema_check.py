"""Fitting a schema: kinds, what may be missing, and refusals that name the fix."""

# ruff: noqa: SIM300 (an expression on the left is not a constant)
from __future__ import annotations

from datetime import date

import pytest

from unworn.errors import Unaskable
from unworn.queries.language.expressions import Expression, col, lit
from unworn.queries.language.schema_check import check
from unworn.queries.schema import ColumnType, Schema

SCHEMA = Schema(
    {
        "x": ColumnType("number"),
        "m": ColumnType("number", nullable=True),
        "s": ColumnType("text"),
        "d": ColumnType("date"),
        "e": ColumnType("date", nullable=True),
        "b": ColumnType("bool"),
    }
)
X, M, S, D, E, B = (col(name) for name in "xmsdeb")

REFUSED: list[tuple[Expression, str]] = [
    (col("ag") > 3, "the columns are: x, m"),
    (S > "a", "orders text"),
    (S > 3, "text .* number"),
    (S == 3, "text .* number"),
    (X == "3", "number .* text"),
    (X == S, "number .* text"),
    (B == 1, "bool .* number"),
    (B < True, "orders bool"),
    (B < (X > 1), "orders bool"),
    (D > 5, "date .* number"),
    (D > "soon", "not an ISO date"),
    (D == S, "date .* text"),
    (D + 1 > 3, "calculates with numbers"),
    (S + S == 1, "calculates with numbers"),
    (B * 2 == 1, "calculates with numbers"),
    (X & B, "parentheses"),
    (~X, "parentheses"),
    (S | B, "parentheses"),
    (X.isin(["a"]), "number .* text"),
    (S.isin([1]), "text .* number"),
    (D.isin(["2024-01-01", "never"]), "not an ISO date"),
    (S.between("a", "b"), "orders text"),
    (X.between("a", "b"), "number .* text"),
    (B.between(0, 1), "bool .* number"),
    (D.between("2024-02-01", "2024-01-01"), "earlier end first"),
    (D.between(1, 2), "date .* number"),
    (S.fill(0) == "a", "text .* number"),
    (M.fill(True) == 1, "number .* bool"),
    (E.fill("never") == E, "not an ISO date"),
    (col("nope").is_null(), "no column 'nope'"),
]


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_wrong_kinds_are_refused(place: int) -> None:
    expression, words = REFUSED[place]
    with pytest.raises(Unaskable, match=words):
        check(expression, SCHEMA)


def test_kinds() -> None:
    for expression, kind in [
        (X + 1, "number"),
        (S.fill("a"), "text"),
        (D.fill("2024-01-01"), "date"),
        (B, "bool"),
        (X > 1, "bool"),
        ((X > 1) == B, "bool"),
        (D > "2024-01-01", "bool"),
        (date(2024, 1, 1) <= E, "bool"),
        (lit("2024-01-01") == date(2024, 1, 1), "bool"),
        (D.isin([date(2024, 1, 1)]), "bool"),
    ]:
        assert check(expression, SCHEMA).kind == kind


def test_what_may_be_missing() -> None:
    missing = [M, M + 1, X * M, -M, X / X, 1 / X, X / 0, X / (lit(2) + 1), (X / X) + 1, E]
    never = [
        X,
        X + 1,
        X * X - X,
        X / 2,
        -X,
        M.fill(0),
        (X / X).fill(0),
        M > 3,
        ~(M > 3),
        M.is_null(),
        D,
        lit(1),
    ]
    assert [check(expression, SCHEMA).nullable for expression in missing] == [True] * len(missing)
    assert [check(expression, SCHEMA).nullable for expression in never] == [False] * len(never)
