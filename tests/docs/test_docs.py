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
_IN_SHORT = re.compile(r"^<!-- in short: `(.*?)` becomes `(.*?)` -->$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def examples() -> Iterator[Any]:
    """The pages with code. One that starts Spark needs it, and Java; one that says how is shortened for every day."""
    for page in PAGES:
        text = page.read_text()
        code = "".join(_CODE.findall(text))
        changes = _IN_SHORT.findall(text)
        if code:
            yield pytest.param(page, changes, marks=[pytest.mark.spark] if "pyspark" in code else [], id=page.name)
        if changes:
            yield pytest.param(page, [], marks=[pytest.mark.slow], id=f"{page.name}, all of it")


@pytest.mark.parametrize(("page", "changes"), list(examples()))
def test_examples_run(
    page: Path, changes: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # as in an environment that was activated
    names: dict[str, object] = {}
    blocks = _CODE.findall(page.read_text())
    for long, _ in changes:
        assert long in "".join(blocks), f"{page.name} is shortened where it says {long}, which it does not"
    for block in blocks:
        for long, short in changes:
            block = block.replace(long, short)
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(page.read_text()):
        assert (page.parent / link).exists(), f"{page.name} links to {link}"
