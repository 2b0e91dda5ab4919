from __future__ import annotations

from typing import Any

import pytest

from unworn.boards.board_config import BoardConfig
from unworn.boards.board_errors import InvalidBoard

WANTED: dict[str, Any] = {"name": "bench", "title": "Bench", "id": "id", "target": "label", "metric": "accuracy"}


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("name", "../up", "short name"),
        ("title", "", "1 to 200"),
        ("metric", "acuracy", "did you mean accuracy"),
        ("metric", "values", "write down its own scores"),
        ("kind", "date", "'number', 'bool', 'text'"),
        ("rule", "best of three", "practice-and-check"),
        ("practice", 1.5, "between 0 and 0.95"),
        ("practice", True, "between 0 and 0.95"),
        ("practice", 0, "ladder"),
        ("surprises_per_team", -1, "whole number"),
        ("surprises_per_team", 2.5, "whole number"),
        ("confidence", 1.0, "strictly between 0 and 1"),
        ("grader", "grade.py", "grade.py:score"),
        ("grader", "../grade.py:score", "grade.py:score"),
        ("max_bytes", 10, "whole number"),
        ("options", {"positiv": 1}, "not an option of a metric"),
        ("options", {"average": "harmonic"}, "macro"),
        ("mechanism", {"name": "Ladder"}, "both or neither"),
        ("target", "id", "different columns"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_in_words(setting: str, value: Any, words: str) -> None:
    with pytest.raises(InvalidBoard, match=words.replace("(", r"\(")):
        BoardConfig(**{**WANTED, setting: value})


def test_an_average_is_part_of_the_metric() -> None:
    config = BoardConfig(**{**WANTED, "metric": "f1", "options": {"average": "macro", "classes": [0, 1]}})
    assert config.full_metric == "f1_macro"
    assert config.metric_options == {"classes": [0, 1]}
    assert config.higher_is_better
    assert not BoardConfig(**{**WANTED, "metric": "log_loss"}).higher_is_better


def test_where_things_are_kept_is_not_public() -> None:
    config = BoardConfig(**WANTED, ledger="postgresql+psycopg://user:secret@host/db")
    assert "secret" not in str(config.public())
    assert config.public()["metric"] == "accuracy"
