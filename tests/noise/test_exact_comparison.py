"""Settling: more digits until the order is certain, and a search that no guess misleads."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.noise.support import Given
from unworn.noise.exact_comparison import Uniform, search_exactly
from unworn.noise.reals import Bounds, exponential, precision

LAST = 2**64 - 1


def third(digits: int) -> Bounds:
    with precision(digits + 5):
        low = Decimal(10**digits // 3).scaleb(-digits)
        return low, low + Decimal(1).scaleb(-digits)


def test_a_number_far_from_the_real_takes_no_more_digits() -> None:
    for word, below in ((0, True), (2**64 // 3 - 1, True), (2**64 // 3 + 1, False), (LAST, False)):
        assert Uniform(word, Given([], [])).below(third) is below


@pytest.mark.parametrize(("after", "below"), [([0], True), ([LAST], False), ([2**64 // 3, 0], True)])
def test_a_number_whose_word_is_that_of_the_real_takes_more_digits(after: list[int], below: bool) -> None:
    # 1/3 in binary is 0.0101...: its first 64 bits are 2^64 // 3, and so are the next.
    number = Uniform(2**64 // 3, Given(after))
    assert number.below(third) is below
    assert number.bits == 64 * (1 + len(after))


def test_what_was_drawn_stays_drawn() -> None:
    number = Uniform(2**64 // 3, Given([2**64 // 3, LAST]))
    assert [number.below(third) for _ in range(3)] == [False] * 3
    assert number.bits == 192


@given(word=st.integers(1, 2**63 - 1), guess=st.integers(-100, 10**6), rate=st.integers(1, 500))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_the_search_finds_the_same_from_every_guess(word: int, guess: int, rate: int) -> None:
    def tail(m: int, digits: int) -> Bounds:
        return exponential(Fraction(m, rate), digits)

    found = search_exactly(Uniform(word, Given([word] * 9)), tail, guess)
    assert found == search_exactly(Uniform(word, Given([word] * 9)), tail, found)
    number = Uniform(word, Given([word] * 9))
    assert found == 0 or number.below(lambda digits: tail(found, digits))
    assert not number.below(lambda digits: tail(found + 1, digits))
