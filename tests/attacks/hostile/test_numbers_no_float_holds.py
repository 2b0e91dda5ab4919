"""Predictions that differ are different questions, also where no 64-bit float tells them apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unworn import Holdout
from unworn.queries.predictions import GivenPredictions

_MIX = 0x9E3779B97F4A7C15


def twin(number: float) -> int:
    """The integer whose word, as rows are hashed, is that of a float."""
    bits = int(np.float64(number).view(np.uint64))
    word = (bits - _MIX) * pow(_MIX, -1, 2**64) % 2**64
    return word - 2**64 if word >= 2**63 else word


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array([-(2**63) + 1]), np.array([2**63 + 1], dtype=np.uint64)),
        (np.array([1.0]), np.array([twin(1.0)])),
        (np.array([1, twin(0.0)]), np.array([1.0, 0.0])),
        (np.array([2**60 + 1]), np.array([2.0**60])),
    ],
)
def test_other_numbers_are_other_predictions(one: Any, other: Any) -> None:
    assert GivenPredictions(one).digest != GivenPredictions(other).digest


def test_equal_numbers_are_the_same_predictions_whatever_their_type() -> None:
    big = [2**60 + 1, 3]
    assert GivenPredictions(np.array(big)).digest == GivenPredictions(np.array(big, dtype=np.uint64)).digest
    assert GivenPredictions(np.array([2**60, 3])).digest == GivenPredictions(np.array([2.0**60, 3.0])).digest


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="no longer floats here")
def test_what_is_scored_is_what_the_question_is_known_by() -> None:
    """A float of 80 bits just above 1 is 1 to the digest, and so it is to the metric."""
    holdout = Holdout(None, np.ones(500, dtype=int), schema={"y": "number"}, ledger=None, practice=0)
    ones = np.ones(500, dtype=np.longdouble)
    above = ones + np.finfo(np.longdouble).eps
    assert holdout.score(ones, 1.0).low > 0.9
    assert holdout.score(above, 1.0).index == 1
    assert holdout.score(above, 1.0, again=True).low > 0.9
