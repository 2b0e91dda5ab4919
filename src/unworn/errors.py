"""Every error, each carrying its numbers: what happened, the figures, what to do next."""

from __future__ import annotations

from typing import Any


class UnwornError(Exception):
    """Base of everything this package raises on purpose.

    Extra facts are kept as attributes in ``numbers`` so that a program need not read the sentence;
    they survive pickling, because a search in worker processes must report the error it met.

    >>> Exhausted("no asks left", asked=10, planned=10).numbers["asked"]
    10
    """

    def __init__(self, message: str, **numbers: Any) -> None:
        super().__init__(message)
        self.message = message
        self.numbers = numbers

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.numbers)


def _rebuild(kind: type[UnwornError], message: str, numbers: dict[str, Any]) -> UnwornError:
    return kind(message, **numbers)


class Refused(UnwornError):
    """A question was turned away from public facts alone: nothing was read, entered or charged."""


class Exhausted(Refused):
    """The next answer would be wider than ``max_width``, or lies past the planned number of asks."""


class Unaskable(Refused, ValueError):
    """The question does not fit the schema, or its metric is not a bounded mean over rows."""


class Mismatch(Refused):
    """These rows, terms or certificate are not the ones this ledger knows."""


class ReadOnly(Refused):
    """The holdout's key is not here, so it can be read and checked but not asked."""


class Failed(UnwornError):
    """A question's own code failed on the rows. It was entered and charged; what failed is not told."""

    MESSAGE = (
        "the question's own code failed on the rows (or returned something of the wrong shape).\n"
        "  It is entered and charged like a surprise, and what failed is not told: that would be a fact about rows.\n"
        "  Try the model or function on training rows first."
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
    """So few rows that even a right guess gets a wide interval."""


class RepeatedRows(UserWarning):
    """Rows that occur more than once, where chance does not explain it."""
