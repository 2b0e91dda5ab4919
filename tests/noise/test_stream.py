"""The stream: what its words are, that they are the same however they are read, and that nothing else moves them."""

from __future__ import annotations

import hashlib

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st

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


def test_the_words_are_a_keyed_hash_and_then_a_cipher() -> None:
    context = b"s" + bytes([0] * 7 + [4]) + b"rows" + b"i" + bytes([0] * 7 + [1]) + b"\x07"
    hashed = hashlib.blake2b(context, key=KEY, person=b"unworn/stream").digest()
    cipher = Cipher(algorithms.AES(hashed[32:]), modes.CTR(bytes(16))).encryptor()
    expected = np.frombuffer(hashed[:32] + cipher.update(bytes(8 * 20)), dtype="<u8")
    assert np.array_equal(Stream(KEY, "rows", 7).words(24), expected)


@given(start=st.integers(0, 12), parts=st.lists(st.one_of(st.just("word"), st.integers(0, 9)), min_size=1, max_size=6))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_read_in_whatever_parts_and_from_wherever_the_words_are_the_same(start: int, parts: list[int | str]) -> None:
    stream, found = Stream(KEY, "parts").at(start), list[int]()
    for part in parts:
        if isinstance(part, str):
            place, word = stream.word()
            assert place == start + len(found)
            found.append(word)
        else:
            found += stream.words(part).tolist()
    assert found == Stream(KEY, "parts").words(start + len(found)).tolist()[start:]


def test_keys_and_contexts_that_differ_share_no_word() -> None:
    contexts: list[tuple[bytes | str | int, ...]] = [(), ("a",), (b"a",), (97,), ("a", ""), ("", "a"), (-97,), ("aa",)]
    streams = [Stream(key, *context).words(8) for key in (KEY, bytes(32)) for context in contexts]
    assert len(set(np.concatenate(streams).tolist())) == 8 * len(streams)
