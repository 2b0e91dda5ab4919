"""Statements in the part of SQL that SQLite and PostgreSQL share, in the words of either."""

from __future__ import annotations

import re
from functools import lru_cache

_PIECE = re.compile(
    r"'(?:[^']|'')*'"  # a text, "a name" and -- a remark stay as they are
    r'|"(?:[^"]|"")*"'
    r"|--[^\n]*"
    r"|::"
    r"|:([A-Za-z_][A-Za-z0-9_]*)"
    r"|\bBLOB\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def for_psycopg(statement: str) -> str:
    """``:name`` as ``%(name)s``, with every other ``%`` doubled; ``BLOB`` is ``BYTEA``.

    >>> for_psycopg("SELECT 5 % 2, ':no', :team FROM t WHERE x LIKE 'a%'")
    "SELECT 5 %% 2, ':no', %(team)s FROM t WHERE x LIKE 'a%%'"
    """

    def translate(found: re.Match[str]) -> str:
        if found[1]:
            return f"%({found[1]})s"
        return "BYTEA" if found[0].upper() == "BLOB" else found[0]

    return _PIECE.sub(translate, statement.replace("%", "%%"))


def split_statements(script: str) -> list[str]:
    """The statements of a script, one by one.

    >>> split_statements("CREATE TABLE a (x TEXT); CREATE INDEX b ON a (x)")
    ['CREATE TABLE a (x TEXT);', 'CREATE INDEX b ON a (x)']
    """
    import sqlite3  # here: a ledger that is no file does without it

    statements, text = [], ""
    for part in re.split(r"(?<=;)", script):
        text += part
        if sqlite3.complete_statement(text):
            statements.append(text.strip())
            text = ""
    return [*statements, text.strip()] if text.strip() else statements
