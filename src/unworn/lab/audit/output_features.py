"""Numbers to cut: what a search looks at in outputs of several places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unworn.lab.audit.target import Outputs

_BINS = 32
_FEW = 8
"""A place with no more values than this is a symbol, not a number: sets of outputs do it justice."""
_PLACES = 24
"""Beyond so many places, single ones are no longer looked at."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class OutputFeature:
    """One number for every trial. ``whole`` when it takes few enough values for single ones to be worth a look."""

    label: str
    of: Callable[[Outputs], Numbers]
    whole: bool = False


def features(one: Outputs, two: Outputs) -> list[OutputFeature]:
    """Every answer that is a number, their sum, extremes and neighbouring differences, and their learned odds."""
    sample = np.concatenate([one[:2_000], two[:2_000]]).astype(np.float64)
    places = [j for j in range(sample.shape[1]) if len(np.unique(sample[:, j])) > _FEW][:_PLACES]
    found = [OutputFeature(f"answer {j + 1}", partial(_column, j)) for j in places]
    if len(places) > 1 and np.isfinite(sample[:, places]).all():
        found += [OutputFeature(f"the {name} of the answers", partial(fold, places)) for name, fold in _FOLDS.items()]
        found += [
            OutputFeature(f"answer {i + 1} − answer {j + 1}", partial(_difference, i, j)) for i, j in _next(places)
        ]
    telling = varying(np.concatenate([one, two]))
    if len(telling) > 1:
        edges = {j: _edges(np.concatenate([one[:, j], two[:, j]]).astype(np.float64)) for j in telling}
        odds = {j: _odds(edge, one[:, j], two[:, j]) for j, edge in edges.items()}
        found.append(OutputFeature("the answers' odds", partial(_score, edges, odds)))
    kinds = (OutputFeature(f.label, f.of, len(np.unique(f.of(sample))) <= len(sample) // 10) for f in found)
    return list(kinds)


def varying(outputs: Outputs) -> list[int]:
    """The places that do not say the same in all trials: places that nothing fills cost no time.

    >>> varying(np.array([[0.0, 1.0, np.nan, np.nan], [0.0, 2.0, np.nan, 0.0]]))
    [1, 3]
    """
    first = outputs[:1]
    alike = (outputs == first) | ((outputs != outputs) & (first != first))
    return [int(j) for j in np.flatnonzero(~alike.all(axis=0))]


def _next(places: list[int]) -> list[tuple[int, int]]:
    return list(zip(places[1:], places[:-1], strict=True))


def _column(j: int, outputs: Outputs) -> Numbers:
    return np.asarray(outputs[:, j], dtype=np.float64)


def _difference(i: int, j: int, outputs: Outputs) -> Numbers:
    return _column(i, outputs) - _column(j, outputs)


def _sum(places: list[int], outputs: Outputs) -> Numbers:
    return np.asarray(outputs[:, places].sum(axis=1, dtype=np.float64))


def _least(places: list[int], outputs: Outputs) -> Numbers:
    return np.asarray(outputs[:, places].min(axis=1), dtype=np.float64)


def _most(places: list[int], outputs: Outputs) -> Numbers:
    return np.asarray(outputs[:, places].max(axis=1), dtype=np.float64)


_FOLDS: dict[str, Callable[[list[int], Outputs], Numbers]] = {"sum": _sum, "least": _least, "largest": _most}


def _edges(values: Numbers) -> Numbers:
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) <= _BINS:
        return distinct
    return np.unique(np.quantile(values[np.isfinite(values)], np.linspace(0.0, 1.0, _BINS + 1)))


def _bins(edges: Numbers, values: Outputs) -> NDArray[np.int64]:
    """In which bin each value lies; the last is for NaN."""
    numbers = values.astype(np.float64)
    return np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers, side="right"))


def _odds(edges: Numbers, one: Outputs, two: Outputs) -> Numbers:
    """The log of how much likelier each bin is on the first input, with half a trial added to each."""
    ones, twos = (np.bincount(_bins(edges, told), minlength=len(edges) + 2) + 0.5 for told in (one, two))
    return np.asarray(np.log(ones / twos))


def _score(edges: dict[int, Numbers], odds: dict[int, Numbers], outputs: Outputs) -> Numbers:
    """The sum of the places' log odds: what a judge would use who takes them for independent."""
    total = np.zeros(len(outputs))
    for j, edge in edges.items():
        total += odds[j][_bins(edge, outputs[:, j])]
    return np.round(total, 9)


def codes(outputs: Outputs) -> Iterator[NDArray[np.uint64]]:
    """For each length, a 64-bit code of every trial's first places: equal outputs have equal codes, others hardly ever.

    A clash would only join two outputs to one event, which is an event like any other.
    """
    total = np.zeros(len(outputs), dtype=np.uint64)
    for j in range(outputs.shape[1]):
        told = outputs[:, j].astype(np.float64) + 0.0  # -0.0 is 0.0
        told[np.isnan(told)] = np.nan  # and all NaN are one
        total = (total ^ told.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        total ^= total >> np.uint64(29)
        yield total


def key_of(output: Outputs) -> str:
    """How an output reads: runs of the same value are counted.

    >>> key_of(np.array([0, 0, 0, 1]))
    '0³ 1'
    """
    parts: list[tuple[str, int]] = []
    for value in output.tolist():
        text = "–" if value != value else _WORDS.get(value, f"{value:g}")
        parts = [*parts[:-1], (text, parts[-1][1] + 1)] if parts and parts[-1][0] == text else [*parts, (text, 1)]
    return " ".join(text + ("" if times == 1 else str(times).translate(_RAISED)) for text, times in parts)


_WORDS = {np.inf: "below", -np.inf: "above"}
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
