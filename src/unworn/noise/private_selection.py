"""Private selection: an index drawn so that higher scores are likelier, with exactly the chances the theorems name.

A float decides nearly every draw. Where it cannot be trusted, digits of the chances and of the uniform number are found
until their order is certain, so that nothing of a chance is rounded away and no delta has to pay for it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from unworn.noise.comparison import compare_chances
from unworn.noise.draws import uniform
from unworn.noise.inversion import Integers
from unworn.noise.noise_checks import check_whole
from unworn.noise.stream import Stream
from unworn.noise.weights import Gaps, check_rate, gaps_of, margin, running_sums, weights_of

if TYPE_CHECKING:
    from unworn.noise.reals import Bounds

_COINS_AT_ONCE = 2**20


def exponential(stream: Stream, scores: ArrayLike, rate: float) -> int:
    """The exponential mechanism (McSherry and Talwar 2007): i with probability exp(rate s_i) / sum of exp(rate s_j).

    Where one row changes no score by more than D, a rate of epsilon / (2 D) makes it epsilon-private and
    epsilon^2/8-zCDP. Scores are whole numbers, and the rate is the exact number that the float is. It takes one word.
    Of the draws among a million scores fewer than one in 10^5 has to be settled, among fewer scores far fewer; the time
    that takes grows with the number of different scores that have a chance.

    >>> exponential(Stream(bytes(32), "pick"), [3, 14, 15, 9], 0.5)
    2
    """
    return int(exponentials(stream, scores, rate, 1)[0])


def exponentials(stream: Stream, scores: ArrayLike, rate: float, size: int) -> Integers:
    """So many independent draws of :func:`exponential`, one word each.

    Of a uniform number v the index is the largest m for which v is below the share of all weight that lies from m on.

    >>> exponentials(Stream(bytes(32), "pick"), [3, 14, 15, 9], 0.5, 8).tolist()
    [2, 2, 2, 2, 1, 2, 2, 2]
    """
    gaps, rate, size = gaps_of(scores), check_rate(rate), check_whole("size", size, 0)
    sums = running_sums(weights_of(gaps, rate)[::-1])  # of the last weight, of the last two, and so on
    last, edge = gaps.size - 1, margin(gaps.size) * float(sums[-1])
    drawn = np.empty(size, dtype=np.int64)
    for at, place, words in stream.runs(size):
        points = (words >> np.uint64(11)).astype(np.float64)  # the highest 53 bits: a float exactly
        points *= 2.0**-53 * float(sums[-1])
        passed = np.minimum(np.searchsorted(sums, points, side="right"), last)
        apart = np.minimum(sums[passed] - points, np.where(passed > 0, points - sums[passed - 1], math.inf))
        drawn[at] = last - passed
        for i in (apart < edge).nonzero()[0].tolist():
            drawn[at.start + i] = _draw_one(int(words[i]), stream.beyond(place + i), gaps, rate, last - int(passed[i]))
    return drawn


def _draw_one(word: int, further: Stream, gaps: Gaps, rate: float, guess: int) -> int:
    from unworn.noise import exact_comparison  # seldom needed, and slow to import
    from unworn.noise.shares import WeightShares

    return exact_comparison.search_exactly(exact_comparison.Uniform(word, further), WeightShares(gaps, rate), guess)


def permute_and_flip(stream: Stream, scores: ArrayLike, rate: float) -> int:
    """Permute and flip (McKenna and Sheldon 2020): as private as :func:`exponential` at its rate, and never worse.

    Take the candidates in a random order, and choose the first whose coin of chance exp(-rate (max - s_i)) falls. Order
    and coins are independent, so all coins may be thrown first, and one of those that fell is drawn: each as likely.
    It is epsilon-private, but not epsilon^2/8-zCDP: ``bounds.selection`` tells when to prefer it.

    >>> permute_and_flip(Stream(bytes(32), "pick"), [3, 14, 15, 9], 0.5)
    1
    """
    return int(permuted_and_flipped(stream, scores, rate, 1)[0])


def permuted_and_flipped(stream: Stream, scores: ArrayLike, rate: float, size: int) -> Integers:
    """So many independent draws of :func:`permute_and_flip`, a word for every coin and one at least for the choice.

    >>> permuted_and_flipped(Stream(bytes(32), "pick"), [3, 14, 15, 9], 0.5, 8).tolist()
    [1, 2, 2, 2, 2, 1, 2, 2]
    """
    gaps, rate, size = gaps_of(scores), check_rate(rate), check_whole("size", size, 0)
    weights, drawn = weights_of(gaps, rate), np.empty(size, dtype=np.int64)

    def chance(i: int, digits: int) -> Bounds:
        from unworn.noise.shares import weight

        return weight(rate, int(gaps[i % gaps.size]), digits)

    most = max(1, _COINS_AT_ONCE // gaps.size)
    for start in range(0, size, most):
        rows = min(most, size - start)
        fell = compare_chances(stream, np.tile(weights, rows), chance).reshape(rows, gaps.size)
        place = np.cumsum(fell, axis=1)
        which = np.empty(rows, dtype=np.int64)
        for number in np.unique(place[:, -1]).tolist():  # how many fell: at least one, the best
            alike = (place[:, -1] == number).nonzero()[0]
            which[alike] = uniform(stream, number, alike.size)
        drawn[start : start + rows] = np.argmax(place > which[:, np.newaxis], axis=1)
    return drawn
