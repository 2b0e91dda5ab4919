"""The form of the lecture map: a lecture is a table of what it says, a row each, with our object and command for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, get_args

from unworn.errors import UnwornError

Kind = Literal["definition", "algorithm", "theorem", "exercise", "remark"]

_PATH = re.compile(r"unworn(\.[A-Za-z_][A-Za-z0-9_]*)+")
_PAGE = re.compile(r"([a-z0-9-]+/)*[a-z0-9-]+\.md(#[a-z0-9-]+)?")


class UnfitLecture(UnwornError):
    """A lecture or a row of it is not of the form that all of them share."""


@dataclass(frozen=True, kw_only=True)
class LectureRow:
    """One thing that a lecture says.

    Parameters
    ----------
    section
        The lecture's own heading or number.
    kind
        What it is there.
    says
        What the lecture says, in one sentence of ours.
    ours
        Import paths of what is the same here, such as ``"unworn.mechanisms.SparseVector"``.
    command
        A line for a terminal that shows it, beginning with ``unworn``. Left out where ``claim`` gives one.
    claim
        The claim (``unworn lab list``) that measures it.
    page
        The page to read about it, below ``docs/``, such as ``"theory/transfer.md#theorem-d2-in-odds"``.
    measured
        The number that comes out here, with what it was computed for. Left out where there is none, or where it is
        the claim that gives it.
    note
        How ours differs; for a row without ``ours``, why there is none.
    erratum
        What is wrong in the lecture, with its counterexample.

    Examples
    --------
    >>> row = LectureRow(section="2", kind="theorem", says="…", ours=("unworn.mechanisms.Naive",), claim="boosting")
    >>> row.command
    'unworn lab run boosting'
    """

    section: str
    kind: Kind
    says: str
    ours: tuple[str, ...] = ()
    command: str = ""
    claim: str = ""
    page: str = ""
    measured: str = ""
    note: str = ""
    erratum: str = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise UnfitLecture(f"a row is a {', '.join(get_args(Kind))}, not {self.kind!r}")
        if not self.section.strip() or not self.says.strip():
            raise UnfitLecture(f"a row names its section and what is said there: {self!r:.120}")
        wrong = [path for path in self.ours if not _PATH.fullmatch(path)]
        if wrong or isinstance(self.ours, str):
            raise UnfitLecture(f"an import path is like unworn.mechanisms.Naive, not {wrong or self.ours!r}")
        if self.claim and not self.command:
            object.__setattr__(self, "command", self.run_claim)
        if self.command and not self.command.startswith("unworn "):
            raise UnfitLecture(f"a command begins with unworn, not {self.command!r}")
        if self.page and not _PAGE.fullmatch(self.page):
            raise UnfitLecture(f"a page is like theory/transfer.md, below docs/, not {self.page!r}")
        if not (self.ours or self.note):
            raise UnfitLecture(
                f"nothing here is {self.section}: {self.says[:60]!r}; give ours, or say why there is none"
            )
        if not (self.command or self.page):
            raise UnfitLecture(f"nothing shows {self.section}: {self.says[:60]!r}; give a command or a page")

    @property
    def run_claim(self) -> str:
        """The line that measures the row's claim; empty where there is none."""
        return f"unworn lab run {self.claim}" if self.claim else ""


@dataclass(frozen=True)
class Lecture:
    """A lecture: its number among the five documents, what it is called, who gave it, and its rows in its order."""

    number: str
    title: str
    source: str
    rows: tuple[LectureRow, ...]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\d{3}", self.number) or not self.rows:
            raise UnfitLecture(f"a lecture has a number of three digits, and rows; not {self.number!r}")

    @property
    def sections(self) -> dict[str, list[LectureRow]]:
        """The rows of each section, in the order of the lecture."""
        found: dict[str, list[LectureRow]] = {}
        for row in self.rows:
            found.setdefault(row.section, []).append(row)
        return found


def import_path(path: str) -> Any:
    """What an import path leads to: a module, or something in one.

    >>> import_path("unworn.mechanisms.Naive").__name__
    'Naive'
    """
    if not _PATH.fullmatch(path):
        raise UnfitLecture(f"an import path is like unworn.mechanisms.Naive, not {path!r}")
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        try:
            found: Any = import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise
            continue
        for name in parts[length:]:
            if not hasattr(found, name):
                raise UnfitLecture(f"{path} leads nowhere: {module} has no {name}")
            found = getattr(found, name)
        return found
    raise UnfitLecture(f"{path} leads nowhere")
