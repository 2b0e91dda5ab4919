"""The image of a box is right and attained: compared with the extremes over a fine grid of points inside."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs

from unworn import col, share
from unworn.errors import Unaskable
from unworn.queries import parse_composite
from unworn.queries.combinations import COMBINATIONS, kappa, matthews
from unworn.queries.composite import Composite, average, linear, ratio

GRID = 25
A, B, C = (share(col(name) > 0) for name in "abc")


def ends(draw: Any) -> tuple[float, float]:
    low, high = sorted(draw(st.tuples(*[st.integers(0, 20)] * 2)))
    return low / 20, high / 20


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(["matthews", "kappa"]))
def test_mcc_and_kappa_lie_in_the_image_and_reach_its_ends(data: Any, name: str) -> None:
    combination = COMBINATIONS[name]
    box = [ends(data.draw) for _ in range(3)]
    low, high = combination.image(box, ())
    axes = [np.linspace(*end, GRID) for end in box]
    # In q the extreme lies at a point of its own: a finer grid there.
    axes[2] = np.linspace(*box[2], 8 * GRID)
    found = [combination.value(point, ()) for point in itertools.product(axes[0][[0, -1]], axes[1][[0, -1]], axes[2])]
    inside = [combination.value(point, ()) for point in itertools.product(*(axis[::6] for axis in axes))]
    assert low - 1e-9 <= min(*found, *inside)
    assert max(*found, *inside) <= high + 1e-9
    if box[2][0] > 0 and box[2][1] < 1:  # at the ends of q the image holds limits, which no point need reach
        assert min(found) - low < 0.02
        assert high - max(found) < 0.02


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=40))
def test_mcc_and_kappa_are_scikit_learn_s(rows: list[tuple[bool, bool]]) -> None:
    y, said = np.array(rows).T
    if not 0 < y.sum() < len(y) or not 0 < said.sum() < len(y):
        return
    r, f, q = said[y].mean(), said[~y].mean(), y.mean()
    assert matthews(r, f, q) == pytest.approx(theirs.matthews_corrcoef(y, said), abs=1e-9)
    assert kappa(r, f, q) == pytest.approx(theirs.cohen_kappa_score(y, said), abs=1e-9)


@pytest.mark.parametrize("function", [matthews, kappa])
@pytest.mark.parametrize("point", [(0.6, 0.0, 0.0), (0.0, 0.6, 1.0), (1.0, 0.4, 1.0), (0.4, 1.0, 0.0), (0.6, 0.3, 0.0)])
def test_at_an_end_of_q_it_is_the_limit(function: Any, point: tuple[float, float, float]) -> None:
    r, f, q = point
    near = function(r, f, abs(q - 1e-13))
    assert function(r, f, q) == pytest.approx(near, abs=1e-5)


MONOTONE = [name for name in COMBINATIONS if name not in ("matthews", "kappa")]


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(MONOTONE))
def test_all_others_reach_their_ends_at_corners(data: Any, name: str) -> None:
    combination = COMBINATIONS[name]
    arguments = combination.arguments or 3
    numbers: tuple[float, ...] = {
        "linear": (1.0, -2.0, 0.5),
        "ratio": (0.0, 3.0),
        "subgroup": (-1.5, 2.5, 0.25),
    }.get(name, ())
    box = [ends(data.draw) for _ in range(arguments)]
    if name == "subgroup":  # distances from a centre have either sign
        box[0] = (2 * box[0][0] - 1, 2 * box[0][1] - 1)
    low, high = combination.image(box, numbers)
    corners = [combination.value(point, numbers) for point in itertools.product(*box)]
    points = itertools.product(*(np.linspace(*end, 5) for end in box))
    assert all(low - 1e-12 <= combination.value(point, numbers) <= high + 1e-12 for point in points)
    if name not in ("ratio", "explained", "subgroup") or box[1][0] > 0:
        assert (min(corners), max(corners)) == pytest.approx((low, high))


@pytest.mark.parametrize("name", ["f1", "micro_jaccard", "root"])
def test_an_inverse_leads_back(name: str) -> None:
    combination = COMBINATIONS[name]
    assert combination.inverse is not None
    for value in np.linspace(0, 1, 11):
        assert combination.inverse(combination.value([value], ()), ()) == pytest.approx(value)


def test_nothing_is_known_of_a_quotient_by_what_may_be_0() -> None:
    assert COMBINATIONS["explained"].image([(0.1, 0.2), (0.0, 1.0)], ()) == (-math.inf, 0.9)
    assert COMBINATIONS["ratio"].image([(0.1, 0.2), (0.0, 1.0)], (0.0, 5.0)) == (0.1, 5.0)
    for above, known in (((0.1, 0.2), (2.1, 5.0)), ((-0.2, -0.1), (0.0, 1.9)), ((-0.1, 0.1), (0.0, 5.0))):
        assert COMBINATIONS["subgroup"].image([above, (0.0, 1.0)], (0.0, 5.0, 2.0)) == pytest.approx(known)


def test_sums_are_opened_up_and_a_question_is_asked_once() -> None:
    made = (A - B) + (A - C) - (B - C)
    assert made.numbers == (2.0, -2.0, 0.0)
    assert made.questions == (A, B, C)
    assert made.label == "2 · share of a > 0 − 2 · share of b > 0 + 0 · share of c > 0"
    assert (-A).label == "−share of a > 0"
    assert (0.5 * (A + B)).numbers == (0.5, 0.5)
    assert average([A, B]) == 0.5 * (A + B)
    assert parse_composite(made.to_json()) == made


def test_a_composite_of_composites() -> None:
    f1 = [Composite("f1", (part,)) for part in (A, B)]
    made = average(f1, "macro")
    assert made.questions == (A, B)
    assert made.value([0.5, 1.0]) == pytest.approx((2 / 3 + 1) / 2)
    assert made.label == "macro"
    assert parse_composite(made.to_json()) == made


def test_a_ratio_that_may_exceed_one_says_to_what_it_is_cut() -> None:
    """Without a word the ratio of two arms, 2 in truth, was told as 1 in [1, 1]."""
    with pytest.raises(Unaskable, match=r"may be larger than 1: give range="):
        ratio(A, B)
    assert ratio(A, B, range=(0, 5)).interval([(0.4, 0.6), (0.2, 0.3)]) == pytest.approx((4 / 3, 3))
    assert ratio(A, B, range=(0, 5)).label.endswith(" in [0, 5]")
    both = share((col("a") > 0) & (col("b") > 0))
    three = share((col("c") > 0) & (col("b") > 0) & (col("a") > 0))
    assert all(ratio(*each).numbers == (0.0, 1.0) for each in [(both, A), (three, both), (A, A)])
    with pytest.raises(Unaskable):
        ratio(A, both)
    with pytest.raises(Unaskable):
        ratio(share((col("a") > 0) | (col("b") > 0)), A)


@pytest.mark.parametrize(
    "make",
    [
        lambda: A + 1,
        lambda: A - "a",
        lambda: Composite("nothing", (A,)),
        lambda: Composite("ratio", (A,), (0.0, 1.0)),
        lambda: Composite("linear", (A, B), (1.0,)),
        lambda: Composite("linear", (A,), (math.nan,)),
        lambda: linear([(1.0, A), (1.0, None)]),
        lambda: average([]),
        lambda: ratio(A, B, (1, 0)),
        lambda: ratio(A, B),
        lambda: ratio(A, 3),  # type: ignore[arg-type]
        lambda: parse_composite({"combine": "linear"}),
        lambda: parse_composite([]),
    ],
)
def test_what_is_no_composite_is_refused(make: Any) -> None:
    with pytest.raises(Unaskable):
        make()
