"""A question as a Python function: local only, because a function cannot be written into a ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.code.live_code import Code
from unworn.queries.column_reader import read_column
from unworn.queries.language.literals import as_float
from unworn.queries.predictions import FeatureFrame, as_feature_frame
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Bools, Column, Floats, Frame, run_code
from unworn.queries.schema import Schema

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Function(Query):
    """The mean of what user code says about each row.

    Its fingerprint is its ``name``, or else the digest of its code (:mod:`~unworn.queries.code.code_digest`), taken
    when the question is made: nothing computed from the rows may stand in. Before it runs it is looked at again.
    """

    fn: Callable[[Columns], Any] = field(metadata={"code": True})
    low: float
    high: float
    binary: bool
    name: str | None
    code: Code = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", Code(self.fn, "function", self.name))
        object.__setattr__(self, "name", self.code.name)

    @property
    def label(self) -> str:
        return self.code.label

    def to_json(self) -> dict[str, Any]:
        identity = {"name": self.name} if self.name is not None else {"code": self.code.digest}
        return {"ask": "callable", "range": [self.low, self.high], "binary": self.binary, **identity}

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Function) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _facts(self, schema: Schema, size: int) -> Facts:
        exact = self.binary and not schema.grouped
        return Facts("binary" if exact else "unit", self.low, self.high, runs_code=True)

    def values(self, frame: Frame) -> Bools | Floats:
        rows = as_feature_frame(frame)
        every = rows.once((id(self), "function"), lambda: self._run(rows))
        return rows.pick(every)

    def _run(self, frame: FeatureFrame) -> Bools | Floats:
        whole = frame.whole

        def run() -> Column:
            told = self.fn({name: plain(whole.column(name)) for name in frame.names})
            read = read_column(told, "its result", by_value=True, copy=False)
            if read is None or read.column.kind not in ("number", "bool"):
                raise ValueError(f"it returned a {type(told).__name__} that holds neither numbers nor booleans")
            if len(read.column.values) != whole.size:
                raise ValueError(f"it returned {len(read.column.values)} numbers for {whole.size} rows")
            return read.column

        result = run_code(run)
        with np.errstate(all="ignore"):
            numbers = result.values.astype(np.float64)
            known = np.ones(len(numbers), dtype=bool) if result.missing is None else ~result.missing
            if self.binary:
                truth: Bools = known & (numbers != 0)
                return truth
            return np.where(known, np.clip(numbers, self.low, self.high), self.low)


def plain(column: Column) -> NDArray[Any]:
    """A column as NumPy users know it, read-only: NaN, None or NaT where it is missing.

    >>> plain(Column("number", np.array([1, 2]), np.array([False, True]))).tolist()
    [1.0, nan]
    """
    values: NDArray[Any]
    if column.kind == "number":
        values = column.values.astype(np.float64)
        if column.missing is not None:
            values[column.missing] = np.nan
    elif column.vocabulary is not None:
        values = column.vocabulary[column.values]
        if column.missing is not None:
            values[column.missing] = None
    elif column.kind == "date":
        values = column.values.copy()
        if column.missing is not None:
            values[column.missing] = np.array("NaT", values.dtype)
    elif column.missing is not None:
        values = column.values.astype(object)
        values[column.missing] = None
    else:
        values = column.values.copy()
    values.setflags(write=False)
    return values


def function(
    fn: Callable[[Columns], Any],
    range: Sequence[float] | None = None,
    name: str | None = None,
    *,
    binary: bool = False,
) -> Function:
    """A question whose values are ``fn(columns)``: one per row, clipped to ``range``; NaN counts as its lower end.

    ``fn`` is called once, with all the rows, as a dictionary of read-only arrays. With ``binary=True`` each
    value counts as true or false. A function with the same code is the same question; where its code cannot be read
    it needs a name, which must change whenever the function does.

    >>> function(lambda columns: columns["age"] / 100, range=(0, 1), name="age").to_json()
    {'ask': 'callable', 'range': [0.0, 1.0], 'binary': False, 'name': 'age'}
    """
    if not callable(fn):
        raise Unaskable(f"function takes a Python function of the columns, not {type(fn).__name__}")
    if binary:
        if range is not None and tuple(range) != (0, 1):
            raise Unaskable("a binary function has the range (0, 1); leave range out")
        return Function(fn, 0.0, 1.0, True, name)
    if range is None:
        raise Unaskable("a function needs range=(low, high), declared and not computed from the rows, or binary=True")
    try:
        low, high = (as_float(end, "an end of a range") for end in range)
    except (TypeError, ValueError, OverflowError):
        raise Unaskable(f"range must be two numbers (low, high), not {show_value(range)}") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise Unaskable(f"range must be finite with low < high, not ({low}, {high})", low=low, high=high)
    return Function(fn, low, high, False, name)


def function_from_json(data: Mapping[str, Any]) -> NoReturn:
    """A ledger keeps a function's name, not its code."""
    name = data.get("name") or data.get("code") or data.get("token")
    raise Unaskable(f"this record asks the Python function {name!r}, whose code is not in the ledger; make it again")
