"""The rooms stay such that one finds one's way: names, sizes, and what one ask passes through (benchmarks/house.py)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import unworn
from tests.test_benchmarks import check_form, measured

PACKAGE = Path(unworn.__file__).parent
TESTS = Path(__file__).parent
TODAY = {"files that an ask crosses": 53, "depth of an ask": 13}
"""What an ask passes through until the goals (24 and 13) are met. The numbers only get smaller."""
RIDDLES = {"found", "told", "said", "settled", "parted"}
"""Participles that say nothing of what a function does. Third parties' mechanisms and methods define ``settled``."""
IRREGULAR = {
    "built",
    "chosen",
    "cut",
    "done",
    "drawn",
    "given",
    "held",
    "kept",
    "known",
    "laid",
    "left",
    "lost",
    "made",
}
IRREGULAR |= {"met", "seen", "sent", "shown", "spent", "taken", "written"}
PUBLIC = {"advanced", "amplified", "replaced"}
"""Functions that are documented under such a name: advanced composition, amplification, and a neighbour of a table."""
CONTRACTS = ("mechanisms/", "release/methods/")
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


def test_no_function_or_class_is_called_by_a_bare_participle() -> None:
    called = {
        (path.relative_to(PACKAGE).as_posix(), node.name)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    assert len(called) > 2_000
    assert {one for one in called if one[1].strip("_").lower() in RIDDLES - {"settled"}} == set()
    assert {room for room, name in called if name.strip("_") == "settled" and not room.startswith(CONTRACTS)} == set()


def test_no_function_that_others_import_is_called_by_a_participle_alone() -> None:
    named = {
        (path.relative_to(PACKAGE).as_posix(), node.name)
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and "_" not in node.name
    }
    assert len(named) > 300
    assert {one for one in named if one[1].endswith("ed") or one[1] in IRREGULAR | RIDDLES} == {
        one for one in named if one[1] in PUBLIC
    }
