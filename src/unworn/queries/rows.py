"""How questions meet rows: the frame a question is evaluated on, and what a mechanism may ask of it.

A mechanism sees :class:`Rows` and nothing else: sizes, counts and means of whole questions. A question
sees a :class:`Frame`: a run of consecutive rows, column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from unworn.queries.schema import ColumnKind

if TYPE_CHECKING:
    from unworn.queries.query import Query

T = TypeVar("T")
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one column over some rows.

    ``values`` by kind: number, any real dtype (read as float64); bool, booleans; date, ``datetime64[us]``;
    text, int32 codes into ``vocabulary`` (an object array of str). ``missing`` marks missing rows, or is None
    when none is. What stands under a missing mark is unspecified but harmless (0, False, the epoch, code 0).
    """

    kind: ColumnKind
    values: NDArray[Any]
    missing: Bools | None = None
    vocabulary: NDArray[np.object_] | None = None

    def __getitem__(self, rows: slice) -> Column:
        missing = None if self.missing is None else self.missing[rows]
        return Column(self.kind, self.values[rows], missing, self.vocabulary)


class Frame(Protocol):
    """Consecutive rows ``start .. start + size`` of the whole, as a question sees them."""

    @property
    def start(self) -> int: ...
    @property
    def size(self) -> int: ...
    def column(self, name: str) -> Column: ...


class Rows(Protocol):
    """All a mechanism may do with rows. ``part=(j, parts)`` restricts to the j-th of equally sized disjoint
    random parts (sizes ``size // parts``). A question whose user code fails raises :class:`Raised`."""

    @property
    def size(self) -> int:
        """The number of sampled units: rows, or groups."""

    def statistics(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[Any]:
        """For questions of any kinds, in one pass: what ``counts``, ``means`` or ``differences`` tells of each."""

    def counts(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> NDArray[np.int64]:
        """For 0/1 questions: in how many rows the answer is yes."""

    def means(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> Floats:
        """The mean of each question, in its own units."""

    def differences(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> Floats:
        """For paired questions: a row (mean difference, mean absolute difference) each, in own units."""


class Raised(Exception):
    """User code failed on the rows. It carries nothing: what failed, and where, is a fact about rows.

    ``interrupted`` is true for a keyboard interrupt, which goes on once it has been charged like any failure.
    """

    def __init__(self, interrupted: bool = False) -> None:
        super().__init__()
        self.interrupted = interrupted


def guarded(run: Callable[[], T | None]) -> T:
    """What user code returns on rows; whatever it raises, or None, is one and the same :class:`Raised`.

    Even ``SystemExit``: what escaped would be an answer that nobody paid for.
    """
    result, interrupted = None, False
    try:
        result = run()
    except Raised as inner:
        interrupted = inner.interrupted
    except KeyboardInterrupt:
        interrupted = True
    except BaseException:
        pass
    if result is None:
        raise Raised(interrupted)  # outside the handlers, so that no context carries the code's own error
    return result
