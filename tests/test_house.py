"""The rooms stay such that one finds one's way: names, sizes, and what one ask passes through (benchmarks/house.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

import unworn
from tests.test_benchmarks import check_form, measured

PACKAGE = Path(unworn.__file__).parent
TESTS = Path(__file__).parent
TODAY = {"files that an ask crosses": 59, "depth of an ask": 18}
"""What an ask passes through until the goals (24 and 13) are met. The numbers only get smaller."""
ELSEWHERE = {"attacks", "docs", "theory"}
"""Tests of no room of their own."""


def test_names_and_sizes_meet_their_goals() -> None:
    rows = measured("house.py")
    check_form(rows)
    missed = {row["what"] for row in rows if row["holds"] is False and not row["what"].startswith(tuple(TODAY))}
    assert not missed
    for row in rows:
        for start, most in TODAY.items():
            if row["what"].startswith(start):
                assert row["ours"] <= most, row["what"]


def folders(base: Path) -> list[str]:
    return sorted(path.parent.relative_to(base).as_posix() for path in base.rglob("__init__.py") if path.parent != base)


@pytest.mark.parametrize("folder", [TESTS, *(TESTS / name for name in folders(TESTS))], ids=lambda p: p.name)
def test_a_folder_of_tests_has_at_most_twenty_files(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= 20


def test_tests_mirror_the_rooms() -> None:
    rooms = set(folders(PACKAGE))
    extra = {"holdout/practice", "holdout/uses"}  # what a holdout does with parts of its rows
    assert {name for name in folders(TESTS) if name.split("/")[0] not in ELSEWHERE} - extra <= rooms
    assert {name.split("/")[0] for name in rooms} - {name.split("/")[0] for name in folders(TESTS)} <= {"basics"}
