from __future__ import annotations

import json

import pytest

from unworn.record.question_words import _family_words, _metric_name


@pytest.mark.parametrize(
    ("family", "words", "metric"),
    [
        ({"metric": "accuracy"}, "accuracy", "accuracy"),
        ({"metric": "rmse", "range": [0, 10]}, "rmse (range 0 to 10)", "rmse"),
        ({"metric": "f", "beta": 2, "classes": ["a", "b", "c"]}, 'f (beta 2, classes ["a", "b", "c"])', "f"),
        ({"difference": json.dumps({"metric": "brier"})}, "difference in brier", None),
        ({"metric": "values", "range": [-1, 1]}, "values (range -1 to 1)", None),
        ({"metric": "log_loss", "range": [0.0, 7.0]}, "log_loss (range 0 to 7)", "log_loss"),
        ({"metric": "values", "range": [0.0, 1.0], "zero_one": False}, "values (range 0 to 1)", None),
        ({"metric": "values", "range": [0.0, 1.0], "zero_one": True}, "values (range 0 to 1, 0 or 1)", None),
        (
            {"metric": "roc_auc", "positive": 1, "where": ["eq", ["col", "carrier"], ["lit", "AA"]]},
            "roc_auc (positive 1) where carrier == 'AA'",
            "roc_auc",
        ),
        ({"metric": 7}, "7", None),
    ],
)
def test_a_metric_is_told_with_its_settings(family: dict[str, object], words: str, metric: str | None) -> None:
    text = json.dumps(family)
    assert _family_words(text) == words
    assert _metric_name(text) == metric  # of values nobody says which are better


def test_what_is_no_family_is_told_as_it_is() -> None:
    for text in ("{}", "[", "7", '{"of": 1}'):
        assert _family_words(text) == text
