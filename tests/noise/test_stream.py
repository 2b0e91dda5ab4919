"""The stream: runs are its words, and the digits beyond a word move nothing."""

from __future__ import annotations

import numpy as np

from tests.noise.support import KEY
from unworn.noise import Stream


def test_runs_are_the_words_in_order_and_know_their_places() -> None:
    stream, whole = Stream(KEY, 1), Stream(KEY, 1).words(5 + 70_000)
    stream.words(5)
    found, places = np.empty(70_000, dtype=np.uint64), []
    for at, place, words in stream.runs(70_000):
        found[at] = words
        places.append(place)
    assert np.array_equal(found, whole[5:])
    assert places == [5, 5 + 32_768, 5 + 65_536]
    assert list(stream.runs(0)) == []


def test_the_digits_beyond_a_word_depend_on_its_place_alone() -> None:
    early, late = Stream(KEY, 1), Stream(KEY, 1)
    late.words(100)
    assert np.array_equal(early.beyond(3).words(4), late.beyond(3).words(4))
    others = [early.beyond(4), Stream(KEY, 2).beyond(3), Stream(KEY, 1), early.beyond(3).beyond(0)]
    for other in others:
        assert not np.isin(other.words(4), early.beyond(3).words(4)).any()
    early.beyond(0).words(10)
    assert np.array_equal(early.words(3), Stream(KEY, 1).words(3))
