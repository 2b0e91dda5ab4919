"""CONTRIBUTING's map of the rooms, from the import contracts: ``python -m tests.docs.rooms_map`` writes it anew."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- rooms: made by python -m tests.docs.rooms_map -->\n", "<!-- end of rooms -->\n"


def rooms_map(project: dict[str, Any], package: Path) -> str:
    """Every room from the top down with what it holds, and what may reach what."""
    layers, *others = project["tool"]["importlinter"]["contracts"]
    lines = ["| | room | what it holds | folders |", "| --- | --- | --- | --- |"]
    for number, layer in enumerate(reversed(layers["layers"]), 1):
        for room in layer.split(" | "):
            inside = ", ".join(f"`{name}`" for name in folders(package / room))
            lines.insert(2, f"| {number} | `{room}` | {first_line(package / room)} | {inside} |")
    lines += ["", *(f"- {sentence(contract)}" for contract in others)]
    return "\n".join(lines) + "\n"


def sentence(contract: dict[str, Any]) -> str:
    """A contract that forbids, in words."""
    sources, forbidden = (
        ", ".join(f"`{name.removeprefix('unworn.')}`" for name in contract[key])
        for key in ("source_modules", "forbidden_modules")
    )
    return f"**{contract['name']}**: nothing in {sources} imports {forbidden}, directly or through others."


def folders(room: Path) -> Iterator[str]:
    if room.is_dir():
        yield from sorted(path.parent.name for path in room.glob("*/__init__.py"))


def first_line(room: Path) -> str:
    """The first line of a room's docstring: one sentence, or the first of several."""
    path = room / "__init__.py" if room.is_dir() else room.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return text.partition("\n")[0].replace("``", "`").replace(":mod:", "")


def with_map(page: str) -> str:
    """A page with the map between its two marks made anew."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return f"{before}{START}\n{rooms_map(project, ROOT / 'src' / 'unworn')}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_map(PAGE.read_text()))
