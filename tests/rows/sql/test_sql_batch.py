"""Questions as SQL: what is written, in both dialects, and that it stays small."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from tests.rows.sql.conformance import KINDS, questions_of
from unworn.errors import Unaskable
from unworn.queries import accuracy, col, hypothesis, mean, share, statistic
from unworn.rows.sql.sql_batch import columns_of, plain_question, statement
from unworn.rows.sql.sql_expressions import Held


def held(*names: str, kind="number", finite=False):
    return {name: Held(kind, exp.column(name, quoted=True), finite) for name in names}


def text(query, columns, dialect="duckdb"):
    return statement([query], columns, dialect).text("t")


def test_a_number_is_asked_whether_it_is_finite():
    assert '(ISFINITE("c0")) AND' in text(share(col("x") > 65), held("x"))
    assert "AND CAST('1.7976931348623157e+308' AS DOUBLE)" in text(share(col("x") > 65), held("x"), "spark")


def test_a_finite_column_is_compared_as_it_is():
    assert "FINITE" not in text(share(col("x") > 65), held("x", finite=True))


@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_names_and_texts_cannot_leave_their_quotes(dialect):
    name, word = 'a" FROM t; DROP TABLE t --`', "x' OR 1=1; --\\"
    columns = held(name, kind="text", finite=True)
    written = text(share(col(name) == word), columns, dialect)
    (tree,) = sqlglot.parse(written, dialect=dialect)
    if dialect == "spark":  # as bytes, since what a quoted text means there depends on settings
        assert f"CAST(X'{word.encode().hex()}' AS STRING)" in written
    else:
        assert [found.this for found in tree.find_all(exp.Literal)] == [word]
    assert name in {found.name for found in tree.find_all(exp.Column)}


def test_a_text_does_not_double_with_every_level():
    deep = col("x")
    for _ in range(17):
        deep = (1 / deep).fill(2)
    assert len(text(share(deep != 3), held("x"))) < 200 * deep.nodes + 2_000


def test_what_questions_share_is_worked_out_once():
    ratio = col("x") / col("y")
    told = statement([share(ratio != place) for place in range(20)], held("x", "y"), "duckdb")
    assert len(told.layers) == 2
    assert len(told.layers[1]) == 2  # all that was there, and the ratio
    assert told.used == ("x", "y")


def test_a_chain_of_five_hundred_terms_stays_shallow():
    wide = share(col("x") > 0)
    for place in range(120):
        wide = share(wide.where & (col("x") != place))
    tree = sqlglot.parse_one(text(wide, held("x")), dialect="duckdb")
    assert max(node.depth for node in tree.walk()) < 60


@pytest.mark.parametrize("seed", range(6))
def test_both_dialects_read_back_what_was_written(seed):
    asked = questions_of(seed)
    columns = {name: Held(kind, exp.column(name, quoted=True), kind != "number") for name, kind in KINDS.items()}
    for dialect in ("duckdb", "spark"):
        written = statement(asked, columns, dialect)
        tree = sqlglot.parse_one(written.text("t"), dialect=dialect)
        assert len(tree.expressions) == len(asked)
        assert set(written.used) == {name for query in asked for name in columns_of(query)}


def test_spark_adds_in_halves_or_decimals_that_cannot_overflow():
    question = mean(col("x").fill(0), range=(0, 1))
    for rows, form in ((2**32 - 1, "CAST(SUM(SHIFTRIGHT(CAST(RINT("), (2**32, "SUM(CAST(CAST(RINT(")):
        (written,) = statement([question], held("x"), "spark", rows).sums
        assert written.startswith(form)
        assert "DECIMAL(" in written


def test_only_questions_about_columns_are_plain():
    question = share(col("age") > 65)
    assert plain_question(hypothesis(question, above=0.2)) == question
    for other in (accuracy([0, 1]), statistic(len, sensitivity=0.5, range=(0, 1))):
        with pytest.raises(Unaskable, match="stay in their engine"):
            plain_question(other)
