"""What a report is made of, whatever it is written in: all text here is as it came, and escaped by who writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    texts: Sequence[str]


@dataclass(frozen=True)
class KeyFacts:
    """A few numbers that stand out, each with what it is."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Grid:
    """A table. Columns whose places are in ``right`` hold numbers; ``folded`` ones are shown when they are opened."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    folded: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, with the name of the file it would have and words for those who do not see it."""

    file: str
    words: str
    svg: str


@dataclass(frozen=True)
class Commands:
    """Lines for a terminal."""

    lines: Sequence[str]


Block = Heading | Paragraph | Items | KeyFacts | Grid | Picture | Commands
