"""How answers are made from rows, one mechanism a file, each found by its name.

A holdout needs one of them, so each is loaded when it is first named: all of them together would take as long to import
as everything else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unworn.errors import LedgerError
from unworn.mechanisms.base import Guess, Mechanism, Offer, Published, Reply, State
from unworn.mechanisms.guess_and_check import GuessAndCheck
from unworn.typed_fields import read_fields

if TYPE_CHECKING:
    from unworn.mechanisms.above_threshold import AboveThreshold
    from unworn.mechanisms.bounded_noise import BoundedNoise
    from unworn.mechanisms.gaussian import Gaussian
    from unworn.mechanisms.ladder import Ladder
    from unworn.mechanisms.laplace import Laplace
    from unworn.mechanisms.median_oracle import MedianOracle
    from unworn.mechanisms.multiplicative_weights import MultiplicativeWeights
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
    "MultiplicativeWeights",
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
    "forget",
    "from_json",
    "kinds",
    "register",
]

_HOMES = {
    "AboveThreshold": "above_threshold",
    "BoundedNoise": "bounded_noise",
    "Gaussian": "gaussian",
    "GuessAndCheck": "guess_and_check",
    "Ladder": "ladder",
    "Laplace": "laplace",
    "MedianOracle": "median_oracle",
    "MultiplicativeWeights": "multiplicative_weights",
    "Naive": "naive",
    "OneSample": "one_sample",
    "PairedLadder": "paired_ladder",
    "PrivateGuessAndCheck": "private_guess_and_check",
    "PrivateLadder": "private_ladder",
    "Rounding": "rounding",
    "SampleSplitting": "sample_splitting",
    "SparseVector": "sparse_vector",
    "Subsampled": "subsampled",
    "Thresholdout": "thresholdout",
}
_SEALED = {"Released": "released"}
"""What entry 0 may name besides: no way to answer questions, and so no kind of mechanism."""
_OTHERS: dict[str, type[Mechanism]] = {}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _kind(name)


def _kind(name: str) -> type[Mechanism]:
    if name in _OTHERS:
        return _OTHERS[name]
    home = _HOMES.get(name) or _SEALED[name]
    found: type[Mechanism] = getattr(import_module(f"unworn.mechanisms.{home}"), name)
    return found


def kinds() -> dict[str, type[Mechanism]]:
    """Every mechanism by its name, those of third parties included."""
    return {name: _kind(name) for name in (*_HOMES, *_OTHERS)}


def register(kind: type[Mechanism]) -> None:
    """Make a mechanism of your own known by its class's name, so that ledgers which name it can be read."""
    if kind.__name__ in _HOMES or _OTHERS.get(kind.__name__, kind) is not kind:
        raise ValueError(f"there is a mechanism {kind.__name__} already: give yours another name")
    _OTHERS[kind.__name__] = kind


def forget(kind: type[Mechanism]) -> None:
    """Undo :func:`register`."""
    _OTHERS.pop(kind.__name__, None)


def from_json(data: dict[str, Any]) -> Mechanism:
    """The mechanism that an entry 0 names.

    >>> from_json({"name": "Rounding", "cells": 20}).law
    'C'
    """
    parameters = dict(data)
    name = parameters.pop("name", None)
    if not isinstance(name, str):
        raise ValueError("a mechanism is known by a name")
    if name not in _HOMES and name not in _SEALED and name not in _OTHERS:
        raise LedgerError(f"this version knows no mechanism {name!r:.80}; it knows {', '.join((*_HOMES, *_OTHERS))}")
    kind = _kind(name)
    return read_fields(kind, {**kind.former, **parameters})
