"""What every engine must agree on: the NumPy meaning of the language, on rows chosen to be awkward.

An engine is tested by giving :func:`agree` a function that makes one from an Arrow table. Rows have missing values,
NaN, infinities, numbers at the ends of their types, quotes and half the alphabet; questions are random trees of the
whole language. Both are made from a seed, so that a failure is told by two numbers. Counts must be equal, means equal
to 1e-12 of their size (and to the grid of the sum, 2^-62 of the range), and nothing may be raised: an error that
depends on rows is an answer that nobody paid for.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from unworn.queries import Schema, col, lit, mean, share
from unworn.queries.arrays import encode_text
from unworn.queries.language.expressions import Arithmetic, Expression, build
from unworn.queries.language.means import Mean, Share
from unworn.queries.row_protocol import Column
from unworn.queries.schema import ColumnType
from unworn.rows.contract import Batch, Engine

Make = Callable[[pa.Table], Engine]
Chance = random.Random

HARD = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 0.1, 1e308, -1e308, 5e-324, -5e-324, 1e-300, 2.0**53, 65.0, 1e16, 1 / 3]
HARDER = [*HARD, math.inf, -math.inf, math.nan, math.nan, math.inf]
WORDS = [
    *(
        "",
        "a",
        "A",
        "it's",
        '"',
        "é",
        "e\u0301",
        "日本",
        "\\",
        "a\\'b",
        "--",
        ";",
        "%",
        "a\nb",
        "\x00",
        "a ",
        "😀",
        "null",
    ),
    *("`", "${x}", "\\u0041", "\t", "/* */"),
]
MOMENTS = [
    datetime(1970, 1, 1),
    datetime(2024, 2, 29),
    datetime(1900, 1, 1, 1, 2, 3, 4),
    datetime(9999, 12, 31),
    datetime(1, 1, 1),
]
DAYS = [moment.date() for moment in MOMENTS] + [date(2024, 3, 1)]
ENDS = [0, 1, -1, 65, 2**53, 2**53 + 1, -(2**63), 2**63 - 1]


def _float32(number: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float32(number))


_COLUMNS: dict[str, tuple[Any, Any, Callable[[Chance], Any]]] = {
    "x": ("number", pa.float64(), lambda r: r.choice(HARDER)),
    "y": ("number", pa.float64(), lambda r: r.gauss(0, 1)),
    "z": ("number", pa.float64(), lambda r: r.choice([0.0, -0.0, 1.0, math.inf, math.nan, -3.0])),
    "f": ("number", pa.float32(), lambda r: _float32(r.choice([*HARDER, r.random()]))),
    "whole": ("number", pa.int64(), lambda r: r.choice([*ENDS, r.randint(-9, 9)])),
    "small": ("number", pa.int8(), lambda r: r.randint(-128, 127)),
    "large": ("number", pa.uint64(), lambda r: r.choice([0, 1, 2**63, 2**64 - 1])),
    "price": ("number", pa.decimal128(12, 3), lambda r: Decimal(r.randint(-(10**11), 10**11)).scaleb(-3)),
    "long": ("number", pa.decimal128(38, 6), lambda r: Decimal(r.randint(-(10**24), 10**24)).scaleb(-6)),
    "yes": ("bool", pa.bool_(), lambda r: r.random() < 0.5),
    "no": ("bool", pa.bool_(), lambda r: r.random() < 0.1),
    "word": ("text", pa.string(), lambda r: r.choice(WORDS)),
    "other": (
        "text",
        pa.string(),
        lambda r: r.choice([*WORDS, chr(r.randint(1, 0xD7FF)), chr(r.randint(0xE000, 0x10FFFF))]),
    ),
    "when": ("date", pa.timestamp("us"), lambda r: r.choice(MOMENTS)),
    "day": ("date", pa.date32(), lambda r: r.choice(DAYS)),
}
KINDS = {name: kind for name, (kind, _, _) in _COLUMNS.items()}
SCHEMA = Schema({name: ColumnType(kind, nullable=True) for name, kind in KINDS.items()})


def table_of(seed: int) -> pa.Table:
    """A few rows of every column; some columns have nothing missing, some nothing else."""
    chance = random.Random(f"rows {seed}")
    rows = chance.choice([1, 2, 7, 40])
    arrays = {}
    for name, (_, kind, cell) in _COLUMNS.items():
        rare = chance.choice([0.0, 0.1, 0.1, 0.5, 1.0])
        arrays[name] = pa.array([None if chance.random() < rare else cell(chance) for _ in range(rows)], kind)
    return pa.table(arrays)


def plain_frame(table: pa.Table) -> Batch:
    """The same rows in NumPy, made value by value and without any engine."""
    columns = {}
    for name in table.column_names:
        cells, kind = table[name].to_pylist(), KINDS[name]
        absent = np.array([cell is None for cell in cells])
        missing = absent if absent.any() else None
        if kind == "text":
            columns[name] = encode_text(cells)
        elif kind == "date":
            moments = [np.datetime64(0 if cell is None else cell, "us") for cell in cells]
            columns[name] = Column("date", np.array(moments, dtype="datetime64[us]"), missing)
        elif kind == "bool":
            columns[name] = Column("bool", np.array([bool(cell) for cell in cells]), missing)
        else:
            columns[name] = Column("number", np.array([float(cell or 0) for cell in cells]), missing)
    return Batch(columns, table.num_rows)


def number(chance: Chance, depth: int) -> Expression:
    """A number: a column, a constant, or something worked out of numbers."""
    if depth <= 0 or chance.random() < 0.3:
        return _column(chance, "number") if chance.random() < 0.85 else lit(chance.choice(HARD))
    parts = [number(chance, depth - 1) for _ in range(chance.choice([2, 2, 3, 4]))]
    match chance.choice(["add", "mul", "sub", "div", "div", "neg", "fill"]):
        case "neg":
            return -parts[0]
        case "fill":
            return parts[0].fill(chance.choice(HARD))
        case "add" | "mul" as many:
            return Arithmetic(many, tuple(parts))
        case two:
            return Arithmetic(two, tuple(parts[:2]))


def other(chance: Chance, kind: str) -> Expression:
    """A text, a date or a truth value."""
    column = _column(chance, kind)
    return column.fill(_constant(chance, kind)) if chance.random() < 0.2 else column


def predicate(chance: Chance, depth: int) -> Expression:
    """Anything that is true or false."""
    if depth > 0 and chance.random() < 0.6:
        parts = [predicate(chance, depth - 1) for _ in range(chance.choice([2, 2, 3, 9]))]
        match chance.choice(["and", "or", "not", "eq", "ne"]):
            case "not":
                return ~parts[0]
            case "and" | "or" as many:
                return build(many, *parts)
            case two:
                return build(two, *parts[:2])
    kind = chance.choice(["number", "number", "number", "text", "date", "bool"])
    value = number(chance, 3) if kind == "number" else other(chance, kind)
    ordered = kind in ("number", "date")
    match chance.choice(["same", "constant", "constant", "in", "between", "is_null", "alone"]):
        case "same":
            beside = number(chance, 2) if kind == "number" else other(chance, kind)
            return build(_operator(chance, ordered), value, beside)
        case "in":
            return value.isin([_constant(chance, kind) for _ in range(chance.choice([1, 3, 6]))])
        case "between" if ordered:
            return value.between(*sorted([_constant(chance, kind), _constant(chance, kind)]))
        case "is_null":
            return value.is_null()
        case "alone" if kind == "bool":
            return value
        case _:
            return build(_operator(chance, ordered), value, lit(_constant(chance, kind)))


def questions_of(seed: int, count: int = 25) -> list[Share | Mean]:
    """Random questions of the whole language."""
    chance = random.Random(f"questions {seed}")
    asked: list[Share | Mean] = []
    for _ in range(count):
        if chance.random() < 0.65:
            asked.append(share(predicate(chance, chance.choice([0, 1, 2]))))
        else:
            asked.append(mean(number(chance, 4).fill(chance.choice(HARD)), chance.choice(RANGES)))
    return asked


RANGES = [(0.0, 1.0), (-1.0, 1.0), (0.0, 200_000.0), (-1e300, 1e300), (0.0, 1e-300), (-3.0, 70.0)]


def _column(chance: Chance, kind: str) -> Expression:
    return col(chance.choice([name for name, found in KINDS.items() if found == kind]))


def _constant(chance: Chance, kind: str) -> Any:
    return chance.choice({"number": HARD, "text": WORDS, "date": MOMENTS, "bool": [True, False]}[kind])


def _operator(chance: Chance, ordered: bool) -> str:
    return chance.choice(["eq", "ne", "lt", "le", "gt", "ge"] if ordered else ["eq", "ne"])


def agree(make: Make, table: pa.Table, asked: Sequence[Share | Mean]) -> None:
    """The engine's sums, and the values of rows that it brings out, are those of NumPy."""
    frame, engine = plain_frame(table), make(table)
    assert engine.rows == table.num_rows
    assert dict(engine.kinds) == KINDS
    for query in asked:
        query.facts(SCHEMA, engine.rows)
    rows = engine.draw(np.arange(engine.rows), list(KINDS))
    for query, total in zip(asked, engine.sums(asked), strict=True):
        with np.errstate(all="ignore"):
            values = query.values(frame)
            brought = query.values(rows)
        np.testing.assert_array_equal(brought, values, err_msg=repr(query))
        if isinstance(query, Share):
            assert total == np.count_nonzero(values), query
        else:
            wanted = math.fsum(values)
            most = max(abs(query.low), abs(query.high))
            room = 1e-12 * math.fsum(np.abs(values)) + len(values) * 2.0**-62 * most
            assert abs(float(total) - wanted) <= room, (query, float(total), wanted)
