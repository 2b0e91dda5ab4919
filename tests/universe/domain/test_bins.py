"""Bins: where a number lies, what is drawn from one, and which questions do not look inside."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn import Unaskable
from unworn.noise import Stream
from unworn.queries import col, mean, share
from unworn.queries.language.evaluation import truth
from unworn.queries.row_protocol import Column
from unworn.universe.domain.domain import OTHER, Bins, Domain

AGES = Bins([0, 18, 30, 65, 120])
HALVES = st.integers(-12, 12).map(lambda half: half / 2)


@st.composite
def bins(draw: st.DrawFn) -> Bins:
    whole = draw(st.booleans())
    inner = draw(st.lists(st.integers(-5, 5) if whole else HALVES, min_size=2, max_size=5, unique=True))
    edges: list[float | None] = sorted(inner)
    edges = [None] * draw(st.booleans()) + edges + [None] * draw(st.booleans())
    return Bins(edges, missing=draw(st.booleans()), whole=whole)


def inside(axis: Bins) -> list[list[float]]:
    """For every bin enough of its numbers that no comparison with a half can hide between them."""
    grid = [quarter / 4 for quarter in range(-40, 41)]
    if axis.whole:
        known = [number for number in grid if number.is_integer()]
    else:
        known = [near for number in grid for near in (math.nextafter(number, -99), number, math.nextafter(number, 99))]
    return [[number for number in known if low <= number < high] for low, high in pairwise(axis.edges)]


class Frame:
    """Some numbers, one of them perhaps missing, as a question sees them."""

    def __init__(self, numbers: list[float | None]) -> None:
        self.size = len(numbers)
        missing = np.array([number is None for number in numbers])
        self._x = Column("number", np.array([number or 0.0 for number in numbers]), missing)

    def column(self, name: str) -> Column:
        return self._x

    def pick(self, values):
        return values


ATOMS = st.one_of(
    st.builds(
        lambda op, value: getattr(col("x"), op)(value),
        st.sampled_from(["__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"]),
        HALVES,
    ),
    st.builds(
        lambda low, more: col("x").between(low, low + more), HALVES, st.integers(0, 8).map(lambda half: half / 2)
    ),
    st.builds(lambda items: col("x").isin(items), st.lists(HALVES, min_size=1, max_size=6)),
    st.builds(lambda fill, value: col("x").fill(fill) >= value, HALVES, HALVES),
    st.just(col("x").is_null()),
)


@settings(max_examples=100, deadline=None)
@given(bins(), ATOMS)
def test_a_comparison_is_refused_exactly_where_it_splits_a_bin(axis, atom):
    told = [truth(atom, Frame(list(numbers))) for numbers in inside(axis)]
    if axis.missing:
        told.append(truth(atom, Frame([None])))
    domain = Domain({"x": axis})
    if any(len(set(values.tolist())) > 1 for values in told):
        with pytest.raises(Unaskable, match="'x'"):
            domain.weights(share(atom))
    else:
        assert domain.weights(share(atom))[1].tolist() == [float(values[0]) for values in told]


@settings(max_examples=100, deadline=None)
@given(bins(), st.lists(ATOMS, min_size=2, max_size=3), st.booleans(), st.booleans())
def test_whatever_is_answered_is_the_same_for_all_numbers_of_a_bin(axis, atoms, both, negated):
    joined = atoms[0]
    for atom in atoms[1:]:
        joined = joined & atom if both else joined | ~atom
    where = ~joined if negated else joined
    try:
        values = Domain({"x": axis}).values(share(where))
    except Unaskable:
        return
    for numbers, value in zip(inside(axis), values, strict=False):
        assert set(truth(where, Frame(list(numbers))).tolist()) == {value == 1.0}


@settings(max_examples=100, deadline=None)
@given(bins())
def test_bins_survive_json_and_their_own_repr(axis):
    assert Domain(json.loads(json.dumps(Domain({"x": axis}).to_json()))) == Domain({"x": axis})
    assert eval(repr(axis), {"Bins": Bins}) == axis
    assert len(axis) == len(axis.labels) == len(axis.points().values)
    assert axis.ordered == (not axis.missing)


@settings(max_examples=100, deadline=None)
@given(bins(), st.integers(0, 2**32))
def test_what_is_drawn_from_a_bin_lies_in_it(axis, key):
    places = np.repeat(np.arange(len(axis)), 20)
    drawn = axis.drawn(places, Stream(bytes(32), key))
    assert axis.places(drawn).tolist() == places.tolist()
    assert axis.places(axis.points()).tolist() == list(range(len(axis)))
    assert drawn.values.dtype == (np.int64 if axis.whole else np.float64)


def test_numbers_are_drawn_from_the_whole_bin():
    """Sixteen equal parts of a bin have about as many draws each: chi-square (15) passes 80 with chance below 1e-9."""
    for axis, parts in ((Bins([0, 16], whole=True), 16), (Bins([-1.0, 1.0]), 16)):
        values = axis.drawn(np.zeros(4_000, dtype=np.int32), Stream(bytes(32), "draws")).values
        counts, _ = np.histogram(values, bins=parts, range=(axis.edges[0], axis.edges[1]))
        assert counts.sum() == 4_000
        assert ((counts - 250) ** 2 / 250).sum() < 80


def test_edges_belong_to_the_bin_above():
    column = Column("number", np.array([0, 17.999, 18, 119.99, 120, -0.001, np.nan, np.inf]))
    assert AGES.places(column).tolist() == [0, 0, 1, 3, -1, -1, -1, -1]
    opened = Bins([None, 18, math.inf], missing=True)
    assert opened.places(column).tolist() == [0, 0, 1, 1, 1, 0, 2, 2]
    assert opened.labels == ("(-inf, 18)", "[18, inf)", "missing")
    assert Bins([None, None]).places(column).tolist() == [0, 0, 0, 0, 0, 0, -1, -1]
    assert Bins([0, 18, 30], whole=True).places(Column("number", np.array([17.0, 17.5, 18.0]))).tolist() == [0, -1, 1]
    assert Bins([-(1e300), 1e300]).drawn(np.zeros(9, dtype=int), Stream(bytes(32))).values.max() < 1e300


def test_refusals_name_the_column_the_nearest_edges_and_the_way_out():
    domain = Domain({"age": AGES, "plan": ["basic", "pro", OTHER], "limit": [20, 40]})
    for question, said in {
        share(col("age") >= 21): r"'age': 21 splits the bin \[18, 30\): the nearest edges are 18 and 30; < and >=",
        share(col("age") > 30): r"30 splits the bin \[30, 65\).*lower edge; .*whole=True",
        share(col("age") == 18): r"the bin \[18, 30\) holds more than the numbers asked for",
        share(col("age").between(18, 30)): r"30 splits the bin \[30, 65\)",
        share(col("age") + 1 >= 18): "calculates with 'age'",
        share((col("age") - 1).is_null()): "calculates with 'age'",
        share(col("age") > col("limit")): "compares it with another column",
        share(col("plan") == "gold"): r"'plan': 'gold' counts as \(other\)",
        share(col("plan").isin(["basic", "gold"])): "'gold' counts as",
        share(col("plan").fill("gold") == "gold"): "'gold' counts as",
        mean(col("age"), range=(0, 120)): "mean of age.*only known up to a bin",
    }.items():
        with pytest.raises(Unaskable, match=said) as refused:
            domain.weights(question)
        assert refused.value.numbers["column"] in ("age", "plan")
    assert domain.weights(share(col("limit") > 30))[1].tolist() == [0.0, 1.0]
    assert domain.weights(share(col("plan") != "pro"))[1].tolist() == [1.0, 0.0, 1.0]
    whole = Domain({"age": Bins([0, 18, 30], whole=True)})
    assert whole.weights(share(col("age") > 17))[1].tolist() == [0.0, 1.0]
    assert whole.weights(share(col("age").between(18, 29)))[1].tolist() == [0.0, 1.0]
    assert whole.weights(share(col("age").between(5.2, 5.8)))[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("edges", "more", "said"),
    [
        ([], {}, "at least two"),
        ([1], {}, "at least two"),
        ([1, 1], {}, "must rise"),
        ([2, 1], {}, "must rise"),
        ([math.inf, 1], {}, "finite"),
        ([1, math.nan], {}, "finite"),
        ([1, math.inf, 2], {}, "finite"),
        ([1, None, 2], {}, "only be the first or the last"),
        ([True, 2], {}, "number is needed"),
        (["a", 2], {}, "number is needed"),
        ("ab", {}, "list of edges"),
        (3, {}, "list of edges"),
        ([0, 1e301], {}, "within"),
        ([0, 0.5], {"whole": True}, "whole edges"),
        ([0, 2**53], {"whole": True}, "whole edges"),
        ([0, 1], {"whole": 1}, "True or False"),
        ([0, 1], {"missing": None}, "True or False"),
    ],
)
def test_what_are_no_bins_is_refused(edges, more, said):
    with pytest.raises(ValueError, match=said):
        Bins(edges, **more)
