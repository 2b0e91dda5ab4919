"""Nothing runs only in ``make theory``: each of its tests has a short form, of the same code, in ``make test``."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.two_sizes import in_two_sizes

TESTS = Path(__file__).parents[1]
HOME = TESTS / "two_sizes.py"
LEFT_OUT = {"theory", "slow", "spark", "skip", "skipif", "xfail"}
"""Marks by which ``make test`` would leave a short form out, or let it fail."""


def marks(node: ast.AST) -> Iterator[str]:
    """Every ``pytest.mark.<name>`` (or ``mark.<name>``) below a node."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute):
            owner = each.value
            if (isinstance(owner, ast.Attribute) and owner.attr == "mark") or (
                isinstance(owner, ast.Name) and owner.id == "mark"
            ):
                yield each.attr


def is_in_two_sizes(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "in_two_sizes" for each in ast.walk(node))


def faults(source: str, name: str) -> list[str]:
    """What is wrong with a file of tests, as sentences."""
    if "theory" not in source and "in_two_sizes" not in source:
        return []
    told = []
    tree = ast.parse(source)
    if "theory" in marks(tree):
        told.append(f"{name} uses pytest.mark.theory itself: use in_two_sizes of tests/two_sizes.py")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and any(map(is_in_two_sizes, node.decorator_list)):
            used = {mark for each in node.decorator_list for mark in marks(each)} & LEFT_OUT
            if used:
                told.append(f"{name}: {node.name} is marked {sorted(used)}, and its short form may not run in CI")
    return told


FILES = sorted(path for path in TESTS.rglob("*.py") if path != HOME)


def test_no_file_of_tests_has_a_large_form_alone() -> None:
    assert len(FILES) > 100
    assert [fault for path in FILES for fault in faults(path.read_text(), str(path.relative_to(TESTS)))] == []


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("@pytest.mark.theory\ndef test(): ...", "uses pytest.mark.theory itself"),
        ("pytestmark = [mark.theory]", "uses pytest.mark.theory itself"),
        ("@mark.slow\n@in_two_sizes(short=1, full=2)\ndef test(size): ...", "test is marked ['slow']"),
        ("@pytest.mark.skipif(True)\n@in_two_sizes(1, 2)\ndef test(size): ...", "test is marked ['skipif']"),
    ],
)
def test_a_large_form_alone_is_found(source: str, says: str) -> None:
    assert says in faults(source, "file")[0]


def test_in_two_sizes_makes_both_forms_of_one_function() -> None:
    name, forms = in_two_sizes(short=1, full=2).mark.args
    assert name == "size"
    assert [(form.values, form.id, [mark.name for mark in form.marks]) for form in forms] == [
        ((1,), "short", []),
        ((2,), "full", ["theory"]),
    ]


def test_progress_is_printed() -> None:
    """Which test, how many of how many, and the time: in the process that collects the reports."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.theory.progress"]
    given = [*command, "-n", "1", "tests/theory/progress.py"]
    told = subprocess.run(given, cwd=TESTS.parent, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^ +1 of 1 +0:\d\d  passed in [\d.]+ s  tests/theory/progress.py::", told, re.MULTILINE), told
    assert "1 passed" in told
