"""How answers are made from rows, one mechanism a file, each found by its name."""

from __future__ import annotations

from typing import Any

from unworn.errors import LedgerError
from unworn.mechanisms.base import Guess, Mechanism, Offer, Published, Reply, State
from unworn.mechanisms.guess_and_check import GuessAndCheck
from unworn.mechanisms.naive import Naive
from unworn.mechanisms.rounding import Rounding
from unworn.mechanisms.sample_splitting import SampleSplitting

__all__ = [
    "Guess",
    "GuessAndCheck",
    "Mechanism",
    "Naive",
    "Offer",
    "Published",
    "Reply",
    "Rounding",
    "SampleSplitting",
    "State",
    "from_json",
]

_BY_NAME: dict[str, type[Mechanism]] = {
    kind.__name__: kind for kind in (GuessAndCheck, Naive, Rounding, SampleSplitting)
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
