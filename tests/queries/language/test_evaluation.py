"""What expressions mean on rows: a table of cases, and a slow interpreter written apart from the fast one."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unworn.queries.language.evaluation import evaluate, truth
from unworn.queries.language.expression_codec import from_json
from unworn.queries.language.expressions import Expression, build, col, lit
from unworn.queries.language.schema_check import check
from unworn.queries.row_protocol import Column
from unworn.queries.schema import ColumnType, Schema


class Table:
    """Columns by name, from row 0."""

    def __init__(self, **columns: Column) -> None:
        self.columns = columns
        self.start = 0
        self.size = len(next(iter(columns.values())).values)

    def column(self, name: str) -> Column:
        return self.columns[name]


def number(values: Sequence[Any], dtype: Any = np.float64) -> Column:
    """A number column; None is missing (marked, with a harmless 0 under the mark)."""
    missing = np.array([value is None for value in values], dtype=bool)
    stored = np.array([0 if value is None else value for value in values], dtype=dtype)
    return Column("number", stored, missing if missing.any() else None)


def text(values: Sequence[str | None]) -> Column:
    vocabulary = sorted({value for value in values if value is not None})
    codes = np.array([0 if value is None else vocabulary.index(value) for value in values], dtype=np.int32)
    missing = np.array([value is None for value in values], dtype=bool)
    return Column("text", codes, missing if missing.any() else None, np.array(vocabulary, dtype=object))


def dates(values: Sequence[Any]) -> Column:
    missing = np.array([value is None for value in values], dtype=bool)
    stored = np.array([0 if value is None else value for value in values], dtype="datetime64[us]")
    return Column("date", stored, missing if missing.any() else None)


def bools(values: Sequence[bool | None]) -> Column:
    missing = np.array([value is None for value in values], dtype=bool)
    return Column("bool", np.array([bool(value) for value in values]), missing if missing.any() else None)


# The table of stack.md, and the cases around it ---

NAN, INF = float("nan"), float("inf")
ROWS = Table(
    x=number([1.0, None, NAN, INF, -INF, 7.0]),
    k=number([1, 2, 3, 1, 0, 100], np.int8),
    f=number([0.1] * 6, np.float32),
    s=text(["a", "b", None, "a", "c", "b"]),
    t=text(["a", "a", "a", None, "c", "z"]),
    d=dates(
        [
            datetime(2024, 1, 1),
            None,
            np.datetime64("NaT", "us"),
            datetime(2024, 6, 1, 12),
            datetime(2025, 1, 1),
            datetime(1969, 1, 1),
        ]
    ),
    b=bools([True, None, False, True, None, False]),
)
X, K, S, T, D, B = (col(name) for name in "xkstdb")


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (X > 0.5, "100001"),
        (X <= 1e300, "100001"),
        (X == X, "100001"),
        (X != 1, "000001"),
        (~(X > 5), "111110"),
        (~(X == 1), "011111"),
        (X.is_null(), "011110"),
        (X.fill(3) == 3, "011110"),
        (X.isin([1, 7, 8]), "100001"),
        (~X.isin([1]), "011111"),
        (X.between(1, 6), "100000"),
        (X + 1 > -1e9, "100001"),
        ((X - X).is_null(), "011110"),
        (col("f") > 0.1, "111111"),  # float32(0.1) as a float64 is above 0.1
        (K + K > 127, "000001"),  # no wrapping at int8
        (K * K * K == 1_000_000, "000001"),
        ((1 / (K - 1)).is_null(), "100100"),
        ((1 / (K - 1)).fill(5) == 5, "100100"),
        ((K / 0).is_null(), "111111"),
        ((0 / lit(0)).is_null(), "111111"),
        ((K * 1e308 * 10).is_null(), "111101"),
        (1 / (K * 1e308 * 10) == 0, "000000"),  # an infinity does not come back as 0
        (-K < -2, "001001"),
        (S == "a", "100100"),
        (S != "a", "010011"),
        (S == "nowhere", "000000"),
        (S != "nowhere", "110111"),
        (S == T, "100010"),
        (S != T, "010001"),
        (S.isin(["a", "c", "q"]), "100110"),
        (S.is_null(), "001000"),
        (S.fill("b") == "b", "011001"),
        (S.fill("new").isin(["new"]), "001000"),
        (datetime(2024, 6, 1, 12) <= D, "000110"),
        (D >= "2024-06-01T12:00", "000110"),
        (D < "1970-01-01", "000001"),
        (D != "2024-01-01", "000111"),
        (D == D, "100111"),
        (D.is_null(), "011000"),
        (D.between("2024-01-01", "2024-12-31"), "100100"),
        (D.isin(["2024-01-01", "2025-01-01"]), "100010"),
        (D.fill("2024-01-01") == "2024-01-01", "111000"),
        (B, "100100"),
        (~B, "011011"),
        (B == True, "100100"),  # noqa: E712
        (B == False, "001001"),  # noqa: E712
        (B != True, "001001"),  # noqa: E712
        (B.isin([False]), "001001"),
        (B.fill(True), "110110"),
        (B.is_null(), "010010"),
        ((X > 0) == B, "101000"),
        (B & (K == 1) | S.is_null(), "101100"),
        (lit(True), "111111"),
        (lit(1) > 2, "000000"),
        (lit("a") == "a", "111111"),
        (lit("2024-01-01") < datetime(2024, 1, 2), "111111"),
    ],
    ids=repr,
)
def test_meaning(predicate: Expression, expected: str) -> None:
    assert check(predicate, SCHEMA).kind == "bool"
    found = truth(predicate, ROWS)
    assert found.dtype == np.bool_
    assert "".join("01"[bit] for bit in found.tolist()) == expected


KINDS = {"x": "number", "k": "number", "f": "number", "s": "text", "t": "text", "d": "date", "b": "bool"}
SCHEMA = Schema({name: ColumnType(kind, nullable=True) for name, kind in KINDS.items()})  # type: ignore[arg-type]


def test_evaluate_gives_values_and_marks() -> None:
    values, missing = evaluate(K + 1, ROWS)
    assert values.dtype == np.float64
    assert values.tolist() == [2, 3, 4, 2, 1, 101]
    assert missing is None
    _, missing = evaluate(X * 2, ROWS)
    assert missing is not None
    assert missing.tolist() == [False, True, True, True, True, False]
    strings, _ = evaluate(S.fill("?"), ROWS)
    assert strings.tolist() == ["a", "b", "?", "a", "c", "b"]
    constant, _ = evaluate(lit(2.5) * 2, ROWS)
    assert constant.tolist() == [5.0] * 6


def test_the_frame_is_never_written_to_nor_lent_out() -> None:
    flags = bools([True, False])
    found = truth(B, Table(b=flags))
    found[:] = False
    assert flags.values.tolist() == [True, False]
    values = number([1.0, 2.0])
    evaluate(X + X + X - X, Table(x=values))
    assert values.values.tolist() == [1.0, 2.0]


def test_a_float_column_is_read_without_a_copy() -> None:
    values = np.linspace(0, 1, 1000)
    found, missing = evaluate(X, Table(x=Column("number", values)))
    assert np.shares_memory(found, values)
    assert missing is None


def test_empty_frames_and_empty_vocabularies() -> None:
    nothing = Table(x=number([]), s=text([]))
    assert truth((X > 1) | (S == "a") | S.isin(["a"]), nothing).shape == (0,)
    unknown = Table(s=text([None, None]), t=text(["a", None]))
    assert truth(S == "a", unknown).tolist() == [False, False]
    assert truth(S.fill("a") == T, unknown).tolist() == [True, False]


def test_a_long_sum_and_a_deep_tree_evaluate() -> None:
    frame = Table(x=number([1.0, 2.0]))
    total: Expression = X
    for _ in range(400):
        total = total + X
    assert evaluate(total, frame)[0].tolist() == [401.0, 802.0]
    nested: Expression = X
    for _ in range(39):
        nested = 1 - nested
    assert evaluate(nested, frame)[0].tolist() == [0.0, -1.0]


# A second interpreter, row by row in plain Python ---

COMPARE = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def slow(tree: Any, row: dict[str, Any]) -> Any:
    """The value of a JSON tree on one row; None is missing. Predicates are True or False."""
    tag, *parts = tree
    if tag == "col":
        value = row[parts[0]]
        return None if isinstance(value, float) and not math.isfinite(value) else value
    if tag == "lit":
        return float(parts[0]) if isinstance(parts[0], int) and not isinstance(parts[0], bool) else parts[0]
    if tag == "date":
        return datetime.fromisoformat(parts[0])
    found = [slow(part, row) for part in parts]
    if tag in ("and", "or", "not"):
        known = [value is True for value in found]
        return not known[0] if tag == "not" else (all(known) if tag == "and" else any(known))
    if tag == "is_null":
        return found[0] is None
    if tag == "fill":
        return _as(found[1], row_kind(parts[0])) if found[0] is None else found[0]
    if tag == "in":
        return found[0] is not None and any(found[0] == _as(item, type(found[0])) for item in found[1:])
    if None in found:
        return False if tag in COMPARE or tag == "between" else None
    if tag == "between":
        return _as(found[1], type(found[0])) <= found[0] <= _as(found[2], type(found[0]))
    if tag in COMPARE:
        return COMPARE[tag](found[0], _as(found[1], type(found[0])))
    if tag == "neg":
        return -found[0]
    result = found[0]
    for value in found[1:]:
        if tag == "div" and value == 0:
            return None
        result = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}[tag](
            result, value
        )
        if not math.isfinite(result):
            return None
    return result


def _as(value: Any, kind: type) -> Any:
    return datetime.fromisoformat(value) if kind is datetime and isinstance(value, str) else value


def row_kind(tree: Any) -> type:
    while tree[0] == "fill":
        tree = tree[1]
    return datetime if tree == ["col", "d"] or tree == ["col", "e"] else object


NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.1, 1e308, -1e308, 5e-324, 3.0]),
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
)
TEXTS = st.sampled_from(["", "a", "b", "Ä", "a'", "2024-01-01"])
DATES = st.integers(-3, 3).map(lambda days: datetime(2024, 1, 1) + timedelta(days=days / 2))
CELLS = {
    "x": st.none() | NUMBERS | st.sampled_from([NAN, INF, -INF]),
    "y": NUMBERS | st.sampled_from([NAN, INF]),
    "k": st.none() | st.integers(-128, 127).map(float),
    "s": st.none() | TEXTS,
    "t": TEXTS,
    "d": st.none() | DATES,
    "e": DATES,
    "b": st.none() | st.booleans(),
    "c": st.booleans(),
}
MAKE = {
    "x": number,
    "y": number,
    "k": number,
    "s": text,
    "t": text,
    "d": dates,
    "e": dates,
    "b": bools,
    "c": bools,
}
ALL = Schema(
    {
        **{name: ColumnType("number", True) for name in "xyk"},
        **{name: ColumnType("text", True) for name in "st"},
        **{name: ColumnType("date", True) for name in "de"},
        **{name: ColumnType("bool", True) for name in "bc"},
    }
)


def values_of(columns: str, constants: Any, fills: Any) -> Any:
    """Columns, constants and filled columns of one kind."""
    column = st.sampled_from(list(columns)).map(col)
    return st.one_of(column, column, constants.map(lit), st.builds(Expression.fill, column, fills))


DATE_WORDS = DATES | DATES.map(lambda moment: moment.isoformat())
BOOL_VALUES = values_of("bc", st.booleans(), st.booleans())
TEXT_VALUES, DATE_VALUES = values_of("st", TEXTS, TEXTS), values_of("de", DATES, DATE_WORDS)
NUMBER_VALUES = st.recursive(
    values_of("xyk", NUMBERS, NUMBERS),
    lambda inner: st.one_of(
        st.builds(build, st.sampled_from(["add", "sub", "mul", "div"]), inner, inner),
        st.builds(build, st.just("neg"), inner),
        st.builds(Expression.fill, inner, NUMBERS),
    ),
    max_leaves=6,
)
EQUALITY, ORDER = st.sampled_from(["eq", "ne"]), st.sampled_from(list(COMPARE))


def lists(items: Any) -> Any:
    return st.lists(items, min_size=1, max_size=4)


def ends(items: Any) -> Any:
    return st.tuples(items, items).map(sorted)


BASE = st.one_of(
    st.builds(build, ORDER, NUMBER_VALUES, NUMBER_VALUES),
    st.builds(build, ORDER, DATE_VALUES, DATE_VALUES),
    st.builds(lambda op, left, right: build(op, left, lit(right)), ORDER, st.sampled_from([D, col("e")]), DATE_WORDS),
    st.builds(build, EQUALITY, TEXT_VALUES, TEXT_VALUES),
    st.builds(build, EQUALITY, BOOL_VALUES, BOOL_VALUES),
    BOOL_VALUES,
    st.builds(Expression.isin, NUMBER_VALUES, lists(NUMBERS)),
    st.builds(Expression.isin, TEXT_VALUES, lists(TEXTS)),
    st.builds(Expression.isin, DATE_VALUES, lists(DATES)),
    st.builds(Expression.isin, BOOL_VALUES, lists(st.booleans())),
    st.builds(lambda value, pair: value.between(*pair), NUMBER_VALUES, ends(NUMBERS)),
    st.builds(lambda value, pair: value.between(*pair), DATE_VALUES, ends(DATES)),
    st.builds(Expression.is_null, st.one_of(NUMBER_VALUES, TEXT_VALUES, DATE_VALUES)),
)
PREDICATES = st.recursive(
    BASE,
    lambda inner: st.one_of(
        st.builds(build, st.sampled_from(["and", "or"]), inner, inner), st.builds(operator.invert, inner)
    ),
    max_leaves=5,
)
FRAMES = st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=6)


def table(rows: list[dict[str, Any]]) -> Table:
    return Table(**{name: make([row[name] for row in rows]) for name, make in MAKE.items()})


@settings(derandomize=True, deadline=None, max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(PREDICATES, FRAMES)
def test_predicates_agree_with_the_slow_interpreter(predicate: Expression, rows: list[dict[str, Any]]) -> None:
    assert check(predicate, ALL).kind == "bool"
    tree = predicate.to_json()
    assert from_json(tree).same(predicate)
    # Deterministic: nothing here can raise a false alarm.
    assert truth(predicate, table(rows)).tolist() == [slow(tree, row) is True for row in rows]


@settings(derandomize=True, deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(NUMBER_VALUES, FRAMES)
def test_numbers_agree_with_the_slow_interpreter(number_value: Expression, rows: list[dict[str, Any]]) -> None:
    assert check(number_value, ALL).kind == "number"
    values, missing = evaluate(number_value, table(rows))
    marks = [False] * len(rows) if missing is None else missing.tolist()
    found = [None if mark else value for value, mark in zip(values.tolist(), marks, strict=True)]
    assert found == [slow(number_value.to_json(), row) for row in rows]
