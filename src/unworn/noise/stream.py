"""A keyed stream of random words that can be repeated by whoever holds the key, and by nobody else.

A draw is a function of the holdout's key and of what it is for. A restart repeats it, another question gets
an independent one, and no state is stored. AES in counter mode is a permutation-based generator whose
output cannot be told from random bits without the key, which a fast statistical generator does not offer.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

Words = NDArray[np.uint64]
_WORD = np.dtype("<u8")
_RUN = 2**15
"""Words a run: 256 KiB, so that what is computed from a run stays in the cache."""


def _encoded(part: bytes | str | int) -> bytes:
    """A part of a context, tagged by type and length, so that no two contexts share an encoding."""
    if isinstance(part, bytes):
        tag, data = b"b", part
    elif isinstance(part, str):
        tag, data = b"s", part.encode()
    else:
        tag, data = b"i", int(part).to_bytes(int(part).bit_length() // 8 + 1, "big", signed=True)
    return tag + len(data).to_bytes(8, "big") + data


@cache
def _ciphers() -> tuple[Any, Any, Any]:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return algorithms.AES, modes.CTR, Cipher


class Stream:
    """The AES-256-CTR keystream of a key in a context, read from its beginning.

    >>> key = bytes(32)
    >>> bool((Stream(key, "noise", 1).words(4) == Stream(key, "noise", 1).words(4)).all())
    True
    >>> bool((Stream(key, "noise", 1).words(4) == Stream(key, "noise", 2).words(4)).any())
    False
    """

    def __init__(self, key: bytes, *context: bytes | str | int) -> None:
        self._key, self._context = key, context
        self._read = 0
        self._made: CipherContext | None = None

    def at(self, place: int) -> Stream:
        """The same words, read from this place on: parts of them may then be drawn apart, in any order.

        >>> bool((Stream(bytes(32)).at(3).words(4) == Stream(bytes(32)).words(7)[3:]).all())
        True
        """
        stream = Stream(self._key, *self._context)
        stream._read = place
        return stream

    def _cipher(self) -> CipherContext:
        # Made on first use: every ask is handed a stream, and most mechanisms never draw from it.
        AES, CTR, Cipher = _ciphers()
        secret = hmac.digest(self._key, b"".join(map(_encoded, self._context)), "sha256")
        block, before = divmod(8 * self._read, 16)
        cipher: CipherContext = Cipher(AES(secret), CTR(block.to_bytes(16, "big"))).encryptor()
        cipher.update(bytes(before))
        return cipher

    def words(self, count: int) -> Words:
        """The next ``count`` uniform 64-bit words."""
        if self._made is None:
            self._made = self._cipher()
        words: Words = np.frombuffer(self._made.update(bytes(8 * count)), dtype=_WORD)
        self._read += count
        return words.astype(np.uint64, copy=False)

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
