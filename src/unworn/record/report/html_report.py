"""A report as one page of HTML: nothing is loaded, nothing runs, and no name can change that."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from unworn.basics.display import show_html
from unworn.record.report.report_blocks import (
    Block,
    Commands,
    Grid,
    Heading,
    Items,
    KeyFacts,
    Paragraph,
    Picture,
)

_STYLE = """
:root { color-scheme: light; --ink: #1c2430; --soft: #5b6675; --line: #dfe4ea; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; background: #f6f7f9; color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI",
  Helvetica, Arial, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 2.5rem 2rem 4rem; background: #fff; min-height: 100vh;
  box-shadow: 0 0 24px #0001; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; padding-top: .9rem; border-top: 1px solid var(--line);
  overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.sub { color: var(--soft); margin-bottom: 1.4rem; }
dl { display: flex; flex-wrap: wrap; gap: .7rem; margin: 1.2rem 0; padding: 0; }
dl div { display: flex; flex-direction: column-reverse; flex: 1 1 8rem; background: #f2f6fa; border-radius: .5rem;
  padding: .7rem 1rem; }
dd { margin: 0; font-size: 1.45rem; font-weight: 600; font-variant-numeric: tabular-nums; }
dt { color: var(--soft); font-size: .85rem; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { text-align: left; color: var(--soft); font-weight: 600; border-bottom: 2px solid var(--line); }
th, td { padding: .35rem .9rem .35rem 0; vertical-align: top; }
td { border-bottom: 1px solid #eef1f4; overflow-wrap: anywhere; }
td:nth-child(2) { min-width: 12rem; }
@media (max-width: 600px) { table { font-size: .8rem; } th, td { padding-right: .5rem; } }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
img { max-width: 100%; height: auto; display: block; margin: .8rem 0; }
pre { background: #1c2430; color: #e8edf3; padding: .9rem 1.1rem; border-radius: .5rem; overflow-x: auto;
  font-size: .85rem; }
summary { cursor: pointer; color: var(--accent); margin: .8rem 0; }
li { max-width: 46rem; margin: .2rem 0; }
footer { color: var(--soft); font-size: .85rem; margin-top: 3rem; }
@media print { body { background: #fff; } main { box-shadow: none; padding: 0; } details > * { display: block; } }
"""
_FOOTER = "Made by unworn from the ledger alone: no row was read for it."
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="sub">{subtitle}</p>
{body}
<footer>{footer}</footer>
</main>
</body>
</html>
"""


def html_report(title: str, subtitle: str, blocks: Iterable[Block], footer: str = _FOOTER) -> str:
    """The page."""
    body = "\n".join(_block(block) for block in blocks)
    return _PAGE.format(
        title=show_html(title), subtitle=show_html(subtitle), style=_STYLE, body=body, footer=show_html(footer)
    )


def _block(block: Block) -> str:
    match block:
        case Heading(text):
            return f"<h2>{show_html(text)}</h2>"
        case Paragraph(text):
            return f"<p>{show_html(text)}</p>"
        case Items(texts):
            return f"<ul>{''.join(f'<li>{show_html(text)}</li>' for text in texts)}</ul>"
        case KeyFacts(pairs):
            cells = "".join(
                f"<div><dt>{show_html(name)}</dt><dd>{show_html(value)}</dd></div>" for name, value in pairs
            )
            return f"<dl>{cells}</dl>"
        case Commands(lines):
            return f"<pre>{chr(10).join(map(show_html, lines))}</pre>"
        case Picture(_, words, svg):
            data = base64.b64encode(svg.encode()).decode()
            return f'<img alt="{show_html(words)}" src="data:image/svg+xml;base64,{data}">'
        case Grid():
            return _grid(block)


def _grid(grid: Grid) -> str:
    right = set(grid.right)
    heads = "".join(f"<th{_number(place in right)}>{show_html(text)}</th>" for place, text in enumerate(grid.headers))
    rows = "\n".join(
        "<tr>"
        + "".join(f"<td{_number(place in right)}>{show_html(cell)}</td>" for place, cell in enumerate(row))
        + "</tr>"
        for row in grid.rows
    )
    table = f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    return f"<details><summary>{show_html(grid.folded)}</summary>{table}</details>" if grid.folded else table


def _number(is_number: bool) -> str:
    return ' class="n"' if is_number else ""
