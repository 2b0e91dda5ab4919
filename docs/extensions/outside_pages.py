"""Links that leave the pages' folder, as GitHub follows them, lead somewhere on the site too.

A page says ``[security](../SECURITY.md)``, which is right wherever the repository is shown. On the site that file is a
page of its own (``project/security``), so the link is turned to it before the page is read. Other files, such as an
example, Sphinx offers for download by itself.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

PAGES = {
    "README.md": "index.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
}
"""Files beside ``docs/``, and the pages of the site that show them."""
_OUT = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)(#[^)\s]*)?\)")


def turn_links(text: str, page: str) -> str:
    """The text of a page with its links to known files outside turned to pages of the site.

    >>> turn_links("see [security](../SECURITY.md#reporting)", "promise")
    'see [security](project/security.md#reporting)'
    >>> turn_links("see [an example](../examples/loop.py)", "promise")
    'see [an example](../examples/loop.py)'
    """
    folder = PurePosixPath("docs", page).parent

    def turned(found: re.Match[str]) -> str:
        target = os.path.normpath(folder / found[1])
        if target not in PAGES:
            return found[0]
        return f"]({os.path.relpath(PurePosixPath('docs', PAGES[target]), folder)}{found[2] or ''})"

    return _OUT.sub(turned, text)


def turn_page(app: Any, page: str, source: list[str]) -> None:
    if Path(app.env.doc2path(page)).suffix == ".md":
        source[0] = turn_links(source[0], page)


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", turn_page)
    return {"parallel_read_safe": True}
