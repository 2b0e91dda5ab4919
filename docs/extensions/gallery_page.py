"""``{gallery}``: every figure of a folder with the claim it shows, from a list of captions beside the figures.

A folder holds ``captions.json``, a list of objects with ``figure`` (a file of the folder), ``title``, ``claim``,
``command`` (what draws it again) and, where there are such, ``measured`` (what came out), ``source`` (who says so) and
``page`` (a page of the site, for more). A figure without a caption, or a caption without a figure, is an error.

``UNWORN_FIGURES=folder make site`` shows those of another folder after ours: what the lab writes, for instance.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

DRAWN = (".svg", ".png")


@dataclass(frozen=True)
class Caption:
    """What a figure shows, and how it is drawn again."""

    figure: str
    title: str
    claim: str
    command: str
    measured: str = ""
    source: str = ""
    page: str = ""

    def markdown(self, folder: str, root: str) -> list[str]:
        more = f" [More]({root}/{self.page})." if self.page else ""
        lines = [f"## {self.title}", f"![{self.title}]({folder}/{self.figure})", self.claim + more]
        lines += [f"**Measured.** {self.measured}"] if self.measured else []
        lines += [f"*{self.source}*"] if self.source else []
        lines.append(f"```console\n$ {self.command}\n```")
        return "\n\n".join([*lines, ""]).split("\n")


def read_captions(folder: Path) -> list[Caption]:
    """The captions of a folder, in the order of its list, after a check that they and its figures are the same."""
    captions = [Caption(**fields) for fields in json.loads((folder / "captions.json").read_text())]
    named, there = {caption.figure for caption in captions}, figures(folder)
    if named != there:
        raise ValueError(
            f"{folder}: figures without a caption: {sorted(there - named)};"
            f" captions without a figure: {sorted(named - there)}"
        )
    return captions


def figures(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix in DRAWN}


class Gallery(SphinxDirective):
    """The figures of the folder that is named, and of ``UNWORN_FIGURES``."""

    required_arguments = 1
    has_content = False

    def run(self) -> list[nodes.Node]:
        here = Path(self.env.doc2path(self.env.docname)).parent
        given = [here / self.arguments[0], *map(Path, filter(None, [os.environ.get("UNWORN_FIGURES")]))]
        lines = []
        for folder in given:
            self.env.note_dependency(str(folder / "captions.json"))
            root = os.path.relpath(self.env.srcdir, here)
            for caption in read_captions(folder):
                lines += caption.markdown(os.path.relpath(folder.resolve(), here), root)
        return list(self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True))


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True}
