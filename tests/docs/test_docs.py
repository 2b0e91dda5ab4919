"""The pages' own examples run, and their links lead somewhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def examples() -> Iterator[Any]:
    """The pages with code; one that starts Spark needs it, and Java."""
    for page in PAGES:
        code = "".join(_CODE.findall(page.read_text()))
        if code:
            yield pytest.param(page, marks=[pytest.mark.spark] if "pyspark" in code else [], id=page.name)


@pytest.mark.parametrize("page", list(examples()))
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # as in an environment that was activated
    names: dict[str, object] = {}
    for block in _CODE.findall(page.read_text()):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(page.read_text()):
        assert (page.parent / link).exists(), f"{page.name} links to {link}"
