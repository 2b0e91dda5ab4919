"""How questions meet rows: the frame a question is evaluated on, and what a mechanism may ask of it.

A mechanism sees :class:`Rows` and nothing else: sizes, counts and means of whole questions, and counts of fresh or
randomly rounded units. A question sees a :class:`Frame`: some of the rows, column by column.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

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
    ``finite`` is true where it is known that no value is NaN, infinite or no date, so that nobody need look again: it
    is found when rows are read, and like ``missing`` changes how long a scan takes, never what is answered or refused.
    ``names`` are those of the columns of scores, rows × classes, where they came as a frame.
    """

    kind: ColumnKind
    values: NDArray[Any] = field(repr=False)  # no row shows, wherever a column is printed
    missing: Bools | None = field(default=None, repr=False)
    vocabulary: NDArray[np.object_] | None = field(default=None, repr=False)
    finite: bool = field(default=False, repr=False)
    names: tuple[object, ...] | None = field(default=None, repr=False)

    def __getitem__(self, rows: slice) -> Column:
        missing = None if self.missing is None else self.missing[rows]
        return Column(self.kind, self.values[rows], missing, self.vocabulary, self.finite, self.names)

    def on(self, frame: Frame) -> Column:
        """The rows of a frame, where this column runs over all the rows."""
        missing = None if self.missing is None else frame.pick(self.missing)
        return Column(self.kind, frame.pick(self.values), missing, self.vocabulary, self.finite, self.names)

    def compact(self) -> Column:
        """The same, with no more words than rows: else the work on a few rows would grow with all the words there are.

        >>> words = np.array(["a", "b", "c", "d"], dtype=object)
        >>> Column("text", np.array([3, 1], dtype=np.int32), None, words).compact().vocabulary.tolist()
        ['b', 'd']
        """
        if self.vocabulary is None or len(self.vocabulary) <= self.values.size or not self.values.size:
            return self
        used, codes = np.unique(self.values, return_inverse=True)
        return Column(self.kind, codes.astype(np.int32), self.missing, self.vocabulary[used])


