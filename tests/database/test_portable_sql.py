"""Statements in the words of either database."""

from __future__ import annotations

import pytest

from unworn.database.portable_sql import for_psycopg, split_statements


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT :a, :b_2", "SELECT %(a)s, %(b_2)s"),
        ("SELECT ':a', \":b\", x::text, 'it''s :c'", "SELECT ':a', \":b\", x::text, 'it''s :c'"),
        ("SELECT 1 -- :a and BLOB\n, :b", "SELECT 1 -- :a and BLOB\n, %(b)s"),
        ("CREATE TABLE a (x blob, blobs TEXT)", "CREATE TABLE a (x BYTEA, blobs TEXT)"),
        ("SELECT 7 % 4 LIKE '%a%'", "SELECT 7 %% 4 LIKE '%%a%%'"),
    ],
)
def test_parameters_are_found_where_they_are(statement: str, expected: str) -> None:
    assert for_psycopg(statement) == expected


def test_scripts_are_split_where_a_statement_ends() -> None:
    script = "INSERT INTO a VALUES (';'); -- ; no\nCREATE TABLE b (x TEXT);\n\n"
    assert split_statements(script) == ["INSERT INTO a VALUES (';');", "-- ; no\nCREATE TABLE b (x TEXT);"]
    assert split_statements(" ") == []
