"""A submission as everybody may see it: what was sent, what the practice rows said, what the check rows confirmed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from unworn.basics.display import show_fields, show_line, show_number
from unworn.basics.typed_fields import is_whole, read_fields

CHECKED, UNCHECKED, FAILED = "checked", "unchecked", "failed"
STATUSES = (CHECKED, UNCHECKED, FAILED)
NOT_BETTER = "not better"
"""The source of an answer that says that a submission does not beat the best: it has no value of its own."""
_COMPARED = {
    "first": "the first: others will have to beat it",
    "better": "better than the best so far, for certain",
    "heuristically better": "better than the best so far on these rows, which may be luck",
    NOT_BETTER: "not better than the best so far",
}
"""What is told of submissions that were compared with the best, row by row."""
_ID = re.compile("[0-9a-f]{16}").fullmatch


@dataclass(frozen=True, repr=False)
class Submission:
    """One scored file of predictions.

    ``practice`` is the exact score on the practice rows, which may wear out. ``low`` to ``high`` is certified: it
    holds together with every other interval of the board. ``status`` is ``checked``; ``unchecked`` where the team had
    used up its surprises, so that only practice rows were looked at; or ``failed`` where the grader failed on the check
    rows, which is an entry like any other. ``why`` says so in a sentence. ``indexes`` are its entries in the ledger.
    ``value`` is missing where nothing but "not better" was told: the best score of the board is not this one's.
    """

    id: str
    number: int
    team: str
    name: str | None
    message: str | None
    at: float
    digest: str
    metric: str
    practice: float | None
    practice_error: float | None
    status: str
    why: str | None
    indexes: tuple[int, ...]
    value: float | None
    low: float | None
    high: float | None
    source: str | None
    surprise: bool

    @property
    def is_checked(self) -> bool:
        """Whether it has a certified interval."""
        return self.status == CHECKED and self.low is not None and self.high is not None

    @property
    def answered(self) -> tuple[int, int]:
        """When it was answered, to sort by: numbers say when it was sent, and another may have been asked before it."""
        return max(self.indexes, default=0), self.number

    @property
    def score(self) -> float | None:
        """The number to show: the certified value or, where there is none, that of the practice rows."""
        return self.practice if self.value is None else self.value

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "indexes": list(self.indexes)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Submission:
        """Read one back, however it came here; ``ValueError`` where it is none."""
        made = read_fields(cls, data)
        if made.status not in STATUSES or not _ID(made.id) or not all(is_whole(index, 1) for index in made.indexes):
            raise ValueError("this is not one of a board's submissions")
        return made

    __repr__ = show_fields

    @property
    def line(self) -> str:
        """What happened, in one line."""
        practice = "" if self.practice is None else f"practice {show_number(self.practice)}"
        if self.practice is not None and self.practice_error:
            practice += f" ± {show_number(self.practice_error, 2)}"
        if self.is_checked and self.low is not None and self.high is not None:
            interval = f"[{show_number(self.low)}, {show_number(self.high)}]"
            if self.source == NOT_BETTER or self.value is None:
                certified = f"{self.source}, in {interval}"
            else:
                word = "surprise" if self.surprise else "confirmed" if self.source == "guess" else "certified"
                certified = f"{word}: {show_number(self.value)} in {interval}"
        elif self.status == CHECKED:
            certified = _COMPARED.get(self.source or "", self.source or CHECKED)
        else:
            certified = f"{self.status}: {self.why}"
        return show_line(" · ".join(part for part in (practice, certified) if part))

    def __str__(self) -> str:
        named = f" {self.name}" if self.name else ""
        return show_line(f"{self.number}. {self.team}{named}: {self.line}")
