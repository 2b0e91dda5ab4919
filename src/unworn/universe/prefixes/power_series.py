"""Power series cut off after m terms, which is what lower-triangular Toeplitz matrices are, and their products.

A product of two transforms of length N = 2^k is wrong by at most 24 u k |a| |b| in any place, |.| Euclidean lengths and
u = 2^-53: three transforms, each wrong by some 6.7 u k of its length (Higham 2002, Thm. 24.2).
"""

from __future__ import annotations

import math

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.universe.prefixes.prefix_strategy import Integers


def wrong(terms: int) -> float:
    """By how much a product of two series of Euclidean length 1 can be wrong anywhere."""
    return 24.0 * 2.0**-53 * (2 * terms).bit_length()


def product(a: Floats, b: Floats, terms: int) -> Floats:
    """The first ``terms`` coefficients of a(x) b(x).

    >>> product(np.array([1.0, 1.0]), np.array([1.0, 2.0]), 3).round(6).tolist()
    [1.0, 3.0, 2.0]
    """
    length = _length(len(a) + len(b))
    return np.asarray(np.fft.irfft(np.fft.rfft(a, length) * np.fft.rfft(b, length), length)[:terms])


def exact_product(coefficients: Integers, counts: Integers, total: int) -> Integers:
    """The same for whole numbers, exactly; ``counts`` are not negative and sum to ``total``.

    They are cut into binary digits so short that no product of a transform can be wrong by a quarter. How short
    follows from public numbers.

    >>> exact_product(np.array([2**16, 3, 1]), np.array([10**9, 7, 0]), 10**9 + 7).tolist()
    [65536000000000, 3000458752, 1000000021]
    """
    terms, whole = len(counts), np.asarray(counts, dtype=np.int64)
    length = _length(2 * terms)
    steady = np.fft.rfft(coefficients.astype(np.float64), length)
    most = 0.25 / (wrong(terms) * float(np.linalg.norm(coefficients.astype(np.float64))))
    bits = max(1, total.bit_length()) if total <= most else math.floor(math.log2(most / math.sqrt(terms)))
    if bits < 1:
        raise ValueError(f"{terms} values with {total} rows cannot be measured exactly; ask fewer values")
    found = np.zeros(terms, dtype=np.int64)
    for place in range(0, total.bit_length(), bits):
        digits = ((whole >> place) & ((1 << bits) - 1)).astype(np.float64)
        part = np.fft.irfft(steady * np.fft.rfft(digits, length), length)[:terms]
        found += np.rint(part).astype(np.int64) << place
    return found


def reciprocal(a: Floats) -> Floats:
    """The first coefficients of 1/a(x), as many as ``a`` has, by Newton's doubling b <- b (2 - a b).

    >>> reciprocal(np.array([1.0, -1.0, 0.0, 0.0])).round(6).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    b, terms = np.array([1.0 / a[0]]), 1
    while terms < len(a):
        terms = min(2 * terms, len(a))
        rest = -product(a[:terms], b, terms)
        rest[0] += 2.0
        b = product(b, rest, terms)
    return b


def overlaps(a: Floats) -> Floats:
    """For every lag d the sum over i of a[i] a[i + d].

    >>> overlaps(np.array([1.0, 2.0, 3.0])).round(6).tolist()
    [14.0, 8.0, 3.0]
    """
    length = _length(2 * len(a))
    seen = np.fft.rfft(a, length)
    return np.asarray(np.fft.irfft(seen.real**2 + seen.imag**2, length)[: len(a)])


def _length(least: int) -> int:
    return 1 << (least - 1).bit_length()
