from __future__ import annotations

import json
from dataclasses import replace

import pytest

from unworn.boards.submission import NOT_BETTER, Submission

ONE = Submission(
    "0123456789abcdef", 3, "blue", "wide", None, 1.5, "d" * 64, "accuracy", 0.75, 0.01, "checked", None, (4,), 0.75,
    0.7, 0.8, "guess", False,
)  # fmt: skip


def test_a_submission_goes_through_json_and_comes_back() -> None:
    assert Submission.from_json(json.loads(json.dumps(ONE.to_json()))) == ONE


@pytest.mark.parametrize(
    "change", [{"status": "fine"}, {"id": "x"}, {"indexes": [0]}, {"number": "3"}, {"unknown": 1}, {"value": "high"}]
)
def test_what_is_no_submission_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Submission.from_json({**ONE.to_json(), **change})


def test_the_line_says_what_happened() -> None:
    assert ONE.line == "practice 0.75 ± 0.01 · confirmed: 0.75 in [0.7, 0.8]"
    surprised = replace(ONE, surprise=True, value=0.5, low=0.4, high=0.6)
    assert "surprise: 0.5 in [0.4, 0.6]" in surprised.line
    unchecked = replace(ONE, status="unchecked", why="used up", value=None, low=None, high=None)
    assert unchecked.line.endswith("unchecked: used up")
    assert not unchecked.is_checked
    assert unchecked.score == 0.75


def test_not_better_has_no_value_to_show() -> None:
    told = replace(ONE, value=None, low=0.0, high=0.8, source=NOT_BETTER)
    assert "not better, in [0, 0.8]" in told.line


def test_names_of_teams_cannot_write_on_a_terminal() -> None:
    assert "\x1b" not in str(replace(ONE, team="\x1b[31mred"))
