"""A batch of questions as one statement: a layer that prepares columns, layers of shared values, and the sums.

A share is counted. A mean, of an expression or of a loss's gradient, is the sum of values cut to its range, on a grid
of at most 2^-61 of the larger of its ends, as a whole number: such sums are exact, so the result is the same to the
last bit whatever order, number of threads or company the engine adds in, where a sum of floats would move with all
three. What a value loses on the grid is at most 2^-62 of that end, in size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.hypothesis import Hypothesis
from unworn.queries.language.means import ConditionalShare, Mean, Share
from unworn.queries.learning.argmin import Curvature, Gradient, Risk
from unworn.queries.learning.linear_losses import MAX_FEATURES
from unworn.queries.learning.mixture_moments import Moment
from unworn.queries.query import Query
from unworn.rows.sql.sql_expressions import DialectName, Held, Writer, sqlglot_exp
from unworn.rows.sql.sql_losses import AtPoint, LossWriter

_GRID = 62
_HALF = 31
_STEEPEST = 1000  # the largest power of two that is written as one factor


@dataclass(frozen=True)
class Statement:
    """The texts of one pass: what is selected layer by layer, and what is added up over the last of them.

    ``used`` are the columns it reads, by their own names; ``units`` is what one in the sum of each question stands for.
    """

    layers: tuple[tuple[str, ...], ...]
    sums: tuple[str, ...]
    used: tuple[str, ...]
    units: tuple[Fraction, ...]

    def text(self, table: str) -> str:
        """The same in one piece, over a table written as the dialect writes it."""
        source = table
        for depth, layer in enumerate(self.layers):
            source = f"(SELECT {', '.join(layer)} FROM {source}) AS l{depth}"
        return f"SELECT {', '.join(self.sums)} FROM {source}"


Plain = Share | Mean | AtPoint


@dataclass(frozen=True)
class Squares:
    """The squares of a question's values, scaled from its range to [0, 1]: for their variance."""

    query: Query
    low: float
    high: float


Asked = Query | Squares
"""What a statement sums up."""


def counted_shares(query: Query) -> tuple[Query, ...]:
    """The plain questions that answer one about columns: itself or, for a share of a subset, two shares."""
    inner = query.query if isinstance(query, Hypothesis) else query
    return inner.as_shares() if isinstance(inner, ConditionalShare) else (query,)


def plain_question(query: Query) -> Plain:
    """A question about columns alone, which an engine can be asked; any other is refused from its type.

    >>> from unworn.queries import col, share
    >>> plain_question(share(col("age") > 65))
    share(age > 65)
    """
    inner = query.query if isinstance(query, Hypothesis) else query
    if not isinstance(inner, Share | Mean | Gradient | Risk | Curvature | Moment):
        raise Unaskable(
            f"{query.label} needs the rows in memory, and these stay in their engine, which is asked about columns "
            "only: ask share(...), mean(...) or a loss, as in share(col('predicted') == col('label')), or read the "
            "rows (relation.to_arrow_table(), or a path without its engine's name)"
        )
    if isinstance(inner, Moment) and inner.mixture.size > MAX_FEATURES:
        raise Unaskable(
            f"a mixture of {inner.mixture.size} densities (components times features) is too long for a statement: "
            f"rows kept in an engine take at most {MAX_FEATURES}, rows in memory more"
        )
    if isinstance(inner, Gradient | Risk | Curvature) and inner.loss.table is not None:
        raise Unaskable(
            f"the {inner.loss.called} loss is a table of your own, and rows kept in an engine are asked for built-in "
            "losses only: read the rows (relation.to_arrow_table(), or a path without its engine's name)"
        )
    return inner


def columns_of(query: Query) -> tuple[str, ...]:
    """The names of the columns a question reads.

    >>> from unworn.queries import col, share
    >>> columns_of(share((col("age") > 65) & (col("plan") == "col")))
    ('age', 'plan')
    """
    inner = plain_question(query)
    if not isinstance(inner, Share | Mean):
        return inner.columns
    found: dict[str, None] = {}
    waiting: list[Any] = [(inner.where if isinstance(inner, Share) else inner.of).to_json()]
    while waiting:
        tag, *parts = waiting.pop()
        if tag == "col":
            found[parts[0]] = None
        waiting += [part for part in reversed(parts) if isinstance(part, list)]
    return tuple(found)


