"""CONTRIBUTING's map says what the import contracts say."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.docs.rooms_map import END, PAGE, ROOT, START, rooms_map, with_map


def test_the_map_is_that_of_the_contracts() -> None:
    page = PAGE.read_text()
    assert page.count(START) == page.count(END) == 1
    assert page == with_map(page), "write the map anew: python -m tests.docs.rooms_map"


def test_every_room_is_on_the_map() -> None:
    package = ROOT / "src" / "unworn"
    page = PAGE.read_text()
    for path in package.iterdir():
        if (path / "__init__.py").exists() or (path.suffix == ".py" and not path.name.startswith("__")):
            assert f"| `{path.stem}` |" in page


def test_a_contract_that_changes_changes_the_map(tmp_path: Path) -> None:
    (tmp_path / "low.py").write_text('"""Low."""')
    (tmp_path / "high" / "part").mkdir(parents=True)
    (tmp_path / "high" / "__init__.py").write_text('"""High.\n\nMore."""')
    (tmp_path / "high" / "part" / "__init__.py").touch()
    contracts = """
    [[tool.importlinter.contracts]]
    layers = ["high", "low"]
    [[tool.importlinter.contracts]]
    name = "Apart"
    source_modules = ["unworn.low"]
    forbidden_modules = ["unworn.high"]
    """
    assert rooms_map(tomllib.loads(contracts), tmp_path).splitlines()[2:] == [
        "| 2 | `high` | High. | `part` |",
        "| 1 | `low` | Low. |  |",
        "",
        "- **Apart**: nothing in `low` imports `high`, directly or through others.",
    ]
