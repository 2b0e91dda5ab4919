"""Coins and rows: exact draws that need no real number."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.noise.noise_checks import check_whole
from unworn.noise.stream import Stream

Integers = NDArray[np.int64]
Values = NDArray[np.uint32] | NDArray[np.int64]
_WORD = 2.0**64
_MOST = 2**63
_MANY = 256
"""Draws from which on more are drawn than are needed, for those that will be refused."""
_HALF, _HALF_BITS = np.dtype("<u4"), np.uint64(32)


def coins(stream: Stream, chances: ArrayLike) -> NDArray[np.bool_]:
    """Coins that fall with exactly the chances given, one word each, in the shape of ``chances``.

    A chance is a float, that is a whole number of 2^-64 and a rest. The word says on which side of the whole number
    the coin falls; where it is equal (one coin in 2^64) the rest is a chance in turn, for the next word.

    >>> coins(Stream(bytes(32)), [0.0, 0.5, 1.0, 0.5]).tolist()
    [False, False, True, False]
    """
    given = np.asarray(chances, dtype=np.float64)
    if not bool(((given >= 0) & (given <= 1)).all()):
        raise ValueError(f"every chance must lie in [0, 1], not {given[~((given >= 0) & (given <= 1))].flat[0]!r}")
    flat, fell = given.ravel(), np.empty(given.size, dtype=bool)
    for at, place, words in stream.runs(given.size):
        scaled = flat[at] * _WORD  # exact: a power of two
        sure = scaled == _WORD
        scaled[sure] = 0.0
        whole = scaled.astype(np.uint64)
        np.logical_or(words < whole, sure, out=fell[at])
        for i in (words == whole).nonzero()[0].tolist():
            fell[at.start + i] |= _falls(float(scaled[i]) % 1.0, stream.beyond(place + i))
    return fell.reshape(given.shape)


def _falls(chance: float, further: Stream) -> bool:
    """One coin of a chance below 1: its digits against the stream's, 64 at a time."""
    while chance > 0:
        chance *= _WORD
        _, word = further.word()
        if word != int(chance):
            return word < int(chance)
        chance %= 1.0
    return False


def indices(stream: Stream, n: int, count: int, replace: bool) -> Integers:
    """``count`` indices, exactly uniform in 0 .. n-1, in time and memory that do not depend on n.

    With replacement they come in the order drawn. Without, they come sorted, as a uniform subset.

    >>> indices(Stream(bytes(32), "rows"), 10**8, 3, True).tolist()
    [14347612, 82653309, 34976542]
    >>> indices(Stream(bytes(32), "rows"), 5, 4, False).tolist()
    [1, 2, 3, 4]
    """
    n, count = check_whole("n", n, 1, _MOST, " (2**63)"), check_whole("count", count, 0)
    if replace:
        return uniform(stream, n, count)
    if count > n:
        raise ValueError(f"count must be at most n = {n} without replacement, not {count}; draw with replacement")
    if 2 * count <= n:
        return _distinct(stream, n, count)
    left = np.ones(n, dtype=bool)  # fewer than 2 * count
    left[_distinct(stream, n, n - count)] = False
    return np.flatnonzero(left).astype(np.int64, copy=False)


def _distinct(stream: Stream, n: int, count: int) -> Integers:
    """The first ``count`` different values of an endless uniform sequence: by symmetry, a uniform subset.

    Each round draws as many as are missing, so the set is complete with the last of them: of values in the order of
    their size none could be left out without a bias.
    At least half of a round is new on average when count <= n/2.
    """
    found = np.sort(_uniform(stream, n, count))
    while True:
        again = found[1:] == found[:-1]
        if again.any():
            found = found[np.concatenate([[True], ~again])]
        if found.size == count:
            return found.astype(np.int64, copy=False)
        found = np.sort(np.concatenate([found, _uniform(stream, n, count - found.size)]))


def uniform(stream: Stream, n: int, count: int) -> Integers:
    """:func:`indices` with replacement, for callers that have checked: words in order, less those that favour some."""
    return _uniform(stream, n, count).astype(np.int64, copy=False)


def one_uniform(stream: Stream, n: int) -> int:
    """The only one of ``uniform(stream, n, 1)``, by Python's own arithmetic.

    >>> one_uniform(Stream(bytes(32), "rows"), 10**8), uniform(Stream(bytes(32), "rows"), 10**8, 1).tolist()
    (14347612, [14347612])
    """
    while True:
        _, word = stream.word()
        if n > 2**32:
            value = word >> (64 - (n - 1).bit_length())
            if value < n:
                return value
        else:
            value, low = divmod((word & (2**32 - 1)) * n, 2**32)
            if low >= 2**32 % n:
                return value


def _uniform(stream: Stream, n: int, count: int) -> Values:
    """The same, half as wide where that is enough: such values are sorted twice as fast."""
    draw = _from_halves if n <= 2**32 else _from_words
    found = draw(stream, n, count)
    while found.size < count:
        found = np.concatenate([found, draw(stream, n, count - found.size)])
    return found[:count]


def _from_halves(stream: Stream, n: int, count: int) -> Values:
    """The high half of n * (32 bits), where each value has equally many of the 2^32 products (Lemire 2019)."""
    over = 2**32 % n
    if count >= _MANY:  # a second round for the few that are refused takes longer than to draw a few more
        count += math.ceil(2 * over / 2**32 * count + 6 * math.sqrt(count * over / 2**32))
    halves = stream.words((count + 1) // 2).astype("<u8", copy=False).view(_HALF)[:count]
    products = halves.astype(np.uint64)
    products *= np.uint64(n)
    products >>= _HALF_BITS
    high = products.astype(np.uint32)
    # Where something is over n is below 2^32, and 32-bit arithmetic gives the low half.
    return high[halves * np.uint32(n) >= np.uint32(over)] if over else high


def _from_words(stream: Stream, n: int, count: int) -> Values:
    """As many high bits as n - 1 has, where they are below n."""
    values = (stream.words(count) >> np.uint64(64 - (n - 1).bit_length())).view(np.int64)
    return values[values < n]
