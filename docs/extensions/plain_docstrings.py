"""Docstrings are written to be read as they stand; what reStructuredText would make of some of them is put right here.

``|x|`` is an absolute value and no substitution, a literal may be followed by a letter, a page that is named becomes a
link, a colon in the first sentence of a property makes no type of it, and the examples get a heading of their own, so
that a reader finds where prose ends.
"""

from __future__ import annotations

import re
from typing import Any

_LITERAL = re.compile(r"(``.+?``)")
_COLON = "\N{MODIFIER LETTER COLON}"  # stands in for a colon that is one of a sentence
_PAGE = re.compile(r"\bdocs/([\w/-]+)\.md\b")


def mend_line(line: str) -> str:
    r"""A line of prose as reStructuredText that shows what the line says.

    >>> mend_line("mean loss + ridge/2 |θ|², ``a | b`` and ``scale``²")
    'mean loss + ridge/2 \\|θ\\|², ``a | b`` and ``scale``\\ ²'
    >>> mend_line("a path (``home``; see docs/ledger.md)")
    'a path (``home``; see :doc:`/ledger`)'
    """
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = _LITERAL.split(line)
    for place in range(0, len(parts), 2):  # between literals
        prose = _PAGE.sub(r":doc:`/\1`", parts[place].replace("|", r"\|"))
        parts[place] = "\\ " + prose if place and prose[:1].isalnum() else prose
    return "".join(parts)


def head_examples(lines: list[str]) -> list[str]:
    """A docstring with a heading before its first doctest, unless it has one.

    >>> head_examples(["Adds.", "", ">>> 1 + 1", "2"])
    ['Adds.', '', '.. rubric:: Examples', '', '>>> 1 + 1', '2']
    """
    places = [place for place, line in enumerate(lines) if line.startswith(">>> ")]
    if not places or any("rubric:: Example" in line for line in lines):
        return lines
    return [*lines[: places[0]], ".. rubric:: Examples", "", *lines[places[0] :]]


def mend_docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = head_examples([mend_line(line.replace(_COLON, ":")) for line in lines])


def hide_colons(line: str) -> str:
    """The first line of a property while napoleon reads it, which would make a type of the words before a colon.

    >>> hide_colons("The hash of the last entry: note it.").replace(_COLON, ":")
    'The hash of the last entry: note it.'
    """
    return line.replace(":", _COLON)


def shield_docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    if what in {"attribute", "data", "property"} and lines:
        lines[0] = hide_colons(lines[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", shield_docstring, priority=100)  # before napoleon reads the sections
    app.connect("autodoc-process-docstring", mend_docstring, priority=900)  # after napoleon has read the sections
    return {"parallel_read_safe": True}
