"""The API pages have every public name once, and no other."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.docs.test_docs import ROOT

MODULES = [
    "unworn",
    "unworn.mechanisms",
    "unworn.bounds",
    "unworn.learn",
    "unworn.release",
    "unworn.boards",
    "unworn.lab",
    "unworn.testing",
]
_NAME = re.compile(r"^\.\. (?:auto\w+|py:data):: (\S+)$", re.MULTILINE)


@pytest.mark.parametrize("module", MODULES)
def test_a_page_has_every_public_name_once(module: str) -> None:
    page = (ROOT / "docs" / "api" / f"{module.rpartition('.')[2]}.md").read_text()
    public = [f"{module}.{name}" for name in importlib.import_module(module).__all__]
    assert sorted(_NAME.findall(page)) == sorted(public)


def test_every_module_is_on_the_first_page() -> None:
    page = (ROOT / "docs" / "api" / "index.md").read_text()
    assert re.findall(r"^\| \[`([\w.]+)`\]", page, re.MULTILINE) == MODULES