class Frame(Protocol):
    """Some of the rows, as a question sees them: a run of consecutive ones, or rows drawn at random."""

    @property
    def size(self) -> int:
        """How many rows, each counted as often as it was drawn."""

    def column(self, name: str) -> Column:
        """A column over these rows."""

    def pick(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of an array with one entry for each of all the rows, those of these rows."""


class SharesWork(ABC):
    """A frame that keeps what the questions of a batch have in common, so that it is worked out once."""

    __slots__ = ()

    @abstractmethod
    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` returns: made once for these rows and then forgotten."""


class Words(Protocol):
    """A source of randomness, as rows see it: :class:`unworn.noise.Stream` is one."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next ``count`` uniform 64-bit words."""


class Rows(Protocol):
    """All a mechanism may do with rows. ``part=(j, parts)`` restricts to the j-th of equally sized disjoint
    random parts (sizes ``size // parts``). A question whose user code fails raises :class:`Raised`."""

    @property
    def size(self) -> int:
        """The number of sampled units: rows, or groups."""

    @property
    def has_parts(self) -> bool:
        """Whether ``part`` may be given."""

    def statistics(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[Any]:
        """For questions of any kinds, in one pass: what ``counts``, ``means`` or ``differences`` tells of each.

        Of a conditional share (rows that say yes, rows in the subset), of a ranking (how often a positive row outranks
        a negative one, rows of the rarer class): (0, 0) and (1/2, 0) where there are no such rows.
        """

    def counts(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> NDArray[np.int64]:
        """For 0/1 questions: in how many rows the answer is yes."""

    def means(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> Floats:
        """The mean of each question, in its own units."""

    def differences(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> Floats:
        """For paired questions: a row (mean difference, mean absolute difference) each, in own units."""

    def moments(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[tuple[float, ...]]:
        """For means: (mean, variance) over the units, the variance divided by the squared length of the range.

        So it lies between 0 and 1/4, whatever the units are: the variance of the value scaled to [0, 1]. The third and
        fourth central moments on that scale may follow. For rankings what
        :class:`~unworn.bounds.questions.RankMoments` has: positives, negatives, value, the variances over pairs, over
        positives and over negatives, and two more moments of the placements of the rarer class.
        """

    def rounded(self, queries: Sequence[Query], noises: Sequence[Words]) -> list[int]:
        """How many units came out 1 when the value of each, scaled to [0, 1], was rounded to 0 or 1 at random.

        Unbiased, and each question has a stream of its own, so the same question comes out the same whatever is asked
        with it. A 0/1 question about ungrouped rows is counted, and its stream stays as it is.
        """

    def drawn(self, query: Query, units: int, noise: Words, replace: bool = False) -> int:
        """The same over ``units`` fresh units drawn uniformly: first the units, then how each is rounded."""

    def statistic(self, query: Query) -> float:
        """The value of a question of kind ``statistic`` on the whole sample, in its own units."""


class SealedRows(Rows, Protocol):
    """Rows as a holdout has them: what decides how they may be used, beside what a mechanism does with them."""

    @property
    def is_in_memory(self) -> bool:
        """Whether all of them are, and not in a file or an engine, which may hold more than a part should take."""


class Raised(Exception):
    """User code failed on the rows. It carries nothing: what failed, and where, is a fact about rows.

    ``interrupted`` is true for a keyboard interrupt, which goes on once it has been charged like any failure.
    """

    def __init__(self, interrupted: bool = False) -> None:
        super().__init__()
        self.interrupted = interrupted


_shown: ContextVar[Mapping[str, Any] | None] = ContextVar("shown", default=None)
"""Where rows are the asker's own to see: how NumPy treated floating-point errors before we began."""


@contextmanager
def showing_rows() -> Iterator[None]:
    """Questions in here are put to rows that the asker may see: user code speaks and fails as it would anywhere."""
    before = _shown.set(dict(np.geterr()))
    try:
        yield
    finally:
        _shown.reset(before)


def run_guarded(run: Callable[[], T | None]) -> T:
    """What user code returns on rows; whatever it raises, or None, is one and the same :class:`Raised`.

    Even ``SystemExit``: what escaped would be an answer that nobody paid for. So would be what it prints, warns of or
    logs, which is dropped. Only :func:`showing_rows` lets all of that through.
    """
    if _shown.get() is not None:
        told = run()
        if told is None:
            raise Raised
        return told
    from unworn.queries.code.withheld_output import withhold_output  # loaded by those who bring code

    result, interrupted = None, False
    try:
        with withhold_output():
            try:
                result = run()
            except Raised as inner:
                interrupted = inner.interrupted
            except KeyboardInterrupt:
                interrupted = True
            except BaseException:
                pass
    except KeyboardInterrupt:
        interrupted = True
    if result is None or interrupted:
        raise Raised(interrupted)  # outside the handlers, so that no context carries the code's own error
    return result


def _without_workers() -> AbstractContextManager[Any]:
    """Threads for joblib's parallel calls: worker processes that were started before write past what is withheld."""
    joblib = sys.modules.get("joblib")
    configured = getattr(joblib, "parallel_config", None) or getattr(joblib, "parallel_backend", None)
    return nullcontext() if configured is None else cast("AbstractContextManager[Any]", configured("threading"))


def run_code(run: Callable[[], T | None]) -> T:
    """The user's own call, inside :func:`run_guarded`: what *it* asks other holdouts is not shown, wherever it runs."""

    def call() -> T | None:
        errors = _shown.get()
        before = _shown.set(None)
        try:
            with _without_workers() if errors is None else np.errstate(**errors):
                return run()
        finally:
            _shown.reset(before)

    return run_guarded(call)
