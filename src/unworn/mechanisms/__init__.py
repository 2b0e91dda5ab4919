"""How answers are made from rows, one mechanism a file, each found by its name."""

from __future__ import annotations

from typing import Any

from unworn.errors import LedgerError
from unworn.mechanisms.above_threshold import AboveThreshold
from unworn.mechanisms.base import Guess, Mechanism, Offer, Published, Reply, State
from unworn.mechanisms.bounded_noise import BoundedNoise
from unworn.mechanisms.gaussian import Gaussian
from unworn.mechanisms.guess_and_check import GuessAndCheck
from unworn.mechanisms.ladder import Ladder
from unworn.mechanisms.laplace import Laplace
from unworn.mechanisms.median_oracle import MedianOracle
from unworn.mechanisms.naive import Naive
from unworn.mechanisms.one_sample import OneSample
from unworn.mechanisms.paired_ladder import PairedLadder
from unworn.mechanisms.private_guess_and_check import PrivateGuessAndCheck
from unworn.mechanisms.private_ladder import PrivateLadder
from unworn.mechanisms.rounding import Rounding
from unworn.mechanisms.sample_splitting import SampleSplitting
from unworn.mechanisms.sparse_vector import SparseVector
from unworn.mechanisms.subsampled import Subsampled
from unworn.mechanisms.thresholdout import Thresholdout

__all__ = [
    "AboveThreshold",
    "BoundedNoise",
    "Gaussian",
    "Guess",
    "GuessAndCheck",
    "Ladder",
    "Laplace",
    "Mechanism",
    "MedianOracle",
    "Naive",
    "Offer",
    "OneSample",
    "PairedLadder",
    "PrivateGuessAndCheck",
    "PrivateLadder",
    "Published",
    "Reply",
    "Rounding",
    "SampleSplitting",
    "SparseVector",
    "State",
    "Subsampled",
    "Thresholdout",
    "from_json",
]

_BY_NAME: dict[str, type[Mechanism]] = {
    kind.__name__: kind
    for kind in (
        AboveThreshold,
        BoundedNoise,
        Gaussian,
        GuessAndCheck,
        Ladder,
        Laplace,
        MedianOracle,
        Naive,
        OneSample,
        PairedLadder,
        PrivateGuessAndCheck,
        PrivateLadder,
        Rounding,
        SampleSplitting,
        SparseVector,
        Subsampled,
        Thresholdout,
    )
}


def from_json(data: dict[str, Any]) -> Mechanism:
    """The mechanism that an entry 0 names.

    >>> from_json({"name": "Rounding", "cells": 20})
    Rounding(cells=20)
    """
    parameters = dict(data)
    name = parameters.pop("name", None)
    if parameters.get("price") is not None:
        parameters["price"] = tuple(parameters["price"])
    if name not in _BY_NAME:
        raise LedgerError(f"this version knows no mechanism {name!r}; it knows {', '.join(_BY_NAME)}")
    return _BY_NAME[name](**parameters)
