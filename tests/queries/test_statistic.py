"""A statistic of the whole sample is called once, is total, and is never asked row by row."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

from unworn.errors import Unaskable
from unworn.queries import Schema, col, parse, share, statistic
from unworn.queries.statistic import Statistic
from unworn.rows import Sample

DATA = {
    "age": np.array([30.0, np.nan, 50.0, 90.0]),
    "plan": np.array(["basic", None, "pro", "basic"], dtype=object),
    "paid": np.array([True, False, True, True]),
}
SAMPLE = Sample.read(DATA)


def median(columns: Any) -> Any:
    return np.nanmedian(columns["age"])


def made(fn: Any = median, **changed: Any) -> Statistic:
    return statistic(fn, **({"sensitivity": 40.0, "range": (0, 100), "name": "median age"} | changed))


def test_it_sees_all_rows_once_and_read_only() -> None:
    seen: list[dict[str, Any]] = []

    def look(columns: dict[str, Any]) -> Any:
        seen.append(columns)
        return median(columns)

    assert SAMPLE.statistic(made(look)) == 50.0
    (columns,) = seen
    np.testing.assert_array_equal(columns["age"], DATA["age"])
    assert columns["plan"].tolist() == DATA["plan"].tolist()
    assert columns["paid"].tolist() == DATA["paid"].tolist()
    assert not any(values.flags.writeable for values in columns.values())


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        (7, 7.0),
        (True, 5.0),
        (np.float32(6.5), 6.5),
        (np.array(8), 8.0),
        (-3.0, 5.0),
        (1e300, 60.0),
        (np.inf, 60.0),
        (-np.inf, 5.0),
    ],
)
def test_a_number_is_cut_to_the_range(returned: Any, value: float) -> None:
    found = SAMPLE.statistic(made(lambda columns: returned, range=(5, 60)))
    assert found == value
    assert type(found) is float


@pytest.mark.parametrize(
    "fails",
    [
        lambda columns: 1 / 0,
        lambda columns: columns["nowhere"],
        lambda columns: columns["age"].__setitem__(0, 1),
        lambda columns: np.nan,
        lambda columns: None,
        lambda columns: "7",
        lambda columns: 1j,
        lambda columns: 10**400,
        lambda columns: columns["paid"],
        lambda columns: np.array([7.0]),
        lambda columns: np.zeros(0).mean(),  # warns, and warnings are errors here
        lambda columns: (_ for _ in ()).throw(SystemExit),
    ],
)
def test_whatever_is_no_number_counts_as_the_low_end(fails: Any) -> None:
    assert SAMPLE.statistic(made(fails, range=(5, 60))) == 5.0


def test_not_even_an_interrupt_passes() -> None:
    """Code that raises one for certain rows would tell of them, noiselessly."""

    def interrupted(columns: Any) -> Any:
        raise KeyboardInterrupt

    assert SAMPLE.statistic(made(interrupted)) == 0.0


@pytest.mark.parametrize(("sensitivity", "range"), [(1e-320, (0, 1)), (1e-13, (0, 1)), (1e-3, (1e10, 1e10 + 1))])
def test_a_sensitivity_that_floats_cannot_keep_is_refused(sensitivity: float, range: tuple[float, float]) -> None:
    with pytest.raises(Unaskable, match="told apart"):
        statistic(lambda columns: 0.0, sensitivity=sensitivity, range=range)


@pytest.mark.parametrize("grouped", [False, True])
def test_facts_are_public(grouped: bool) -> None:
    facts = made().facts(Schema({}, grouped=grouped), 4)
    assert (facts.kind, facts.low, facts.high, facts.sensitivity, facts.runs_code) == ("statistic", 0, 100, 40, True)
    assert share(col("paid")).facts(SAMPLE.schema, 4).sensitivity is None
    assert not made().portable  # rows of another size are asked another question


def test_it_has_no_values_for_rows() -> None:
    with pytest.raises(TypeError, match="no value for each row"):
        made().values(None)  # type: ignore[arg-type]
    for ask in (SAMPLE.statistics, SAMPLE.means, SAMPLE.counts, SAMPLE.differences):
        with pytest.raises(Unaskable, match="median age is a statistic of the whole sample"):
            ask([share(col("paid")), made()])
    with pytest.raises(TypeError, match="not a statistic of the whole sample"):
        SAMPLE.statistic(share(col("paid")))


def test_identity() -> None:
    a, b = made(name=None), made(name=None)
    assert a == b
    assert a != made(lambda columns: 0, name=None)
    assert copy.deepcopy(a) == a == pickle.loads(pickle.dumps(a))
    assert made() == made(lambda columns: 0)
    assert made() != made(sensitivity=20.0)
    assert made() != made(range=(0, 50))
    assert made() != share(col("paid"))
    assert len({made(), made(), a}) == 2
    assert a.label == "median"
    assert made().label == "median age"


def test_a_ledger_does_not_keep_the_code() -> None:
    data = json.loads(json.dumps(made().to_json()))
    assert data == {"ask": "statistic", "range": [0.0, 100.0], "sensitivity": 40.0, "name": "median age"}
    with pytest.raises(Unaskable, match="'median age', whose code is not in the ledger"):
        parse(data)


@pytest.mark.parametrize("declared", [None, (1, 0), (0, 0), (0, np.nan), (0, np.inf), (-1e308, 1e308), "ab", 3, (1,)])
def test_a_range_must_be_declared(declared: Any) -> None:
    with pytest.raises(Unaskable, match="range"):
        made(range=declared)


@pytest.mark.parametrize("declared", [None, 0, -1.0, 100.1, np.nan, np.inf, "much", [1]])
def test_a_sensitivity_must_be_declared(declared: Any) -> None:
    with pytest.raises(Unaskable, match="sensitivity"):
        made(sensitivity=declared)


def test_beginners_mistakes() -> None:
    with pytest.raises(Unaskable, match="Python function of the columns, not float"):
        made(0.5)
    assert made(sensitivity=100).sensitivity == 100.0  # one row may move it through the whole range
