"""A report as Markdown; its pictures are files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from unworn.basics.display import show_line
from unworn.record.report.report_blocks import Block, Commands, Grid, Heading, Items, KeyFacts, Paragraph, Picture

_MARKS = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown_report(title: str, subtitle: str, blocks: Iterable[Block], pictures: str) -> str:
    """The text; ``pictures`` is the folder that its figures lie in, seen from where it lies."""
    parts = [f"# {escape_markdown(title)}", escape_markdown(subtitle), *(_block(block, pictures) for block in blocks)]
    return "\n\n".join([*parts, "Made by unworn from the ledger alone: no row was read for it."]) + "\n"


def escape_markdown(text: object) -> str:
    r"""Text that no reader of Markdown takes for marks, or for HTML.

    >>> escape_markdown("a_b | <script> & co")
    'a\\_b \\| &lt;script&gt; &amp; co'
    """
    marked = _MARKS.sub(r"\\\1", show_line(text).replace("&", "&amp;"))
    return marked.replace("\\<", "&lt;").replace("\\>", "&gt;")


def _block(block: Block, pictures: str) -> str:
    match block:
        case Heading(text):
            return f"## {escape_markdown(text)}"
        case Paragraph(text):
            return escape_markdown(text)
        case Items(texts):
            return "\n".join(f"- {escape_markdown(text)}" for text in texts)
        case KeyFacts(pairs):
            return " · ".join(f"{escape_markdown(name)} **{escape_markdown(value)}**" for name, value in pairs)
        case Commands(lines):
            return "\n".join(["```sh", *(show_line(line).replace("```", "'''") for line in lines), "```"])
        case Picture(file, words, _):
            return f"![{escape_markdown(words)}](<{pictures}/{file}>)"
        case Grid():
            return _grid(block)


def _grid(grid: Grid) -> str:
    rules = ["---:" if place in grid.right else "---" for place in range(len(grid.headers))]
    lines = [grid.headers, rules, *grid.rows]
    shown = (
        f"| {' | '.join(cells if cells is rules else map(escape_markdown, cells))} |"  # the rule is not text
        for cells in lines
    )
    title = f"{escape_markdown(grid.folded)}:\n\n" if grid.folded else ""
    return title + "\n".join(shown)
