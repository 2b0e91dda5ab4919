"""Text that takes a parser exponentially long is refused before the parser sees it."""

from __future__ import annotations

import logging
import resource
import subprocess
import sys

import pytest

from unworn import Unaskable
from unworn.queries.language.sql_lexing import screen
from unworn.queries.language.sql_text import parse

WORDS = [
    "date",
    "timestamp",
    "char",
    "varchar",
    "decimal",
    "nullable",
    "tuple",
    "enum",
    "struct",
    "map",
    "array",
    "interval",
    "time",
    "int",
    "text",
    "json",
    "float",
    "double",
    "bit",
    "binary",
    "variant",
    "object",
    "row",
    "cast",
    "coalesce",
    "avg",
    "mean",
    "not",
    "in",
    "between",
    "and",
    "or",
    "extract",
    "trim",
    "position",
    "substring",
    "if",
    "abs",
    "count",
    "filter",
    "any",
    "all",
    "exists",
    "select",
    "values",
    "list",
    "set",
    "left",
    "right",
]
SECONDS = 20
"""Processor time for all the texts together, of which they need less than one; unbounded, one text takes years."""


def hostile_texts() -> list[str]:
    """Every shape that nests or repeats, as deep and as long as the limits on length and parentheses let it."""
    deep = [f"{word}(" * 20 + "a" + ")" * 20 + " > 1" for word in WORDS]
    deep += [f"{word} (" * 20 + "a" + ")" * 20 for word in WORDS]
    deep += [f"{word}((" * 10 + "a" + "))" * 10 for word in WORDS]
    deep += [
        "cast(" * 20 + "a" + " as date)" * 20,
        "coalesce(" * 20 + "a" + ", 1)" * 20,
        "a in (" * 20 + "1" + ")" * 20,
    ]
    deep += ["a between (" * 20 + "1" + ") and 2" * 20, "not (" * 20 + "a" + ")" * 20, "-(" * 20 + "a" + ")" * 20]
    pieces = [
        "(a",
        "a and ",
        "a or ",
        "not ",
        "- ",
        "+a",
        "a < ",
        "a is ",
        "a is not null ",
        "a between ",
        "a in ",
        "'",
    ]
    pieces += [
        '"',
        "a as ",
        "date ",
        "date '2024-01-01' ",
        "=",
        "*",
        ",",
        "1e9",
        "case when ",
        "é",
        "(",
        "()",
        "a,",
        "if ",
    ]
    return deep + [(piece * 4000)[:4000] for piece in pieces]


def test_no_text_takes_long() -> None:
    """In a process that may not use more than a few seconds: it would be stopped by the system."""
    code = (
        "from tests.attacks.hostile.test_parsing_bounds import *\n"
        f"resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))\n"
        "for text in hostile_texts():\n"
        "    try: parse(text)\n"
        "    except Unaskable: pass\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert resource.getrlimit(resource.RLIMIT_CPU) is not None


@pytest.mark.parametrize(
    "text", ["date(a) > 1", "f(1)", '"a"(1)', "'a'(1)", "1(2)", "(a)(b)", "(a) b", "(1) 2", "if (a)"]
)
def test_only_a_few_words_stand_before_a_parenthesis(text: str) -> None:
    with pytest.raises(Unaskable):
        screen(text)


@pytest.mark.parametrize(
    "text",
    [
        "(a > 1) and (b = 2)",
        "not (a > 1)",
        "a in (1, 2)",
        "coalesce(a, 0) > 1",
        "a between (1) and (2)",
        "cast('2024-01-31' as date) < d",
        "((((((((((a > 1))))))))))",
    ],
)
def test_what_people_write_is_read(text: str) -> None:
    parse(text)


def test_the_parser_logs_nothing_of_the_text(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for text in ("if = '\x1b[31m'", "a = '\x1b[31m' is", "commit and a", "call = 1", "show = '\x1b'"):
            with pytest.raises(Unaskable):
                parse(text + " (")
    assert not caplog.records
    logging.getLogger("sqlglot").warning("somebody else's words are heard")
    assert len(caplog.records) == 1
