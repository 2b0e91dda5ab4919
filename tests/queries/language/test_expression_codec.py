"""JSON from anybody: round trips, pinned fingerprints, and refusals that are always refusals."""

# ruff: noqa: SIM300 (an expression on the left is not a constant)
from __future__ import annotations

import json
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unworn.errors import Unaskable
from unworn.queries.language.expression_codec import from_json
from unworn.queries.language.expressions import MAX_DEPTH, MAX_NODES, Expression, col, lit
from unworn.queries.language.means import Mean, Share, mean, share

X, PLAN = col("x"), col("plan")

EXAMPLES = [
    (X > 65, ["gt", ["col", "x"], ["lit", 65]]),
    (X == 0.5, ["eq", ["col", "x"], ["lit", 0.5]]),
    (X + 1 + X, ["add", ["col", "x"], ["lit", 1], ["col", "x"]]),
    (-X / 2, ["div", ["neg", ["col", "x"]], ["lit", 2]]),
    (~(PLAN != "basic"), ["not", ["ne", ["col", "plan"], ["lit", "basic"]]]),
    (PLAN.isin(["b", "a"]), ["in", ["col", "plan"], ["lit", "a"], ["lit", "b"]]),
    (X.between(1, 2), ["between", ["col", "x"], ["lit", 1], ["lit", 2]]),
    (X.fill(0).is_null(), ["is_null", ["fill", ["col", "x"], ["lit", 0]]]),
    (X >= date(2024, 1, 5), ["ge", ["col", "x"], ["date", "2024-01-05"]]),
    (X < datetime(2024, 1, 5, 7), ["lt", ["col", "x"], ["date", "2024-01-05T07:00:00"]]),
    ((X == True) | lit(False), ["or", ["eq", ["col", "x"], ["lit", True]], ["lit", False]]),  # noqa: E712
]


@pytest.mark.parametrize("place", range(len(EXAMPLES)))
def test_json_is_as_written_and_reads_back(place: int) -> None:
    expression, written = EXAMPLES[place]
    assert json.dumps(expression.to_json()) == json.dumps(written)
    assert from_json(json.loads(json.dumps(written))).same(expression)


def test_other_spellings_read_into_the_canonical_one() -> None:
    for spelling, meant in [
        (["gt", ["col", "x"], ["lit", 65.0]], X > 65),
        (["lt", ["lit", 65], ["col", "x"]], X > 65),
        (["gt", ["col", "x"], ["neg", ["lit", 5]]], X > -5),
        (["add", ["add", ["col", "x"], ["lit", 1]], ["lit", -0.0]], X + 1 + 0),
        (["in", ["col", "x"], ["lit", 2], ["lit", 1], ["lit", 2.0]], X.isin([1, 2])),
        (["ge", ["col", "x"], ["date", "2024-01-05T00:00:00"]], X >= date(2024, 1, 5)),
    ]:
        assert from_json(spelling).same(meant)


def test_fingerprints_never_change() -> None:
    # A ledger written today must know these questions in ten years: do not update the right-hand sides.
    first = share((col("age") > 65) & (col("plan") == "basic"))
    second = mean(col("income").fill(0) / 12, range=(0, 0.5))
    assert first.fingerprint == "ba083f8d3a0195fe8d048bdc0d76d562b038fe2fbd01ef148a83cc83af5e4665"
    assert second.fingerprint == "610921627cf9088d2919389a745b3ff9de421cf24510e972e4d6d49e38034639"
    assert Share.from_json(json.loads(json.dumps(first.to_json()))).fingerprint == first.fingerprint
    assert Mean.from_json(json.loads(json.dumps(second.to_json()))).fingerprint == second.fingerprint


def _bomb(depth: int) -> Any:
    tree: Any = ["col", "x"]
    for _ in range(depth):
        tree = ["neg", tree]
    return tree


def _shared(doublings: int) -> Any:
    tree: Any = ["col", "x"]
    for _ in range(doublings):
        tree = ["add", tree, tree]
    return tree


CYCLE: list[Any] = ["not"]
CYCLE.append(CYCLE)

HOSTILE: list[Any] = [
    None,
    True,
    5,
    "x",
    {},
    [],
    [[]],
    [None],
    ["nope"],
    ["col"],
    ["col", "x", "y"],
    ["col", 3],
    ["col", ""],
    ["col", ["col", "x"]],
    ["col", "\ud800"],
    ["lit"],
    ["lit", None],
    ["lit", []],
    ["lit", float("nan")],
    ["lit", float("inf")],
    ["lit", 2**53 + 1],
    ["lit", 10**5000],
    ["lit", "x" * 1001],
    ["date", "yesterday"],
    ["date", 5],
    ["date", "2024-01-01T00:00:00+01:00"],
    ["date", "9" * 500],
    ["gt", ["col", "x"]],
    ["__class__", 1],
    ["gt", ["col", "x"], 5],
    ["in", ["col", "x"]],
    ["in", ["col", "x"], 1],
    ["in", ["col", "x"], ["col", "y"]],
    ["in", ["col", "x"], ["lit", 1], ["lit", "a"]],
    ["in", ["col", "x"], *([["lit", 1]] * 1001)],
    ["between", ["col", "x"], ["lit", 2], ["lit", 1]],
    ["fill", ["col", "x"], ["col", "y"]],
    ["and", ["lit", 1], ["lit", 2]],
    ["and", ["col", "x"]],
    ["add", ["lit", "a"], ["lit", 1]],
    ["add", *([["col", "x"]] * 501)],
    ["add", *([["col", "x"]] * 10**6)],
    _bomb(40),
    _bomb(100_000),
    _shared(60),
    CYCLE,
]


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_hostile_json_is_refused(place: int) -> None:
    with pytest.raises(Unaskable) as caught:
        from_json(HOSTILE[place])
    assert len(str(caught.value)) < 500


def test_the_caps_are_reached_before_they_are_passed() -> None:
    assert from_json(_bomb(MAX_DEPTH - 1)).depth == MAX_DEPTH
    assert from_json(["add", *([["col", "x"]] * (MAX_NODES - 1))]).nodes == MAX_NODES
    assert len(from_json(["in", ["col", "x"], *(["lit", i] for i in range(1000))]).to_json()) == 1002


TAGS = st.sampled_from(
    [
        "col",
        "lit",
        "date",
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "and",
        "or",
        "not",
        "in",
        "between",
        "is_null",
        "fill",
        "ask",
        "x",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5) | TAGS
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(TAGS, inner).map(list)
        | st.tuples(TAGS, inner, inner).map(list)
        | st.tuples(TAGS, inner, inner, inner).map(list)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None, max_examples=800)
@given(ANYTHING)
@example(["lit", "\udfff"])
def test_any_json_is_read_or_refused(data: Any) -> None:
    # Deterministic: nothing here can raise a false alarm.
    try:
        found = from_json(data)
    except Unaskable:
        return
    assert isinstance(found, Expression)
    assert from_json(json.loads(json.dumps(found.to_json()))).same(found)
    assert repr(found)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    ANYTHING
    | st.fixed_dictionaries(
        {"ask": st.sampled_from(["share", "mean"]) | SCALARS},
        optional={"where": ANYTHING, "of": ANYTHING, "range": ANYTHING, "more": SCALARS},
    )
)
def test_any_question_is_read_or_refused(data: Any) -> None:
    for kind in (Share, Mean):
        try:
            found = kind.from_json(data)
        except Unaskable:
            continue
        assert kind.from_json(found.to_json()) == found
        assert len(found.fingerprint) == 64
