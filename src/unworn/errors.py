"""Every error, each carrying its numbers: what happened, the figures, what to do next."""

from __future__ import annotations

from typing import Any

from unworn.basics.display import show_text


class UnwornError(Exception):
    """Base of everything this package raises on purpose.

    The figures are also in ``numbers``, so that a program need not parse the sentence; they survive pickling, because
    a search in worker processes must report the error it met. The sentence is safe to print: control characters in
    names are escaped.

    >>> Exhausted("no asks left", asked=10, planned=10).numbers["asked"]
    10
    """

    def __init__(self, message: str, **numbers: Any) -> None:
        self.message = show_text(message)
        super().__init__(self.message)
        self.numbers = numbers

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.numbers)


def _rebuild(kind: type[UnwornError], message: str, numbers: dict[str, Any]) -> UnwornError:
    return kind(message, **numbers)


class Refused(UnwornError):
    """A question was refused because of public facts alone: nothing was read, entered or charged."""


class Exhausted(Refused):
    """The next answer would be wider than ``max_width``, or exceeds the planned number of asks."""


class Unaskable(Refused, ValueError):
    """The question does not fit the schema, or its metric is not a bounded mean over rows."""


class TooFewRows(ValueError):
    """So many asks of so few rows would get intervals that say nothing."""


class Mismatch(Refused):
    """These rows, terms or certificate are not the ones this ledger knows."""


class Unavailable(Mismatch):
    """The rows cannot be read at the moment, or are no longer those that were opened.

    Only engines and files raise it, and only for reasons outside the rows, never for what the rows contain: it reaches
    the asker unchanged, and nothing is charged.
    """


class ReadOnly(Refused):
    """The holdout's key is not here, so it can be read and checked but not asked."""


class Failed(UnwornError):
    """An answer could not be made from the rows. That was entered and charged; what failed is not shown."""

    MESSAGE = (
        "the question's own code failed on the rows (or returned something of the wrong shape).\n"
        "  It was entered and charged like a surprise. What failed is not shown: that would be a fact about the rows.\n"
        "  With train= or practice= code is tried there first, and what fails is shown in full, at no cost."
    )
    OURS = (
        "this answer could not be made: something failed while the rows were read, and no code of yours ran.\n"
        "  It was entered and charged, and what failed is not shown: that would be a fact about the rows.\n"
        "  Ask about training rows to see whether the question fails there too, and report it if it does."
    )
    STOPPED = (
        "this question was interrupted while the rows were read, and that was entered in place of an answer.\n"
        "  ask(..., again=True) asks it again."
    )
    RELEASE = (
        "the release could not be made: something failed while the rows were read.\n"
        "  The rows stay sealed for it, and what failed is not shown: that would be a fact about the rows.\n"
        "  Try the same release on other rows, and report it if it fails there too."
    )


class LedgerError(UnwornError):
    """The ledger could not be read or written; nothing that failed to be written was answered."""


class Conflict(LedgerError):
    """Another writer extended the ledger first; the append was not made and may be tried again."""


class Tampered(LedgerError):
    """The ledger or certificate is not what was signed: changed, reordered or cut off."""


class MissingExtra(UnwornError, ImportError):
    """An optional dependency is needed; the message names the extra to install."""

    @classmethod
    def of(cls, extra: str, purpose: str) -> MissingExtra:
        return cls(f"{purpose} needs the extra '{extra}': pip install 'unworn[{extra}]'", extra=extra)


class SecondLedger(UserWarning):
    """A ledger in memory was opened for rows that have another ledger."""


class SmallHoldout(UserWarning):
    """There are so few rows that even a right guess gets a wide interval."""


class PracticeRows(UserWarning):
    """Some of the rows were set aside for practice, because ``practice=`` was left out."""


class RepeatedRows(UserWarning):
    """Some rows occur more often than chance explains."""


class ShortRange(UserWarning):
    """Many losses are larger than the range that was declared for them, and count as its end."""
