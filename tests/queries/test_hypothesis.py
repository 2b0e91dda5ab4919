"""Hypotheses as questions: what they say, how they are written down, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn import Unaskable, accuracy, col, compare, function, mean, share
from unworn.queries import ColumnType, Hypothesis, Schema, hypothesis, parse
from unworn.queries.hypothesis import null_of

SCHEMA = Schema({"age": ColumnType("number"), "y": ColumnType("number")}, target="y")
OLD = share(col("age") > 65)
INCOME = mean(col("age"), range=(10, 90))
BETTER = compare(accuracy([1, 0]), accuracy([1, 1]))


def test_words_label_and_facts() -> None:
    high = hypothesis(OLD, 0.01, above=0.2)
    assert high.words == "share of age > 65 is at most 0.2"
    assert high.label == "share of age > 65 is at most 0.2, rejected at level 0.01?"
    facts = high.facts(SCHEMA, 2)
    assert facts.null == (1, 0.2, 0.01)
    assert (facts.kind, facts.low, facts.high) == ("binary", 0.0, 1.0)
    assert hypothesis(INCOME, below=30).words.endswith("is at least 30")
    assert hypothesis(INCOME, below=30).facts(SCHEMA, 2).null == (-1, 30.0, 0.05)
    assert high.family is None  # an outcome is no guess, not even for the same metric
    assert hypothesis(BETTER).family is None


def test_a_comparison_is_tested_against_no_difference() -> None:
    assert hypothesis(BETTER) == hypothesis(BETTER, above=0) == hypothesis(BETTER, above=-0.0)
    assert hypothesis(BETTER).null == 0.0
    assert hypothesis(BETTER, below=0.1).side == -1
    assert hypothesis(BETTER).facts(SCHEMA, 2).kind == "paired"
    assert not hypothesis(BETTER).portable


@settings(derandomize=True, deadline=None)
@given(
    st.sampled_from([OLD, INCOME]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 1, exclude_min=True, exclude_max=True),
    st.booleans(),
)
def test_what_is_written_down_is_read_back(query: Any, null: float, level: float, up: bool) -> None:
    made = hypothesis(query, level, above=null) if up else hypothesis(query, level, below=null)
    read = parse(made.to_json())
    assert isinstance(read, Hypothesis)
    assert read == made
    assert (read.side, read.null, read.level, read.label) == (made.side, made.null, made.level, made.label)
    assert null_of(made.to_json()) == (made.side, made.null, made.level)
    assert made.label.startswith(made.words)


def test_side_value_and_level_make_it_another_question() -> None:
    each = [OLD, hypothesis(OLD, above=0.2), hypothesis(OLD, below=0.2), hypothesis(OLD, above=0.3)]
    each += [hypothesis(OLD, 0.01, above=0.2), hypothesis(share(col("age") > 60), above=0.2)]
    assert len({query.fingerprint for query in each}) == len(each)
    assert len({hypothesis(OLD, above=0.2), hypothesis(OLD, np.float64(0.05), above=np.float64(0.2))}) == 1


def test_a_record_without_predictions_or_code_cannot_be_asked() -> None:
    read = parse(hypothesis(accuracy([1, 0]), above=0.5).to_json())
    assert read.fingerprint == hypothesis(accuracy([1, 0]), above=0.5).fingerprint
    with pytest.raises(Unaskable, match="supply them"):
        read.facts(SCHEMA, 2)
    with pytest.raises(Unaskable, match="whose code is not in the ledger"):
        parse(hypothesis(function(abs, range=(0, 1), name="f"), above=0.5).to_json())


@pytest.mark.parametrize("null", [1.0, 1.5, -0.1, 1e300])
def test_a_value_no_rows_could_tell_of_is_refused(null: float) -> None:
    with pytest.raises(Unaskable, match="test a value inside it"):
        hypothesis(OLD, above=null).facts(SCHEMA, 2)
    with pytest.raises(Unaskable, match="test a value inside it"):
        hypothesis(OLD, below=1 - null).facts(SCHEMA, 2)
    hypothesis(OLD, above=0.0).facts(SCHEMA, 2)
    hypothesis(OLD, below=1.0).facts(SCHEMA, 2)


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "say what to test"),
    ({"above": 0.1, "below": 0.2}, "not both"),
    ({"above": math.nan}, "finite"),
    ({"above": math.inf}, "finite"),
    ({"below": "0.5"}, "finite"),
    ({"below": True}, "finite"),
    ({"above": [0.5]}, "finite"),
    ({"above": 10**400}, "finite"),
    *(({"level": level, "above": 0.5}, "level") for level in (0, 1, -0.1, 1.5, math.nan, None, "0.05", True, 0.0)),
]


@pytest.mark.parametrize(("given", "said"), BAD)
def test_mistakes_are_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Unaskable, match=said):
        hypothesis(OLD, **given)


def test_only_questions_are_tested() -> None:
    with pytest.raises(Unaskable, match="already"):
        hypothesis(hypothesis(OLD, above=0.5), above=0.5)
    with pytest.raises(Unaskable, match="not str"):
        hypothesis("age > 65", above=0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data",
    [
        {"ask": "hypothesis"},
        {"ask": "hypothesis", "of": OLD.to_json()},
        {"ask": "hypothesis", "of": OLD.to_json(), "level": 0.05},
        {"ask": "hypothesis", "of": OLD.to_json(), "level": 0.05, "between": 1},
        {"ask": "hypothesis", "of": OLD.to_json(), "level": 0.05, "at_most": 0.1, "at_least": 0.1},
        {"ask": "hypothesis", "of": OLD.to_json(), "level": 5, "at_most": 0.1},
        {"ask": "hypothesis", "of": OLD.to_json(), "level": 0.05, "at_most": None},
        {"ask": "hypothesis", "of": {"ask": "all"}, "level": 0.05, "at_most": 0.1},
        {"ask": "hypothesis", "of": 7, "level": 0.05, "at_most": 0.1},
        {"ask": "hypothesis", "of": hypothesis(OLD, above=0.5).to_json(), "level": 0.05, "at_most": 0.1},
    ],
)
def test_hostile_records_are_refused(data: Any) -> None:
    with pytest.raises(Unaskable):
        parse(data)


def test_a_record_nested_without_end_is_refused_at_once() -> None:
    data: dict[str, Any] = OLD.to_json()
    for _ in range(100_000):
        data = {"ask": "hypothesis", "of": data, "level": 0.05, "at_most": 0.1}
    with pytest.raises(Unaskable, match="another hypothesis"):
        parse(data)
