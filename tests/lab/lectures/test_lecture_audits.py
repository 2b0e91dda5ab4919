"""What audits show, in the lecture map: the numbers of the rows whose command is an audit, measured again."""

from __future__ import annotations

import re

import pytest

from unworn.lab.audit import audit, catalogue
from unworn.lab.lectures.lecture_registry import lecture_named, lecture_numbers

AUDITED = {
    (row.command.removeprefix("unworn audit "), row.measured)
    for number in lecture_numbers()
    for row in lecture_named(number).rows
    if row.command.startswith("unworn audit ")
}
SHOWN = [(name, measured) for name, measured in sorted(AUDITED) if re.search(r"audit .*shows?|show at least", measured)]


def test_most_audits_say_what_they_show() -> None:
    assert len(SHOWN) >= 15


@pytest.mark.slow
@pytest.mark.parametrize(("name", "measured"), SHOWN)
def test_an_audit_shows_what_is_said(name: str, measured: str) -> None:
    shown = audit(catalogue()[name]()).lower_bound
    assert any(f"{shown:.{digits}f}".removeprefix("0") in measured for digits in (2, 3)), (shown, measured)
