"""Questions of optimisation read back from JSON: what stands in the wrong place is refused, nothing else happens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from unworn.errors import Unaskable
from unworn.queries.learning.argmin import (
    Curvature,
    Gradient,
    Risk,
    curvature_from_json,
    gradient_from_json,
    risk_from_json,
)
from unworn.queries.learning.linear_losses import Stump, least_squares, logistic, pinball
from unworn.queries.learning.mixture_moments import Feature, Mixture, Moment, moment_from_json

MIXTURE = Mixture(
    (Feature("a", -1, 1), Feature("b", 0, 10)), (0.25, 0.75), ((-0.5, 0.1), (0.5, -0.2)), ((0.1, 0.2), (0.3, 1e-6))
)
QUESTIONS = [
    (Moment(MIXTURE, 0, 0, 1), moment_from_json),
    (Gradient(logistic({"a": (0, 1)}), (0.0, 0.0), 0), gradient_from_json),
    (Gradient(pinball([Stump("a", 0.5)], range=(0, 1)), (0.0, 0.0), 0), gradient_from_json),
    (Curvature(logistic({"a": (0, 1)}), (0.0, 0.0), 0, 1), curvature_from_json),
    (Risk(least_squares({"a": (0, 1)}, range=(0, 1)), (0.0, 0.0)), risk_from_json),
]
NUMBERS = [0, 1, -1, 2, 0.5, 1e400, float("nan"), 2**53 + 1, 10**400]
JUNK = [None, True, False, "", "a", "1", "\ud800", "x" * 2000, [], [[]], {}, {"a": 1}, [1], ["a"], [None], [True, True]]
JUNK += [[[1, 2], [3]], [[None]], [[1, "2"], [1, 2]], [["0.5", "0.5"], [0, 0]], *NUMBERS]


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, part in inner:
        yield (*path, key)
        yield from places(part, (*path, key))


def with_other(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    data = json.loads(json.dumps(data))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


@pytest.mark.parametrize(("question", "read"), QUESTIONS, ids=lambda part: type(part).__name__)
def test_anything_in_any_place_is_a_question_or_refused(question, read):
    good = question.to_json()
    taken = 0
    for path in places(good):
        for value in JUNK:
            changed = with_other(good, path, value)
            try:
                again = read(changed)
            except Unaskable:
                continue
            taken += 1
            assert len(again.fingerprint) == 64
            json.dumps(again.to_json(), allow_nan=False)
    assert 0 < taken < 100  # another name or another number is another question; all else is refused


@pytest.mark.parametrize("wrong", [[["0.5", "0.5"], [0, 0]], [[True, True], [0, 0]], 0.5, "12", None])
def test_numpy_would_take_texts_and_truth_values_for_numbers(wrong):
    with pytest.raises(Unaskable):
        Mixture(MIXTURE.features, MIXTURE.weights, wrong, MIXTURE.variances)
