"""The stream: what its words are, that they are the same however they are read, and that nothing else moves them."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
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


def test_the_words_are_those_of_a_cipher_from_where_a_keyed_hash_says() -> None:
    context = b"s" + bytes([0] * 7 + [4]) + b"rows" + b"i" + bytes([0] * 7 + [1]) + b"\x07"
    start = hashlib.blake2b(context, digest_size=16, key=KEY, person=b"unworn/stream").digest()
    secret = hashlib.blake2b(digest_size=32, key=KEY, person=b"unworn/cipher").digest()
    cipher = Cipher(algorithms.AES(secret), modes.CTR(start)).encryptor()
    expected = np.frombuffer(cipher.update(bytes(8 * 24)), dtype="<u8")
    assert np.array_equal(Stream(KEY, "rows", 7).words(24), expected)
    assert [Stream(KEY, "rows", 7).at(place).word() for place in range(24)] == list(enumerate(expected.tolist()))


def test_blocks_are_numbered_round_to_the_first() -> None:
    few, many = Stream(KEY, "end"), Stream(KEY, "end")
    few._origin = many._origin = 2**128 - 2
    first = Stream(KEY, "end")
    first._origin = 0
    assert np.array_equal(few.words(8), many.words(9)[:8])
    assert np.array_equal(few.words(2), first.words(6)[4:])


def test_what_is_no_count_no_place_and_no_key_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot draw -1 words"):
        Stream(KEY).words(-1)
    with pytest.raises(ValueError, match="from 0 on"):
        Stream(KEY).at(-4)
    for count in (1, 9):
        with pytest.raises(ValueError, match="without a key"):
            Stream(b"").words(count)
    stream = Stream(KEY)
    told = [stream.words(np.int64(count)) for count in (4, 1, 10)]  # type: ignore[arg-type]
    assert np.array_equal(np.concatenate(told), Stream(KEY).words(15))


def test_threads_draw_at_once() -> None:
    def draw(thread: int) -> list[int]:
        return [Stream(KEY, place).word()[1] for place in range(2_000)]

    with ThreadPoolExecutor(8) as pool:
        assert len(set(map(tuple, pool.map(draw, range(8))))) == 1


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
