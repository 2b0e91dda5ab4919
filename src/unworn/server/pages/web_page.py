"""A page before it is drawn: a template's name and plain data, so that its JSON twin says the same as its HTML."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from unworn.errors import UnwornError
from unworn.server.server_errors import words_of

PER_PAGE = 50
"""Lines of a table on one page."""


@dataclass(frozen=True)
class Viewer:
    """Who is looking: nobody in particular, or somebody who has signed in.

    ``csrf`` goes into every form, so that another site cannot send one in the viewer's name.
    """

    name: str | None = None
    role: str | None = None
    team: str | None = None
    csrf: str = ""
    rights: frozenset[str] = frozenset()
    """What the viewer may do at this place: see, submit, ask, manage."""

    @property
    def is_owner(self) -> bool:
        return "manage" in self.rights

    @property
    def can_submit(self) -> bool:
        return "submit" in self.rights

    @property
    def can_ask(self) -> bool:
        return "ask" in self.rights


NOBODY = Viewer()


@dataclass(frozen=True)
class WebPage:
    """One page: ``data`` is plain JSON, and all that the template gets beside the viewer.

    ``twin`` is the address of the same data as JSON; pages without one (a refusal, a form that was just sent) have
    none. ``section`` marks where the viewer is among the tabs of a board or holdout.
    """

    template: str
    title: str
    data: dict[str, Any] = field(default_factory=dict)
    twin: str | None = None
    section: str | None = None
    status: int = 200

    def at_page(self, number: int) -> WebPage:
        """The same as one page of several: its twin is that of this page."""
        return self if number == 1 or self.twin is None else replace(self, twin=f"{self.twin}?page={number}")


@dataclass(frozen=True)
class Notice:
    """What just happened, at the top of a page: ``tone`` is ``done`` or ``refused``."""

    tone: str
    headline: str
    text: str = ""
    lines: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"tone": self.tone, "headline": self.headline, "text": self.text, "lines": list(self.lines)}


def turn_pages(address: str, page: int, total: int) -> dict[str, str | None]:
    """Where the lines before and after this page are.

    >>> turn_pages("/holdouts/churn/answers", 1, 120)
    {'before': None, 'after': '/holdouts/churn/answers?page=2'}
    """
    last = max(1, -(-total // PER_PAGE))
    return {
        "before": f"{address}?page={page - 1}" if page > 1 else None,
        "after": f"{address}?page={page + 1}" if page < last else None,
    }


def notice_of(error: UnwornError) -> Notice:
    """A refusal in words: its first line says what happened, the others the numbers and what to do next."""
    problems = error.numbers.get("problems")
    lines = [line.strip() for line in words_of(error).splitlines() if line.strip()]
    if isinstance(problems, list) and problems:
        told = {str(problem).strip() for problem in problems}
        others = [line for line in lines[1:] if line not in told]
        more = [line for line in others if line.startswith("…")]  # so many more, which belongs below the list
        rest = " ".join(line for line in others if line not in more)
        return Notice("refused", _sentence(lines[0]), rest, (*map(str, problems), *more))
    return Notice("refused", _sentence(lines[0]) if lines else "Refused.", " ".join(lines[1:]))


_BEGINNINGS = frozenset(
    ["a", "all", "an", "another", "at", "found", "in", "it", "no", "nobody", "nothing", "one", "only"]
)
_BEGINNINGS |= frozenset(["that", "the", "there", "these", "this", "those", "to", "too", "you", "your"])
"""Words that a capital letter suits. A name in front is left as it is: ``age may be missing`` is about ``age``."""


def _sentence(text: str) -> str:
    start = text[:1].upper() + text[1:] if text.partition(" ")[0] in _BEGINNINGS else text
    return end_sentence(start)


def end_sentence(text: str) -> str:
    """A sentence with its full stop, whoever forgot it; nothing stays nothing.

    >>> end_sentence("There is no such board"), end_sentence("Why?"), end_sentence("")
    ('There is no such board.', 'Why?', '')
    """
    return text if not text or text.endswith((".", "!", "?", ":")) else text + "."
