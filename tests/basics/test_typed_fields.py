"""Lists that somebody else wrote are read field by field, whatever pattern of types they have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.basics.typed_fields import LARGEST, is_number, is_text, is_whole, read_listed


@dataclass(frozen=True)
class Told:
    size: int
    level: float
    name: str | None
    ends: tuple[float, float] | None = None
    sure: bool = False


def fits(place: int, value: Any) -> bool:
    """What the declarations say, one by one."""
    if place == 0:
        return is_whole(value)
    if place == 1:
        return is_number(value)
    if place == 2:
        return value is None or is_text(value)
    if place == 3:
        listed = isinstance(value, list | tuple) and len(value) == 2
        return value is None or (listed and all(map(is_number, value)))
    return type(value) is bool


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-4, 4),
    st.sampled_from([LARGEST, LARGEST + 1, -LARGEST, -LARGEST - 1, 10**400]),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.one_of(st.floats(), st.integers(-1, 1), st.text(max_size=1)), max_size=3),
    st.dictionaries(st.text(max_size=1), st.none(), max_size=1),
)


@settings(deadline=None)
@given(st.lists(VALUES, max_size=6))
def test_a_list_is_read_if_each_value_fits_its_field(values: list[Any]) -> None:
    if 3 <= len(values) <= 5 and all(fits(*pair) for pair in enumerate(values)):
        read = read_listed(Told, values)
        told = [tuple(value) if isinstance(value, list) else value for value in values]
        assert [read.size, read.level, read.name, read.ends, read.sure][: len(told)] == told
        assert read.ends is None or type(read.ends) is tuple
    else:
        with pytest.raises(ValueError, match="Told"):
            read_listed(Told, values)


@pytest.mark.parametrize(
    ("values", "field"),
    [([math.nan, 1, None], "size"), ([True, 1, None], "size"), ([1, math.inf, None], "level"), ([1, 2, 3], "name")],
)
def test_the_field_that_does_not_fit_is_named(values: list[Any], field: str) -> None:
    with pytest.raises(ValueError, match=f"{field} of Told is not of type"):
        read_listed(Told, values)


def test_what_a_list_lacks_is_named() -> None:
    with pytest.raises(ValueError, match="lacks the field name"):
        read_listed(Told, [1, 2.0])
    with pytest.raises(ValueError, match="at most 5"):
        read_listed(Told, [1, 2.0, None, None, True, 1])
    with pytest.raises(ValueError, match="is a list"):
        read_listed(Told, {"size": 1})
