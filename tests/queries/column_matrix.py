"""Columns of all sorts, each with what every reader must make of it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

NAN, INF = float("nan"), float("inf")
EXACT = 2**60 + 1  # no float64 holds it
HUGE = 2**70  # nor 64 bits
ZONE = dt.timezone(dt.timedelta(hours=2))
DAY, OTHER = dt.date(2024, 1, 5), dt.date(2023, 2, 1)
NOON, PAST = dt.datetime(2024, 1, 5, 12, 30), dt.datetime(1950, 2, 1)
DAYS = [dt.datetime(2024, 1, 5), None, dt.datetime(2023, 2, 1)]
MOMENTS = [NOON, None, PAST]
TOKYO = [dt.datetime(2024, 1, 5, 3, 30), None, dt.datetime(1950, 1, 31, 15)]
EPOCH, NANO = dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 0, 1)

How = Literal["typed", "untyped", "no kind", "refused"]
"""Read by all alike; read by its values, but not as rows; without a kind, so left out or refused; refused by all."""


@dataclass(frozen=True)
class Case:
    """A column, how it is read, and as what: a kind, and values with None where one is missing."""

    data: Any
    how: How
    kind: str = ""
    values: tuple[Any, ...] = ()
    nullable: bool = True

    def __repr__(self) -> str:
        return f"{self.how} {self.kind}"


def typed(data: Any, kind: str, values: Any, nullable: bool = True) -> Case:
    return Case(data, "typed", kind, tuple(values), nullable)


def untyped(data: Any, kind: str, values: Any) -> Case:
    return Case(data, "untyped", kind, tuple(values))


def objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def lists() -> dict[str, Case]:
    return {
        "whole": typed([3, 1, 2], "number", [3, 1, 2], False),
        "tuple": typed((3, 1, 2), "number", [3, 1, 2], False),
        "range": typed(range(3), "number", [0, 1, 2], False),
        "whole with None": untyped([1, None, 2], "number", [1, None, 2]),
        "whole with NA": untyped([1, pd.NA, 2], "number", [1, None, 2]),
        "float with NaN": typed([1.5, NAN, 2.0], "number", [1.5, None, 2.0]),
        "float with None": untyped([1.5, None, 2.0], "number", [1.5, None, 2.0]),
        "infinite": typed([1.0, INF, -INF], "number", [1.0, INF, -INF]),
        "beyond 2^53": typed([EXACT, 1, 2], "number", [EXACT, 1, 2], False),
        "beyond 2^53 with None": untyped([EXACT, None, 2], "number", [EXACT, None, 2]),
        "beyond 2^63": typed([2**63 + 2048, -1, 2], "number", [float(2**63 + 2048), -1.0, 2.0]),
        "beyond 2^64": untyped([HUGE, 1, None], "number", [float(HUGE), 1.0, None]),
        "bool": typed([True, False], "bool", [True, False], False),
        "bool with None": untyped([True, None, False], "bool", [True, None, False]),
        "bool and whole": typed([True, 2], "number", [1, 2], False),
        "bool, whole and None": untyped([True, 2, None], "number", [1, 2, None]),
        "text": typed(["b", "a", "b"], "text", ["b", "a", "b"]),
        "text with None": untyped(["b", None, "a"], "text", ["b", None, "a"]),
        "text, None and NaN": untyped(["b", None, NAN], "text", ["b", None, None]),
        "whole and text": typed([1, "1", "a"], "text", ["1", "1", "a"]),  # as NumPy makes of it
        "whole, text and None": Case([1, "a", None], "refused"),
        "decimal": untyped([Decimal("1.5"), None, Decimal(2)], "number", [1.5, None, 2.0]),
        "date": untyped([DAY, None, OTHER], "date", DAYS),
        "moment": untyped([NOON, None, PAST], "date", MOMENTS),
        "date and moment": untyped([DAY, NOON], "date", [DAYS[0], NOON]),
        "moment and NaT": untyped([pd.Timestamp(NOON), pd.NaT, pd.Timestamp(PAST)], "date", MOMENTS),
        "zoned": untyped([NOON.replace(tzinfo=ZONE), None], "date", [NOON - dt.timedelta(hours=2), None]),
        "date and text": Case([DAY, "2024-01-05", None], "refused"),
        "span": Case([dt.timedelta(1), None], "refused"),
        "bytes": Case([b"a", b"b"], "no kind"),
        "bytes with None": Case([b"a", None], "refused"),
        "complex": Case([1j, 2], "no kind"),
        "object": Case([object(), object()], "refused"),
        "ragged": Case([[1], [1, 2]], "refused"),
        "column": typed([[1], [2], [3]], "number", [1, 2, 3], False),
        "nothing but None": untyped([None, None], "text", [None, None]),
        "nothing but NaN": typed([NAN, NAN], "number", [None, None]),
    }


def arrays() -> dict[str, Case]:
    found = {
        f"{name}": typed(np.array([1, 0, 1]).astype(name), "number", [1, 0, 1], name[0] in "fl")
        for name in ("int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "longdouble", ">i4")
    }
    big = np.array([2**64 - 1, 1], dtype=np.uint64)
    long = np.array([np.longdouble("1e4000"), 1, np.nan])
    return found | {
        "uint64, large": typed(big, "number", [2**64 - 1, 1], False),
        "float16 with NaN": typed(np.array([1.5, NAN, INF], dtype="f2"), "number", [1.5, None, INF]),
        "longdouble, large": typed(long, "number", [INF, 1.0, None]),
        "bool": typed(np.array([True, False]), "bool", [True, False], False),
        "text": typed(np.array(["a", "bc"]), "text", ["a", "bc"]),
        "long text": typed(np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None)), "text", ["a", None]),
        "date": typed(np.array(["2024-01-05", "NaT", "2023-02-01"], dtype="M8[D]"), "date", DAYS),
        "nanosecond": typed(
            np.array([1001, 999], dtype="M8[ns]"), "date", [dt.datetime(1970, 1, 1, 0, 0, 0, 1), EPOCH]
        ),
        "objects: whole": typed(objects([1, None, 2]), "text", ["1", None, "2"]),  # by the dtype, never by values
        "objects: bool": typed(objects([True, None]), "text", ["True", None]),
        "objects: text": typed(objects(["b", None, NAN]), "text", ["b", None, None]),
        "objects: mixed": typed(objects([1, "1", HUGE]), "text", ["1", "1", str(HUGE)]),
        "objects: date": typed(objects([DAY, None]), "text", ["2024-01-05", None]),
        "objects: none": typed(objects([None, None]), "text", [None, None]),
        "bytes": Case(np.array([b"a", b"b"]), "no kind"),
        "span": Case(np.array([1, 2], dtype="m8[s]"), "no kind"),
        "complex": Case(np.array([1j, 2]), "no kind"),
        "structured": Case(np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), "no kind"),
        "masked": Case(np.ma.array([1, 5, 2], mask=[0, 1, 0]), "refused"),
        "masked nowhere": Case(np.ma.array([1, 5, 2]), "refused"),  # by its type, as a dtype
        "one column": typed(np.array([[1], [2]]), "number", [1, 2], False),
    }


def pandas() -> dict[str, Case]:
    def series(values: Any, dtype: Any = None) -> Any:
        return pd.Series(values, dtype=dtype)

    def arrow(values: Any, kind: Any) -> Any:
        return pd.Series(pd.array(values, dtype=pd.ArrowDtype(kind)))

    utc = pd.to_datetime(pd.Series(MOMENTS)).dt.tz_localize("Asia/Tokyo")
    kept = pd.arrays.FloatingArray(np.array([1.5, NAN, INF, 7.0]), np.array([False, False, False, True]))
    holes = [3, None, 2]
    return {
        "int64": typed(series([3, 1, 2]), "number", [3, 1, 2], False),
        "bool": typed(series([True, False]), "bool", [True, False], False),
        "float64": typed(series([1.5, NAN, INF]), "number", [1.5, None, INF]),
        "Int64": typed(series(holes, "Int64"), "number", holes),
        "Int64 without holes": typed(series([3, 1], "Int64"), "number", [3, 1]),
        "Int64, large": typed(series([EXACT, None], "Int64"), "number", [EXACT, None]),
        "UInt64, large": typed(series([2**64 - 1, None], "UInt64"), "number", [2**64 - 1, None]),
        "Float64": typed(pd.Series(kept), "number", [1.5, None, INF, None]),
        "boolean": typed(series([True, None, False], "boolean"), "bool", [True, None, False]),
        "string": typed(series(["b", None, "a"], "string"), "text", ["b", None, "a"]),
        "str": typed(series(["b", None, "a"]), "text", ["b", None, "a"]),
        "categories": typed(series(["b", None, "a"], "category"), "text", ["b", None, "a"]),
        "categories of whole": typed(series(holes, "category"), "text", ["3", None, "2"]),
        "objects: whole": typed(series(holes, object), "text", ["3", None, "2"]),
        "objects: mixed": typed(series([1, "1", Decimal(2)], object), "text", ["1", "1", "2"]),
        "objects: arrays": typed(series([np.array([1]), np.array([2])]), "text", ["[1]", "[2]"]),
        "datetime": typed(series(MOMENTS), "date", MOMENTS),
        "zoned": typed(utc, "date", TOKYO),
        "Arrow int64": typed(arrow(holes, pa.int64()), "number", holes),
        "Arrow double": typed(arrow([1.5, None, INF], pa.float64()), "number", [1.5, None, INF]),
        "Arrow bool": typed(arrow([True, None], pa.bool_()), "bool", [True, None]),
        "Arrow string": typed(arrow(["b", None], pa.string()), "text", ["b", None]),
        "Arrow decimal": typed(arrow([Decimal("1.5"), None], pa.decimal128(20, 2)), "number", [1.5, None]),
        "Arrow dictionary": typed(arrow(["b", None], pa.dictionary(pa.int32(), pa.string())), "text", ["b", None]),
        "Arrow date": typed(arrow([DAY, None, OTHER], pa.date32()), "date", DAYS),
        "Arrow zoned": typed(arrow(utc, pa.timestamp("us", "Asia/Tokyo")), "date", TOKYO),
        "Arrow list": Case(arrow([[1], None], pa.list_(pa.int64())), "no kind"),
        "Arrow null": Case(arrow([None, None], pa.null()), "no kind"),
        "span": Case(series([dt.timedelta(1), None]), "no kind"),
        "period": Case(pd.Series(pd.period_range("2024-01", periods=2, freq="M")), "no kind"),
        "sparse": Case(pd.Series(pd.arrays.SparseArray([0.0, 1.0])), "no kind"),
        "complex": Case(series([1j, 2]), "no kind"),
        "bare Int64": typed(pd.array(holes, dtype="Int64"), "number", holes),
        "bare Int64 without holes": typed(pd.array([3, 1], dtype="Int64"), "number", [3, 1]),
        "bare boolean": typed(pd.array([True, None], dtype="boolean"), "bool", [True, None]),
        "bare string": typed(pd.array(["b", None], dtype="string"), "text", ["b", None]),
        "bare categories": typed(pd.Categorical(["b", None]), "text", ["b", None]),
        "index": typed(pd.Index([1, 2]), "number", [1, 2], False),
        "zoned index": typed(pd.DatetimeIndex(utc), "date", TOKYO),
        "frame of one": typed(pd.DataFrame({"q": [1.0, NAN]}), "number", [1.0, None]),
    }


def polars() -> dict[str, Case]:
    def series(values: Any, dtype: Any = None) -> Any:
        return pl.Series("c", values, dtype=dtype)

    holes = [3, None, 2]
    whole = (pl.Int8, pl.UInt8, pl.Int64, pl.UInt64, pl.Float32, pl.Float64, pl.Int128, pl.UInt128)
    found = {str(kind): typed(series(holes, kind), "number", holes) for kind in whole}
    found |= {f"{kind} without holes": typed(series([3, 1], kind), "number", [3, 1]) for kind in whole}
    far = series([2**62, None], pl.Int64).cast(pl.Datetime("ms"))
    return found | {
        "Int64, large": typed(series([EXACT, None]), "number", [EXACT, None]),
        "Int128, large": typed(series([HUGE, None], pl.Int128), "number", [float(HUGE), None]),
        "Float64 with NaN": typed(series([1.5, None, NAN, INF]), "number", [1.5, None, None, INF]),
        "Boolean": typed(series([True, None, False]), "bool", [True, None, False]),
        "Boolean without holes": typed(series([True, False]), "bool", [True, False]),
        "String": typed(series(["b", None, "a"]), "text", ["b", None, "a"]),
        "Categorical": typed(series(["b", None, "a"], pl.Categorical), "text", ["b", None, "a"]),
        "Enum": typed(series(["b", None, "a"], pl.Enum(["a", "b", "c"])), "text", ["b", None, "a"]),
        "Decimal": typed(series([Decimal("1.50"), None], pl.Decimal(20, 2)), "number", [1.5, None]),
        "Date": typed(series([DAY, None, OTHER]), "date", DAYS),
        "Datetime": typed(series(MOMENTS), "date", MOMENTS),
        "Datetime, zoned": typed(series(MOMENTS).dt.replace_time_zone("Asia/Tokyo"), "date", TOKYO),
        "Datetime, nanoseconds": typed(series([1001, None]).cast(pl.Datetime("ns")), "date", [NANO, None]),
        "Datetime, far": typed(far, "date", [EPOCH, None]),  # beyond what microseconds count: NumPy goes round
        "Object": typed(series([1, None, "a"], pl.Object), "text", ["1", None, "a"]),
        "nothing but null": typed(series([None, None], pl.Int64), "number", [None, None]),
        "Duration": Case(series([dt.timedelta(1), None]), "no kind"),
        "Time": Case(series([dt.time(1), None]), "no kind"),
        "List": Case(series([[1], None]), "no kind"),
        "Struct": Case(series([{"a": 1}]), "no kind"),
        "Binary": Case(series([b"a", None]), "no kind"),
        "Null": Case(series([None, None]), "no kind"),
        "frame of one": typed(pl.DataFrame({"q": holes}), "number", holes),
    }


def arrow() -> dict[str, Case]:
    def column(values: Any, kind: Any) -> Any:
        return pa.chunked_array([pa.array(values, kind)])

    holes, words = [3, None, 2], ["b", None, "a"]
    numbers = (pa.int8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64())
    texts = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()))
    found = {str(kind): typed(column(holes, kind), "number", holes) for kind in numbers}
    found |= {f"{kind} without holes": typed(column([3, 1], kind), "number", [3, 1]) for kind in numbers}
    found |= {str(kind): typed(column(words, kind), "text", words) for kind in texts}
    for unit in ("s", "ms", "us", "ns"):
        found[f"timestamp[{unit}]"] = typed(column(MOMENTS, pa.timestamp(unit)), "date", MOMENTS)
        found[f"timestamp[{unit}, UTC]"] = typed(column(MOMENTS, pa.timestamp(unit, "UTC")), "date", MOMENTS)
    return found | {
        "float16": typed(column(np.array([1.5, NAN], dtype="f2"), pa.float16()), "number", [1.5, None]),
        "int64, large": typed(column([EXACT, None], pa.int64()), "number", [EXACT, None]),
        "uint64, large": typed(column([2**64 - 1, None], pa.uint64()), "number", [2**64 - 1, None]),
        "double with NaN": typed(column([1.5, NAN, None, INF], pa.float64()), "number", [1.5, None, None, INF]),
        "bool": typed(column([True, None, False], pa.bool_()), "bool", [True, None, False]),
        "decimal128": typed(column([Decimal("1.50"), None], pa.decimal128(20, 2)), "number", [1.5, None]),
        "dictionary of whole": typed(pa.chunked_array([pa.array(holes).dictionary_encode()]), "text", ["3", None, "2"]),
        "date32": typed(column([DAY, None, OTHER], pa.date32()), "date", DAYS),
        "nanoseconds": typed(column([1001, None], pa.timestamp("ns")), "date", [NANO, None]),
        "chunks": typed(pa.chunked_array([["b"], [None, "a"]]), "text", words),
        "nothing but null": typed(column([None, None], pa.int64()), "number", [None, None]),
        "bare int64": typed(pa.array(holes), "number", holes),
        "bare int64 without holes": typed(pa.array([3, 1]), "number", [3, 1]),
        "bare bool": typed(pa.array([True, None]), "bool", [True, None]),
        "bare string": typed(pa.array(words), "text", words),
        "duration": Case(column([1, None], pa.duration("us")), "no kind"),
        "time": Case(column([dt.time(1), None], pa.time64("us")), "no kind"),
        "binary": Case(column([b"a", None], pa.binary()), "no kind"),
        "list": Case(column([[1], None], pa.list_(pa.int64())), "no kind"),
        "null": Case(column([None, None], pa.null()), "no kind"),
        "date64": Case(column([DAY, None], pa.date64()), "no kind"),
        "decimal256": Case(column([Decimal("1.50"), None], pa.decimal256(60, 2)), "no kind"),
    }


CASES: dict[str, Case] = {
    f"{family}: {name}": case
    for family, made in [
        ("list", lists()),
        ("array", arrays()),
        ("pandas", pandas()),
        ("polars", polars()),
        ("arrow", arrow()),
    ]
    for name, case in made.items()
}
