"""A page per lecture, its rows from the lecture map: ``python -m tests.docs.lecture_pages`` writes them anew.

What stands above the first mark of a page is prose, written by hand; a new page begins with its heading alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.docs.rooms_map import ROOT
from unworn.lab.lectures.lecture_contract import Lecture, LectureRow
from unworn.lab.lectures.lecture_registry import lecture_named, lecture_numbers
from unworn.lab.papers.claim_registry import claim_named

FOLDER = ROOT / "docs" / "lectures"
START, END = "<!-- rows: made by python -m tests.docs.lecture_pages -->\n", "<!-- end of rows -->\n"


def lecture_rows(lecture: Lecture) -> str:
    """All rows of a lecture, under its own headings; a claim's figure stands below the first row that it measures."""
    wrong = [section for section, rows in lecture.sections.items() if any(row.erratum for row in rows)]
    links = ", ".join(f"[{section}](#{anchor(section)})" for section in wrong)
    errata = f" Mistakes were found in: {links}." if links else " No mistakes were found."
    lines = [f"{len(lecture.rows)} statements, in the lecture's order.{errata}"]
    drawn: set[str] = set()
    for section, rows in lecture.sections.items():
        lines += ["", f"## {section}"]
        for row in rows:
            lines += ["", *row_lines(row)]
            if row.claim and row.claim not in drawn:
                lines += ["", f"![{claim_named(row.claim).title}](../gallery/claims/{row.claim}.svg)"]
            drawn.add(row.claim)
    return "\n".join(lines) + "\n"


def row_lines(row: LectureRow) -> Iterator[str]:
    """A statement, and below it what it is here, where to read, what to run and what comes out."""
    yield f"**{row.kind.capitalize()}.** {escaped(row.says)}"
    yield ""
    if row.ours:
        yield f"- *Here:* {', '.join(f'`{path}`' for path in row.ours)}"
    if row.page:
        yield f"- *Read:* [{page_title(row.page)}](../{row.page})"
    if row.command and row.command != row.run_claim:
        yield f"- *Run:* `{row.command}`"
    if row.claim:
        title = claim_named(row.claim).title
        yield f"- *Measure:* `{row.run_claim}`: [{escaped(title)}](../claims.md#{anchor(title)})"
    for label, text in (("Number", row.measured), ("Note", row.note), ("**Erratum**", row.erratum)):
        if text:
            yield f"- *{label}:* {escaped(text)}" if label[0] != "*" else f"- {label}: {escaped(text)}"


def page_title(link: str) -> str:
    """The heading that a link leads to."""
    path, _, wanted = link.partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / path).read_text(), re.MULTILINE)
    found = [title for title in headings if not wanted or anchor(title) == wanted]
    if not found:
        raise ValueError(f"docs/{path} has no heading {wanted!r}")
    return found[0] if found[0] == headings[0] else f"{headings[0].partition(':')[0]}: {found[0]}"


def anchor(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def escaped(text: str) -> str:
    r"""Text in which Markdown sees no markup.

    >>> escaped("p* is in [0, 1] for f_i")
    'p\\* is in \\[0, 1\\] for f\\_i'
    """
    return re.sub(r"([*_\[\]<>`])", r"\\\1", text)


def with_rows(page: str, lecture: Lecture) -> str:
    """A page with the rows between its two marks made anew."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    before = before or f"# {lecture.title}\n\n"
    return f"{before}{START}\n{lecture_rows(lecture)}\n{END}{after}"


def page_names() -> dict[str, str]:
    """The page of each lecture, by its number."""
    return {
        number: f"{number}-{anchor(re.split('[:,]', lecture_named(number).title)[0])[:50]}.md"
        for number in lecture_numbers()
    }


if __name__ == "__main__":
    for number, name in page_names().items():
        path = FOLDER / name
        path.write_text(with_rows(path.read_text() if path.exists() else "", lecture_named(number)))
