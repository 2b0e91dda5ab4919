"""A keyed stream of random words that can be repeated by whoever holds the key, and by nobody else.

A draw is a function of the holdout's key and of what it is for. A restart repeats it, another question gets
an independent one, and no state is stored. The words are those of AES in counter mode, under one key, from the block on
that a keyed hash (BLAKE2b) of what they are for names: they cannot be told from random bits without the key, which a
fast statistical generator does not offer. A million streams of a billion words have a block in common with probability
below 2^-58. As all have one key, a single word, which is all that most asks draw, needs no cipher of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from hashlib import blake2b
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

Words = NDArray[np.uint64]
_WORD = np.dtype("<u8")
_FEW = 8
"""Words up to which they are had block by block: a cipher takes longer to set up."""
_RUN = 2**15
"""Words a run: 256 KiB, so that what is computed from a run stays in the cache."""


def _encoded(part: bytes | str | int) -> bytes:
    """A part of a context, tagged by type and length, so that no two contexts share an encoding."""
    if isinstance(part, str):
        data = part.encode()
        return b"s" + len(data).to_bytes(8, "big") + data
    if isinstance(part, bytes):
        return b"b" + len(part).to_bytes(8, "big") + part
    data = int(part).to_bytes(int(part).bit_length() // 8 + 1, "big", signed=True)
    return b"i" + len(data).to_bytes(8, "big") + data


class Stream:
    """The words of a key in a context, read from their beginning.

    >>> key = bytes(32)
    >>> bool((Stream(key, "noise", 1).words(9) == Stream(key, "noise", 1).words(9)).all())
    True
    >>> bool((Stream(key, "noise", 1).words(9) == Stream(key, "noise", 2).words(9)).any())
    False
    """

    def __init__(self, key: bytes, *context: bytes | str | int) -> None:
        self._key, self._context = key, context
        self._read = 0
        self._cipher: CipherContext | None = None

    def at(self, place: int) -> Stream:
        """The same words, read from this place on: parts of them may then be drawn apart, in any order.

        >>> bool((Stream(bytes(32)).at(3).words(6) == Stream(bytes(32)).words(9)[3:]).all())
        True
        """
        if place < 0:
            raise ValueError(f"words have places from 0 on, not {place}")
        stream = Stream(self._key, *self._context)
        stream._read = int(place)
        return stream

    def _bytes(self, count: int) -> bytes:
        """The next ``count`` words, as bytes. For one thread: two would be given the same."""
        if count < 0:
            raise ValueError(f"cannot draw {count} words")
        start, self._read = self._read, self._read + int(count)
        block, before = divmod(start, 2)  # a block is two words
        if self._cipher is None:
            if count <= _FEW:
                counted = b"".join([self._block(place) for place in range(block, (start + count + 1) // 2)])
                return _enciphering(self._key, get_ident()).update(counted)[8 * before : 8 * (before + count)]
            self._cipher = _counting(self._key, self._block(block))
            self._cipher.update(bytes(8 * before))
        return self._cipher.update(bytes(8 * count))

    @cached_property
    def _origin(self) -> int:
        """The number of the first block; made on first use, because every ask has a stream and most never draw."""
        context = b"".join([_encoded(part) for part in self._context])
        hashed = blake2b(context, digest_size=16, key=self._key, person=b"unworn/stream")
        return int.from_bytes(hashed.digest(), "big")

    def _block(self, place: int) -> bytes:
        """What the cipher makes two words of: the numbers of blocks, after the last the first."""
        return ((self._origin + place) % 2**128).to_bytes(16, "big")

    def words(self, count: int) -> Words:
        """The next ``count`` uniform 64-bit words."""
        words: Words = np.frombuffer(self._bytes(count), dtype=_WORD)
        return words.astype(np.uint64, copy=False)

    def word(self) -> tuple[int, int]:
        """The place of the next word, and the word: one alone is sooner a number than an array.

        >>> Stream(bytes(32)).word() == (0, int(Stream(bytes(32)).words(1)[0]))
        True
        """
        return self._read, int.from_bytes(self._bytes(1), "little")

    def runs(self, count: int) -> Iterator[tuple[slice, int, Words]]:
        """The next ``count`` words in runs: where each run belongs, the place of its first word, and its words.

        >>> [(at.start, at.stop, place) for at, place, _ in Stream(bytes(32)).runs(40_000)]
        [(0, 32768, 0), (32768, 40000, 32768)]
        """
        for start in range(0, count, _RUN):
            stop, place = min(start + _RUN, count), self._read
            yield slice(start, stop), place, self.words(stop - start)

    def beyond(self, place: int) -> Stream:
        """The binary digits that follow the 64 of the word at ``place``, as a stream of their own.

        Taken from a stream of its own, a longer number moves no other: what is drawn is a function of the key and of
        the context alone, and not of how many digits a machine's arithmetic had to ask for.
        """
        return Stream(self._key, *self._context, "beyond", place)

    def beside(self, *context: bytes | str | int) -> Stream:
        """Another stream of the same key: for a secret that outlives one ask, and is drawn again instead of stored.

        >>> ask = Stream(bytes(32), "ask", 7)
        >>> int(ask.beside("threshold", 3).words(1)[0]) == int(Stream(bytes(32), "threshold", 3).words(1)[0])
        True
        """
        return Stream(self._key, *context)

    def within(self, *context: bytes | str | int) -> Stream:
        """A stream of its own for one purpose inside this one's: what is drawn for another purpose is independent.

        >>> run = Stream(bytes(32), "release", "ab")
        >>> int(run.within("turn", 1).words(1)[0]) == int(Stream(bytes(32), "release", "ab", "turn", 1).words(1)[0])
        True
        """
        return Stream(self._key, *self._context, *context)

    def permutation(self, count: int) -> NDArray[np.intp]:
        """A uniform permutation of ``0 .. count``: the order of ``count`` fresh 128-bit numbers.

        Two of a million such numbers agree with probability below 1e-26, so ties leave no bias worth a name.

        >>> sorted(Stream(bytes(32), "parts").permutation(5).tolist())
        [0, 1, 2, 3, 4]
        """
        words = self.words(2 * count).reshape(2, count)
        return np.lexsort((words[1], words[0]))


@lru_cache(maxsize=64)
def _secret(key: bytes) -> Any:
    """The cipher's key: another one than the hash's, and made of all of a key of any length."""
    from cryptography.hazmat.primitives.ciphers import algorithms

    if not key:
        raise ValueError("without a key nothing is secret, and nothing is drawn")
    return algorithms.AES(blake2b(digest_size=32, key=key, person=b"unworn/cipher").digest())


@lru_cache(maxsize=64)
def _enciphering(key: bytes, thread: int) -> CipherContext:
    """What makes blocks of the stream of numbered ones; for one thread, as it is not made for several at once."""
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    return Cipher(_secret(key), modes.ECB()).encryptor()


def _counting(key: bytes, block: bytes) -> CipherContext:
    """What does so from this block on."""
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    return Cipher(_secret(key), modes.CTR(block)).encryptor()
