"""How answers are made from rows, one mechanism a file, each found by its name."""

from __future__ import annotations

from typing import Any

from unworn.errors import LedgerError
from unworn.mechanisms.base import Guess, Mechanism, Offer, Published, Reply, State
from unworn.mechanisms.bounded_noise import BoundedNoise
from unworn.mechanisms.gaussian import Gaussian
from unworn.mechanisms.guess_and_check import GuessAndCheck
from unworn.mechanisms.laplace import Laplace
from unworn.mechanisms.naive import Naive
from unworn.mechanisms.one_sample import OneSample
from unworn.mechanisms.rounding import Rounding
from unworn.mechanisms.sample_splitting import SampleSplitting
from unworn.mechanisms.subsampled import Subsampled

__all__ = [
    "BoundedNoise",
    "Gaussian",
    "Guess",
    "GuessAndCheck",
    "Laplace",
    "Mechanism",
    "Naive",
    "Offer",
    "OneSample",
    "Published",
    "Reply",
    "Rounding",
    "SampleSplitting",
    "State",
    "Subsampled",
    "from_json",
]

_BY_NAME: dict[str, type[Mechanism]] = {
    kind.__name__: kind
    for kind in (
        BoundedNoise,
        Gaussian,
        GuessAndCheck,
        Laplace,
        Naive,
        OneSample,
        Rounding,
        SampleSplitting,
        Subsampled,
    )
}


def from_json(data: dict[str, Any]) -> Mechanism:
    """The mechanism that an entry 0 names.

    >>> from_json({"name": "Rounding", "cells": 20})
    Rounding(cells=20)
    """
    parameters = dict(data)
    name = parameters.pop("name", None)
    if name not in _BY_NAME:
        raise LedgerError(f"this version knows no mechanism {name!r}; it knows {', '.join(_BY_NAME)}")
    return _BY_NAME[name](**parameters)
