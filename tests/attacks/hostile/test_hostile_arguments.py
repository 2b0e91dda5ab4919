"""Whatever an asker gives in place of an argument: an error of ours, at once, and nothing is charged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.attacks.hostile.judged_calls import is_ours
from unworn import Holdout, Unaskable, UnwornError, col, mean, plan, share
from unworn import mechanisms as kinds
from unworn.queries import metric
from unworn.queries.metrics.metric_catalogue import metric_name

HUGE = "x" * 20_000_000
NO_NUMBERS: list[Any] = [
    10**400, -(10**400), 10**5000, math.nan, math.inf, 1j, "x", "0.5", b"1", [], [0.5], {}, True, np.bool_(True),
    np.array([0.5]), np.array([1, 2]), np.zeros((0, 2)), Decimal("NaN"), Decimal("sNaN"), object(), ..., col("a"), type,
]  # fmt: skip
NO_TEXTS: list[Any] = [3, b"x", [], object(), "\ud800", HUGE, 1.5, True, ("a",)]


@pytest.fixture
def holdout() -> Holdout:
    rng = np.random.default_rng(0)
    return Holdout({"a": rng.normal(size=100)}, rng.integers(0, 2, 100), train={"a": rng.normal(size=50)})


def refuse(call: Callable[[], Any]) -> None:
    """It fails, and by an error that was written for a reader."""
    with pytest.raises(Exception) as caught:
        call()
    assert is_ours(caught.value), repr(caught.value)
    assert len(str(caught.value)) < 2000


QUESTION = share(col("a") > 0)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_numbers_that_are_none(holdout: Holdout, value: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: holdout.ask(QUESTION, value),
        lambda: holdout.ask(QUESTION, 0.5, guess_se=value),
        lambda: holdout.quote(QUESTION, value),
        lambda: holdout.ask_many([QUESTION], [value]),
        lambda: holdout.score(np.zeros(100), value),
        lambda: holdout.compare(np.zeros(100), np.ones(100), value),
        lambda: holdout.compare(np.zeros(100), np.ones(100), 0.0, discordance=value),
        lambda: holdout.test(QUESTION, value, above=0.5),
        lambda: holdout.test(QUESTION, above=value),
        lambda: mean(col("a"), (value, 1)),
        lambda: mean(col("a"), (0, value)),
        lambda: metric("mae", np.zeros(100), range=(0, value)),
        lambda: Holdout({"a": [1, 2, 3]}, asks=value),
        lambda: Holdout({"a": [1, 2, 3]}, confidence=value),
        lambda: Holdout({"a": [1, 2, 3]}, max_width=value),
        lambda: Holdout({"a": [1, 2, 3]}, practice=value),
        lambda: plan(rows=value, asks=10),
        lambda: plan(rows=1000, asks=value),
        lambda: plan(rows=1000, width=value),
        lambda: plan(rows=1000, asks=10, confidence=value),
    ]
    for call in calls:
        refuse(call)
    assert holdout.meter.asked == 0


@pytest.mark.parametrize("value", NO_TEXTS, ids=lambda value: type(value).__name__)
def test_names_that_are_none(holdout: Holdout, value: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: holdout.ask(QUESTION, 0.5, by=value),
        lambda: holdout.ask_many([QUESTION], by=value),
        lambda: holdout.test(QUESTION, above=0.5, by=value),
        lambda: holdout.score(np.zeros(100), name=value),
        lambda: holdout.score(np.zeros(100), metric=value),
        lambda: holdout.compare(np.zeros(100), np.ones(100), metric=value),
        lambda: holdout.scorer(value),
        lambda: metric_name(value),
        lambda: Holdout({"a": [1, 2, 3]}, name=value),
        lambda: Holdout({"a": [1, 2, 3]}, use=value),
        lambda: Holdout({"a": [1, 2, 3]}, uses={value if isinstance(value, str) else 3: 0.5, "asks": 0.5}),
    ]
    for call in calls:
        refuse(call)
    assert holdout.meter.asked == 0


@pytest.mark.parametrize("value", [3, None, "x", [], object(), Holdout, QUESTION])
def test_what_is_no_answer_is_not_sharpened(holdout: Holdout, value: Any) -> None:
    refuse(lambda: holdout.sharpen(value))
    if value is not None:
        refuse(lambda: holdout.verify(value))


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.zeros(0),
        [],
        [[]],
        {},
        {"a": []},
        {"\ud800": [1]},
        None,
        3,
        "\x00",
        object(),
    ],
)
def test_no_rows(data: Any) -> None:
    refuse(lambda: Holdout(data))


@pytest.mark.parametrize("value", [3, "a", b"x", object(), [3], {"a": 3}, {"a": None}, {"b": "number"}, {3: "number"}])
def test_schemas_that_are_none(value: Any) -> None:
    refuse(lambda: Holdout({"a": [1.0, 2.0]}, schema=value))


@pytest.mark.parametrize("value", [3, "GuessAndCheck", kinds.GuessAndCheck, object(), {}])
def test_mechanisms_that_are_none(value: Any) -> None:
    refuse(lambda: Holdout({"a": [1.0, 2.0]}, mechanism=value))


@pytest.mark.parametrize("name", sorted(kinds.kinds()))
def test_parameters_of_mechanisms(name: str) -> None:
    kind = kinds.kinds()[name]
    needed = {field.name: 0.5 for field in fields(kind) if field.init and field.default is MISSING}
    for field in fields(kind):
        for value in (10**400, math.nan, "x", [], object(), 1j, ...):
            refuse(lambda field=field, value=value: kind(**{**needed, field.name: value}))
    for goal in (
        {"rows": 10**400},
        {"rows": "x"},
        {"asks": 0.5},
        {"asks": 10**30},
        {"width": math.nan},
        {"width": "x"},
    ):
        refuse(lambda goal=goal: kind.for_(**{"rows": 100, "asks": 10, **goal}))


def test_honest_numbers_of_any_type_are_taken(holdout: Holdout) -> None:
    for place, guess in enumerate(
        (0, 1, 0.5, np.float32(0.5), np.int8(0), np.array(0.5), Decimal("0.5"), Fraction(1, 2))
    ):
        holdout.ask(share(col("a") > place / 10), guess, guess_se=np.float64(0.1))
    assert holdout.meter.asked == 8
    assert kinds.Rounding(np.int64(20)).cells == 20


def test_lists_that_are_none(holdout: Holdout) -> None:
    for value in (3, 1.5, None, "a > 1", QUESTION, np.array(3), object()):
        refuse(lambda value=value: holdout.ask_many(value))
        if value is not None:
            refuse(lambda value=value: holdout.ask_many([QUESTION], value))
    drawing = Holdout({"a": np.arange(400)}, asks=5, mechanism=kinds.OneSample(0.3))
    for value in (3, "a", ["b"], [3], [[]]):
        refuse(lambda value=value: drawing.gather(1, value))
    assert holdout.meter.asked == 0


def test_a_refusal_is_both_ours_and_a_value_error() -> None:
    assert issubclass(Unaskable, ValueError)
    assert issubclass(Unaskable, UnwornError)


@pytest.mark.slow
def test_a_hundred_thousand_columns() -> None:
    """Each costs the same, however many there are: twice as many take about twice the work, counted in calls."""
    holdout = Holdout({f"c{place}": np.arange(5) for place in range(100_000)})
    assert holdout.ask(share(col("c99999") > 2)).index == 1


def test_columns_cost_the_same_however_many() -> None:
    assert 1.5 < work(400) / work(200) < 2.5


def work(columns: int) -> int:
    """How many calls opening so many columns makes."""
    import sys

    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    data = {f"c{place}": np.arange(5) for place in range(columns)}
    Holdout(data)
    sys.setprofile(note)
    try:
        Holdout(data)
    finally:
        sys.setprofile(None)
    return count
