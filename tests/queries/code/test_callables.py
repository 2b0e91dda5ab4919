"""A function is asked once, sees all the rows, and is total."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from unworn.errors import Unaskable
from unworn.queries.code.callables import function, function_from_json
from unworn.queries.row_protocol import Raised
from unworn.rows import Sample

N = 150_000  # more than one run of rows
DATA = {
    "age": np.where(np.arange(N) % 4 == 0, np.nan, np.arange(N) % 100),
    "plan": np.array(["basic", None], dtype=object)[np.arange(N) % 2],
    "day": np.datetime64("2024-01-01", "us") + np.arange(N).astype("timedelta64[h]"),
    "paid": np.arange(N) % 3 == 0,
}
SAMPLE = Sample.read(DATA)


def by_age(columns: Any) -> Any:
    return columns["age"]


def test_columns_are_numpys_and_read_only() -> None:
    seen: dict[str, Any] = {}

    def look(columns: dict[str, Any]) -> Any:
        seen.update(columns)
        return columns["paid"]

    assert SAMPLE.means([function(look, range=(0, 1))])[0] == pytest.approx(1 / 3)
    np.testing.assert_array_equal(seen["age"], DATA["age"])
    assert seen["plan"].tolist() == DATA["plan"].tolist()
    assert seen["day"].dtype == "datetime64[us]"
    assert seen["paid"].dtype == bool
    assert not any(values.flags.writeable for values in seen.values())


def test_called_once_and_forgotten() -> None:
    calls = []
    question = function(lambda columns: calls.append(1) or columns["age"], range=(0, 100))
    SAMPLE.means([question])
    assert len(calls) == 1
    SAMPLE.means([question])
    assert len(calls) == 2


def test_missing_counts_as_the_lower_end_and_the_rest_is_cut() -> None:
    expected = np.clip(np.nan_to_num(DATA["age"], nan=-np.inf), 10, 50).mean()
    assert SAMPLE.means([function(by_age, range=(10, 50))])[0] == pytest.approx(expected)


def test_binary_is_counted() -> None:
    question = function(by_age, binary=True)
    assert question.facts(SAMPLE.schema, N).kind == "binary"
    assert SAMPLE.counts([question])[0] == np.count_nonzero(np.nan_to_num(DATA["age"]))


@pytest.mark.parametrize(
    "fails",
    [
        lambda columns: 1 / 0,
        lambda columns: columns["age"][1:],
        lambda columns: columns["age"].mean(),
        lambda columns: columns["plan"],
        lambda columns: columns["nowhere"],
        lambda columns: columns["age"].__setitem__(0, 1),
        lambda columns: None,
    ],
)
def test_a_failure_says_nothing(fails: Any) -> None:
    with pytest.raises(Raised) as caught:
        SAMPLE.means([function(fails, range=(0, 1))])
    assert caught.value.__context__ is None


def test_identity() -> None:
    a, b = function(by_age, range=(0, 1)), function(by_age, range=(0, 1))
    assert a == b
    assert a != function(lambda columns: columns["age"], range=(0, 1))
    assert copy.deepcopy(a) == a
    assert pickle.loads(pickle.dumps(a)) == a
    assert function(by_age, range=(0, 1), name="x") == function(lambda c: 0, range=(0, 1), name="x")
    assert function(by_age, range=(0, 1), name="x") != function(by_age, range=(0, 2), name="x")
    with pytest.raises(Unaskable, match="code is not in the ledger"):
        function_from_json(a.to_json())


@pytest.mark.parametrize("declared", [None, (1, 0), (0, np.nan), "ab", 3])
def test_a_range_must_be_declared(declared: Any) -> None:
    with pytest.raises(Unaskable, match="range"):
        function(by_age, range=declared)
    with pytest.raises(Unaskable):
        function(3, range=(0, 1))  # type: ignore[arg-type]