def statement(queries: Sequence[Asked], held: Mapping[str, Held], dialect: DialectName, rows: int = 0) -> Statement:
    """One pass over so many rows for these questions, which must have passed their schema.

    >>> from sqlglot import exp
    >>> from unworn.queries import col, share
    >>> age = Held("number", exp.cast(exp.column("age", quoted=True), "double"), finite=False)
    >>> print(statement([share(col("age") >= 65)], {"age": age}, "duckdb").text("people"))
    SELECT COUNT_IF((ISFINITE("c0")) AND (("c0") >= (CAST('65.0' AS DOUBLE)))) FROM (SELECT CAST("age" AS DOUBLE) AS "c0" FROM people) AS l0
    """  # noqa: E501
    exp = sqlglot_exp()
    writer = Writer(held, dialect)
    sums, units = [], []
    for query in queries:
        node, unit = _sum(writer, query, dialect, rows)
        sums.append(node.sql(dialect=dialect))
        units.append(unit)
    first = [exp.alias_(held[name].prepared.copy(), short, quoted=True) for name, short in writer.columns.items()]
    first = first or [exp.alias_(exp.true(), "none", quoted=True)]  # a question about constants
    layers = [_texts(first, dialect)]
    layers += [("*", *_texts(layer, dialect)) for layer in writer.layers if layer]
    return Statement(tuple(layers), tuple(sums), tuple(writer.columns), tuple(units))


def _texts(nodes: Sequence[Any], dialect: DialectName) -> tuple[str, ...]:
    return tuple(node.sql(dialect=dialect) for node in nodes)


def _sum(writer: Writer, asked: Asked, dialect: DialectName, rows: int) -> tuple[Any, Fraction]:
    exp = sqlglot_exp()
    query = plain_question(asked.query if isinstance(asked, Squares) else asked)
    if isinstance(query, Share):
        return exp.CountIf(this=writer.truth(query.where).sql), Fraction(1)
    if isinstance(query, Mean):
        (low, high), value = (query.low, query.high), writer.clipped(query.of, query.low, query.high).sql
    else:
        (low, high), value = query.bounds, LossWriter(writer).value(query).sql
    if isinstance(asked, Squares):
        above = exp.Sub(this=exp.Paren(this=value), expression=writer.number(asked.low))
        share = exp.Paren(this=exp.Div(this=exp.Paren(this=above), expression=writer.number(asked.high - asked.low)))
        (low, high), value = (0.0, 1.0), exp.Mul(this=share, expression=share.copy())
    power = _GRID - math.frexp(max(abs(low), abs(high)))[1]
    for factor in (min(power, _STEEPEST), max(power - _STEEPEST, 0)):
        if factor:  # a power of two: nothing is rounded but what falls below the smallest number there is
            value = exp.Mul(this=exp.Paren(this=value), expression=writer.number(math.ldexp(1.0, factor)))
    unit = Fraction(1, 2) ** power if power >= 0 else Fraction(2) ** -power
    if dialect == "spark":  # whose casts cut off
        return _added(exp.cast(exp.func("rint", value), "bigint"), rows), unit
    return exp.Sum(this=exp.cast(value, "bigint")), unit


def _added(whole: Any, rows: int) -> Any:
    """The sum of whole numbers in Spark, whose BIGINT does not widen: of their halves, which it holds for 2^32 rows.
    Of more it is the sum of decimals, which takes several times as long."""
    exp = sqlglot_exp()
    if rows >> (_GRID - _HALF + 1):
        return exp.Sum(this=exp.cast(whole, "decimal(38, 0)"))
    high = exp.Sum(this=exp.func("shiftright", whole.copy(), exp.Literal.number(_HALF)))
    low = exp.Sum(this=exp.BitwiseAnd(this=whole, expression=exp.Literal.number((1 << _HALF) - 1)))
    scaled = exp.Mul(this=exp.cast(high, "decimal(20, 0)"), expression=exp.Literal.number(1 << _HALF))
    return exp.Add(this=scaled, expression=low)
