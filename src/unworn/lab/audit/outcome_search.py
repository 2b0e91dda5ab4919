"""Looking for outputs that tell two neighbouring inputs apart, in trials that are used for nothing else.

Whatever is found here is only a proposal: it is measured again in fresh trials, so a search may be as greedy as it
likes without making an audit wrong.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unworn.lab.audit.output_features import Numbers, OutputFeature, codes, features, key_of, varying
from unworn.lab.audit.target import Outcome, Outputs, Pair

Codes = NDArray[np.uint64]

_CUTS = 96
"""Thresholds tried for each number."""
_FEW = 64
"""So few different outputs are counted however few trials there are."""
_SETS = 48
"""Sizes tried for a set of outputs."""


@dataclass(frozen=True)
class CountedOutcome:
    """An outcome with how many of the search's trials had it, on the first input and on the second."""

    outcome: Outcome
    first: int
    second: int


def proposals(pair: Pair, one: Outputs, two: Outputs) -> tuple[int, list[CountedOutcome]]:
    """Outcomes that may tell the inputs of a pair apart: the hints, sets of outputs, and half-lines of numbers.

    Found in every second trial, counted in the others (so many): what was only lucky does not stay in front.
    """
    (one, first), (two, second) = (one[::2], one[1::2]), (two[::2], two[1::2])
    counted = min(len(first), len(second))
    told = [CountedOutcome(hint, hint.count(first), hint.count(second)) for hint in pair.hints]
    telling = set(varying(np.concatenate([one, two, first, second])))
    coded = zip(codes(one), codes(two), codes(first), codes(second), strict=True)
    for length, (*learn, count_first, count_second) in enumerate(coded, start=1):
        if length > 1 and length - 1 not in telling:  # the same sets as before
            continue
        shown = np.concatenate([one, two])[:, :length]
        told += _sets(length, learn[0], learn[1], count_first, count_second, shown)
    for feature in features(one, two):
        told += _half_lines(feature, feature.of(first[:counted]), feature.of(second[:counted]))
    return counted, told


def _half_lines(feature: OutputFeature, one: Numbers, two: Numbers) -> Iterator[CountedOutcome]:
    ones, twos = _sorted(one), _sorted(two)
    for cut in _cuts(np.concatenate([ones, twos])):
        below = [int(np.searchsorted(values, cut, side="right")) for values in (ones, twos)]
        yield CountedOutcome(Outcome(f"{feature.label} ≤ {cut:.6g}", partial(_at_most, feature, cut)), *below)
        under = [int(np.searchsorted(values, cut, side="left")) for values in (ones, twos)]
        over = (len(ones) - under[0], len(twos) - under[1])
        yield CountedOutcome(Outcome(f"{feature.label} ≥ {cut:.6g}", partial(_at_least, feature, cut)), *over)
        if feature.whole:
            same = (below[0] - under[0], below[1] - under[1])
            yield CountedOutcome(Outcome(f"{feature.label} = {cut:.6g}", partial(_equal, feature, cut)), *same)


def _sorted(values: Numbers) -> Numbers:
    return np.sort(values[~np.isnan(values)])


def _cuts(values: Numbers) -> Numbers:
    """Values spread evenly by rank, and more closely at both ends, where small chances lie."""
    finite = np.sort(values[np.isfinite(values)])
    if not len(finite):
        return finite
    tail = np.geomspace(10 / len(finite) if len(finite) > 20 else 0.5, 0.5, _CUTS // 2)
    ranks = (np.concatenate([tail, 1.0 - tail]) * (len(finite) - 1)).astype(np.int64)
    return np.unique(finite[ranks])


def _at_most(feature: OutputFeature, cut: float, outputs: Outputs) -> NDArray[np.bool_]:
    return np.asarray(feature.of(outputs) <= cut)


def _at_least(feature: OutputFeature, cut: float, outputs: Outputs) -> NDArray[np.bool_]:
    return np.asarray(feature.of(outputs) >= cut)


def _equal(feature: OutputFeature, cut: float, outputs: Outputs) -> NDArray[np.bool_]:
    return np.asarray(feature.of(outputs) == cut)


def _sets(length: int, one: Codes, two: Codes, first: Codes, second: Codes, shown: Outputs) -> Iterator[CountedOutcome]:
    """Outputs (their first ``length`` places) in the order of their odds: the first of them, the first two, …"""
    keys, where, which = np.unique(np.concatenate([one, two]), return_index=True, return_inverse=True)
    if len(keys) > max(len(shown) // 10, _FEW):  # hardly any output came twice: these are not to be counted
        return
    learned = [np.bincount(part, minlength=len(keys)) for part in (which[: len(one)], which[len(one) :])]
    order = np.argsort(-(learned[0] + 0.5) / (learned[1] + 0.5), kind="stable")
    ones, twos = _occurrences(keys, first), _occurrences(keys, second)
    for ranked in (order, order[::-1]):
        firsts, seconds = np.cumsum(ones[ranked]), np.cumsum(twos[ranked])
        for size in np.unique(np.geomspace(1, len(keys), _SETS).astype(np.int64)):
            label = key_of(shown[where[ranked[0]]]) + (f" or {size - 1} more" if size > 1 else "")
            chosen = Outcome(label, partial(_among, length, np.sort(keys[ranked[:size]])))
            yield CountedOutcome(chosen, int(firsts[size - 1]), int(seconds[size - 1]))
        for rank in ranked[1:_SETS]:
            single = Outcome(key_of(shown[where[rank]]), partial(_among, length, keys[rank : rank + 1]))
            yield CountedOutcome(single, int(ones[rank]), int(twos[rank]))


def _occurrences(keys: Codes, told: Codes) -> NDArray[np.int64]:
    """How often each of the sorted keys was told."""
    return np.searchsorted(np.sort(told), keys, side="right") - np.searchsorted(np.sort(told), keys, side="left")


def _among(length: int, chosen: Codes, outputs: Outputs) -> NDArray[np.bool_]:
    told = deque(codes(outputs[:, :length]), maxlen=1).pop()
    places = np.minimum(np.searchsorted(chosen, told), len(chosen) - 1)
    return np.asarray(chosen[places] == told)
