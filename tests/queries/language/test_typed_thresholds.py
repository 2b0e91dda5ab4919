"""A column compared in its own type comes out as if it had been made float64 first."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.queries.language.typed_thresholds import compare_values, move_threshold

MEANING = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
FLOATS = [np.float16, np.float32, np.float64]
WHOLE = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def agree(values: np.ndarray[Any, Any], op: str, constant: float) -> None:
    found = compare_values(op, values, constant)
    meant = MEANING[op](values.astype(np.float64), constant)
    assert found is None or (found.dtype == np.bool_ and found.tolist() == meant.tolist())


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(FLOATS), st.data(), st.sampled_from(list(MEANING)))
def test_floats(dtype: Any, data: st.DataObject, op: str) -> None:
    width = np.dtype(dtype).itemsize * 8
    exact = st.floats(width=width, allow_nan=False, allow_infinity=False)
    constant = data.draw(st.one_of(st.floats(allow_nan=False, allow_infinity=False), exact, st.floats(-2, 2)))
    with np.errstate(all="ignore"):
        near = dtype(constant)
        sides = [near, np.nextafter(near, dtype(-np.inf)), np.nextafter(near, dtype(np.inf)), dtype(0)]
    values = np.array(data.draw(st.lists(exact, max_size=5)), dtype=dtype)
    values = np.concatenate([values, np.array([side for side in sides if np.isfinite(side)], dtype=dtype)])
    assert compare_values(op, values, constant) is not None
    agree(values, op, constant)


@pytest.mark.parametrize("op", list(MEANING))
@pytest.mark.parametrize("constant", [3.4028235e38, 3.4028236e38, 1e300, 5e-324, 65504.1])
def test_at_the_ends_of_a_type_nothing_warns(op: str, constant: float) -> None:
    for dtype in FLOATS:
        ends = np.finfo(dtype)
        values = np.array([ends.min, ends.max, ends.smallest_subnormal, 0, -0.0], dtype=dtype)
        agree(values, op, constant)
        agree(values, op, -constant)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(WHOLE), st.data(), st.sampled_from(list(MEANING)))
def test_whole_numbers(dtype: Any, data: st.DataObject, op: str) -> None:
    ends = np.iinfo(dtype)
    edges = [float(ends.min), float(ends.max), 2.0**53, -(2.0**53), 2.0**53 - 1, 2.0**63, 2.0**64]
    constant = data.draw(st.one_of(st.floats(-300, 300), st.integers(-300, 300).map(float), st.sampled_from(edges)))
    near = [v for v in range(int(constant) - 2, int(constant) + 3) if ends.min <= v <= ends.max]
    values = data.draw(st.lists(st.one_of(st.integers(ends.min, ends.max), st.sampled_from(near or [0])), min_size=1))
    agree(np.array(values, dtype=dtype), op, constant)


@pytest.mark.parametrize("op", list(MEANING))
def test_beyond_2_53_whole_numbers_of_64_bits_are_rounded_first(op: str) -> None:
    """2**53 + 1 is 2**53 as a float64, so it is not larger than 2**53: only the float64 can tell."""
    assert move_threshold(op, np.dtype(np.int64), 2.0**53) is None
    assert move_threshold(op, np.dtype(np.int64), 2.0**53 - 1) == 2**53 - 1
    around = np.array([2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1])
    for constant in (2.0**53 - 1, 2.0**53 - 2, -(2.0**53) + 1):
        agree(around, op, constant)
