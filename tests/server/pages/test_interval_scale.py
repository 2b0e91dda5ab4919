from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.server.pages.interval_scale import IntervalScale

numbers = st.floats(-1e12, 1e12).filter(lambda value: value == 0 or abs(value) > 1e-9)


@settings(deadline=None)
@given(st.lists(st.tuples(numbers, numbers, numbers), max_size=20))
def test_everything_is_drawn_inside_and_in_order(triples: list[tuple[float, float, float]]) -> None:
    rows = [dict(zip(("low", "value", "high"), sorted(triple), strict=True)) for triple in triples]
    scale = IntervalScale.of(rows)
    assert scale.low < scale.high
    assert len(scale.ticks) <= 5
    for row in rows:
        places = [scale.place(row[name]) for name in ("low", "value", "high")]
        assert places == sorted(places)
        assert all(0 <= place <= 100 for place in places)
        assert scale.show(row["value"])
    room = 1e-6 * (scale.high - scale.low)
    assert all(scale.low - room <= tick <= scale.high + room for tick in scale.ticks)


def test_rows_without_an_interval_are_drawn_by_their_practice_score() -> None:
    scale = IntervalScale.of([{"value": None, "low": None, "high": None, "practice": 0.8}])
    assert scale.low < 0.8 < scale.high
    assert math.isclose(scale.place(0.8), 50.0)


def test_no_rows_have_a_scale_too() -> None:
    assert IntervalScale.of([]).place(0.5) == 50.0


def test_digits_follow_the_intervals() -> None:
    assert IntervalScale.of([{"value": 0.8312, "low": 0.81, "high": 0.85}]).show(0.8312) == "0.831"
    assert IntervalScale.of([{"value": 48213.7, "low": 48000.0, "high": 48400.0}]).show(48213.7) == "48,214"
