"""Numbers of the lecture map, computed again."""

from __future__ import annotations

import pytest

from unworn.lab.lectures.computed_numbers import NUMBERS, computed_numbers
from unworn.lab.lectures.lecture_registry import lecture_named


@pytest.mark.parametrize(("number", "start"), NUMBERS)
def test_the_number_is_what_comes_out(number: str, start: str) -> None:
    found = [row for row in lecture_named(number).rows if start in row.says]
    assert len(found) == 1, f"{start!r} is in {len(found)} rows"
    text = " ".join((found[0].measured, found[0].note, found[0].erratum))
    for expected in computed_numbers(number, found[0]):
        assert expected in text, f"{expected} is not in: {text}"
