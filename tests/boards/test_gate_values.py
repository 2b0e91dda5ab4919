"""What the gate says travels as JSON and reads as a sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from unworn.boards.gate_values import GateClaim, GateState, GateVerdict, Milestone

MILESTONE = Milestone(0.3, 0.11, 0.2, True, 4, 50, 12, 0.15, 0.16, False, False, 0.11)
VERDICT = GateVerdict(True, 50, 0.83, 0.82, "wider beam", MILESTONE, 50, 1, None)
STATE = GateState("a", "main", 50, 50, 50, 0.83, 0.3, 0.11, 100, 1, 1, False, False, (MILESTONE,))
CLAIM = GateClaim("a", "main", 50, 60, 0.3, 0.15, 0.12, 0.18, 0.83, 0.81, 0.85, 0.95, (5, 6))


@pytest.mark.parametrize("value", [MILESTONE, VERDICT, STATE, CLAIM, replace(VERDICT, milestone=None, before=None)])
def test_values_come_back_from_json(value: GateVerdict) -> None:
    assert type(value).from_json(json.loads(json.dumps(value.to_json()))) == value


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (GateVerdict, {**VERDICT.to_json(), "keep": "yes"}),
        (GateVerdict, {**VERDICT.to_json(), "milestone": {"low": 1}}),
        (GateVerdict, {**VERDICT.to_json(), "more": 1}),
        (GateState, {**STATE.to_json(), "proposals": 1.5}),
        (GateClaim, {**CLAIM.to_json(), "indexes": ["1"]}),
    ],
)
def test_what_is_no_value_is_refused(kind: type[GateVerdict], wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        kind.from_json(wrong)


def test_lines() -> None:
    assert VERDICT.line == (
        "keep: practice 0.8300, + .0100 · practice + .3000 since proposal 12; at least + .1100 is real "
        "(proposal 50 wider beam)"
    )
    lost = replace(VERDICT, keep=False, kept=48, milestone=None, practice=0.8, message="a\nb")
    assert lost.line == "revert to proposal 48: practice 0.8000, − .0200 (proposal 50 a\\nb)"
    assert (VERDICT.exit_code, lost.exit_code) == (0, 10)
    assert CLAIM.line.startswith("final gain + .1500 in [+ .1200, + .1800], where practice says + .3000; final score")
    assert "nothing was gained" in replace(CLAIM, gain=None).line
