"""What can be wrong around a board and its gate: a file that is no submission, what is closed, impossible settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from unworn.errors import Refused, UnwornError

SHOWN = 20
"""Problems of a file that are listed; the rest are counted."""


class InvalidSubmission(UnwornError):
    """A file cannot be scored. Found without looking at labels: nothing was read, entered or charged.

    ``numbers["problems"]`` has the sentences one by one, each with its line.
    """

    @classmethod
    def of(cls, problems: Sequence[str], count: int | None = None) -> Self:
        """All problems at once, so that a file is mended once."""
        total = len(problems) if count is None else count
        shown = list(problems[:SHOWN])
        more = f"\n  … and {total - len(shown):,} more" if total > len(shown) else ""
        head = "this file cannot be scored" if total == 1 else f"this file cannot be scored: {total:,} problems"
        lines = "".join(f"\n  {problem}" for problem in shown)
        return cls(f"{head}.{lines}{more}\n  Nothing was charged: mend the file and send it again.", problems=shown)


class TooLarge(InvalidSubmission):
    """A file is larger than the board takes."""


class RequestReused(InvalidSubmission):
    """An idempotency key came again with another file."""


class BoardClosed(Refused):
    """The board is closed, and its rows are retired: what was told still holds, and can be looked up."""


class UnknownBoard(Refused):
    """There is no board in this folder."""


class UnknownSubmission(Refused):
    """The board has no submission of this id."""


class GateFinished(Refused):
    """The lane has ended with its final claim: a new lane starts afresh."""


class GateUnavailable(Refused):
    """This board cannot be climbed behind a gate: it has no practice rows, or another rule."""


class InvalidBoard(UnwornError, ValueError):
    """A board cannot be made, or its board.toml cannot be used: the message names the line and the fix."""


class GraderFailed(UnwornError):
    """The organiser's own grader hung, crashed or returned what are no scores."""
