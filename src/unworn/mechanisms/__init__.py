"""How answers are made from rows, one mechanism per file, each found by its name.

A holdout needs one of them, so each is loaded when it is first named: all of them together would take as long to import
as everything else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unworn.basics.typed_fields import read_fields
from unworn.errors import LedgerError
from unworn.mechanisms.coded.guess_and_check import GuessAndCheck
from unworn.mechanisms.contract.mechanism import Guess, Mechanism, Offer, Payload, Published, Reply, State
from unworn.mechanisms.contract.offer_codec import forget_payloads, know_payloads

if TYPE_CHECKING:
    from unworn.mechanisms.baselines.naive import Naive
    from unworn.mechanisms.baselines.sample_splitting import SampleSplitting
    from unworn.mechanisms.coded.above_threshold import AboveThreshold
    from unworn.mechanisms.coded.ladder import Ladder
    from unworn.mechanisms.coded.paired_ladder import PairedLadder
    from unworn.mechanisms.coded.rounding import Rounding
    from unworn.mechanisms.noisy.bounded_noise import BoundedNoise
    from unworn.mechanisms.noisy.gaussian import Gaussian
    from unworn.mechanisms.noisy.laplace import Laplace
    from unworn.mechanisms.noisy.one_sample import OneSample
    from unworn.mechanisms.noisy.subsampled import Subsampled
    from unworn.mechanisms.sealed_release import Released
    from unworn.mechanisms.synthetic.median_oracle import MedianOracle
    from unworn.mechanisms.synthetic.multiplicative_weights import MultiplicativeWeights
    from unworn.mechanisms.threshold.private_guess_and_check import PrivateGuessAndCheck
    from unworn.mechanisms.threshold.private_ladder import PrivateLadder
    from unworn.mechanisms.threshold.sparse_vector import SparseVector
    from unworn.mechanisms.threshold.thresholdout import Thresholdout

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
    "Payload",
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
    "AboveThreshold": "coded.above_threshold",
    "BoundedNoise": "noisy.bounded_noise",
    "Gaussian": "noisy.gaussian",
    "GuessAndCheck": "coded.guess_and_check",
    "Ladder": "coded.ladder",
    "Laplace": "noisy.laplace",
    "MedianOracle": "synthetic.median_oracle",
    "MultiplicativeWeights": "synthetic.multiplicative_weights",
    "Naive": "baselines.naive",
    "OneSample": "noisy.one_sample",
    "PairedLadder": "coded.paired_ladder",
    "PrivateGuessAndCheck": "threshold.private_guess_and_check",
    "PrivateLadder": "threshold.private_ladder",
    "Rounding": "coded.rounding",
    "SampleSplitting": "baselines.sample_splitting",
    "SparseVector": "threshold.sparse_vector",
    "Subsampled": "noisy.subsampled",
    "Thresholdout": "threshold.thresholdout",
}
_OTHERS: dict[str, type[Mechanism]] = {}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _kind(name)


def _kind(name: str) -> type[Mechanism]:
    if name in _OTHERS:
        return _OTHERS[name]
    found: type[Mechanism] = getattr(import_module(f"unworn.mechanisms.{_HOMES[name]}"), name)
    return found


def kinds() -> dict[str, type[Mechanism]]:
    """Every mechanism by its name, those of third parties included."""
    return {name: _kind(name) for name in (*_HOMES, *_OTHERS)}


def register(kind: type[Mechanism]) -> None:
    """Make a mechanism of your own, and its payloads, known by name, so that ledgers which name them can be read."""
    if kind.__name__ in _HOMES or _OTHERS.get(kind.__name__, kind) is not kind:
        raise ValueError(f"there is a mechanism {kind.__name__} already: give yours another name")
    know_payloads(kind.payloads)
    _OTHERS[kind.__name__] = kind


def forget(kind: type[Mechanism]) -> None:
    """Undo :func:`register`."""
    _OTHERS.pop(kind.__name__, None)
    forget_payloads(kind.payloads)


def from_json(data: dict[str, Any]) -> Mechanism | Released:
    """The mechanism that an entry 0 names, or the release that it seals rows for.

    >>> from_json({"name": "Rounding", "cells": 20}).law
    'C'
    """
    parameters = dict(data)
    name = parameters.pop("name", None)
    if not isinstance(name, str):
        raise ValueError("a mechanism is known by a name")
    if name == "Released":
        from unworn.mechanisms.sealed_release import Released

        return read_fields(Released, parameters)
    if name not in _HOMES and name not in _OTHERS:
        raise LedgerError(f"this version knows no mechanism {name!r:.80}; it knows {', '.join((*_HOMES, *_OTHERS))}")
    kind = _kind(name)
    return read_fields(kind, {**kind.former, **parameters})
