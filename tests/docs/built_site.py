"""What a browser would follow and load on a page of the site, and what of it is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}


@dataclass
class Links(HTMLParser):
    """The anchors of a page, where its links lead, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    followed: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif (tag, name) in LOADED and value:
                self.loaded.append(value)
            elif (tag, name) == ("a", "href") and value:
                self.followed.append(value)


@cache
def read_links(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text())
    return links


def is_outside(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def broken_links(site: Path) -> Iterator[str]:
    """Every link and file of the site that leads nowhere, and every file that comes from somewhere else."""
    for page in sorted(site.rglob("*.html")):
        if "_static" in page.parts:  # a template of the theme
            continue
        links = read_links(page)
        where = page.relative_to(site)
        yield from (
            f"{where} loads {link}" for link in links.loaded if is_outside(link) and not link.startswith("data:")
        )
        for link in {*links.followed, *links.loaded}:
            parts = urlsplit(link)
            if is_outside(link) or link == "#":
                continue
            target = page if not parts.path else page.parent / unquote(parts.path)
            if not target.is_file():
                yield f"{where} links to {link}, which is no file"
            elif target.suffix == ".html" and unquote(parts.fragment) not in read_links(target).anchors | {""}:
                yield f"{where} links to {link}, which is no place on that page"
