"""What a question is: a value with a declared range, a fingerprint and a label."""

from __future__ import annotations

import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache, cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from unworn.basics.frozen_init import assign_fields
from unworn.basics.json_text import canonical
from unworn.errors import Unaskable
from unworn.queries.row_protocol import Floats, Frame
from unworn.queries.schema import Schema

if TYPE_CHECKING:
    from unworn.queries.composite import Composite

__all__ = ["Facts", "Kind", "Query", "canonical"]

Kind = Literal["binary", "unit", "paired", "statistic", "conditional", "ranking"]
SUBSETS = frozenset({"conditional", "ranking"})
"""The kinds of question that are about some of the rows only: how many there are is always told."""

_SHORTEST, _LONGEST = 1e-280, 1e307
"""Of a range: a trillionth of the one, and several times the other, is still a normal float."""
_WORKED_OUT = frozenset({"fingerprint", "canonical_text", "_known"})
"""What a question keeps of its own: worked out once, and never sent elsewhere."""


@assign_fields
@dataclass(frozen=True, slots=True)
class Facts:
    """Everything public about one question: all that a mechanism knows before it reads rows.

    ``kind`` is ``binary`` (0/1 values: exact binomial limits), ``unit`` (a mean of values in a range) or
    ``paired`` (a mean difference of two such values, each 0/1 when ``zero_one``), or ``statistic`` (one number for the
    whole sample, which replacing one unit changes by at most ``sensitivity``, in its own units); ``conditional`` (how
    many of the rows in a subset say yes, :mod:`~unworn.queries.conditional_query`) or ``ranking`` (how often a row of
    one class outranks a row of the other, :mod:`~unworn.queries.ranking_query`). It follows from the
    question's type and the schema, never from values. ``runs_code`` is true when user code sees the rows. ``null`` is
    (side, value, level) where a hypothesis is tested (:mod:`~unworn.queries.hypothesis`).
    """

    kind: Kind
    low: float
    high: float
    zero_one: bool = False
    runs_code: bool = False
    sensitivity: float | None = None
    null: tuple[int, float, float] | None = None

    @property
    def span(self) -> float:
        """The length of one value's declared range: a difference of two values can be twice as far apart."""
        return (self.high - self.low) / 2 if self.kind == "paired" else self.high - self.low

    def check(self) -> None:
        """Refuse a range that floats have no room for.

        So short or so long that shares of its length, or sums of its values, would not be numbers any more; or so far
        from 0, for its length, that sums of floats could not tell its values apart.
        """
        if not has_length(self.low, self.high):
            raise Unaskable(
                f"the range ({self.low:g}, {self.high:g}) is too short or too long to calculate with: its length must "
                f"lie between {_SHORTEST:g} and {_LONGEST:g}. Measure in other units"
            )
        if max(abs(self.low), abs(self.high)) > 1e5 * (self.high - self.low):
            raise Unaskable(
                f"the range ({self.low:g}, {self.high:g}) is too short for its distance from 0: subtract a constant, "
                f"as in mean(expression - {self.low:g}, range=(0, {self.high - self.low:g}))"
            )


def has_length(low: float, high: float) -> bool:
    """Whether the length of a range is a number whose shares, and sums of whose values, are ordinary numbers too.

    >>> has_length(0.0, 1.0), has_length(0.0, 5e-324), has_length(-1e308, 1e308), has_length(1.0, 1.0)
    (True, False, False, False)
    """
    return bool(_SHORTEST <= high - low <= _LONGEST)


_PLAIN = frozenset({str, int, float, bool, type(None), datetime})


def check_parts(query: Query) -> None:
    """Refuse a question that is not made of our own types and plain values alone, whoever made it.

    Rows are compared and calculated with what stands in a question. A number or a text of a class of the asker's own
    would be called with them, unseen by its fingerprint, and so would be the methods of a question of such a class.
    """
    waiting: list[Any] = [query]
    met: set[int] = set()  # what the coordinates of a gradient share is one long tuple, and read once
    for part in waiting:  # which grows meanwhile
        kind: Any = type(part)
        if kind in _PLAIN:
            continue
        if kind is tuple:
            if id(part) not in met and not _PLAIN.issuperset(map(type, part)):
                waiting.extend(part)
            met.add(id(part))
        elif not (kind is np.ndarray and part.dtype.kind in "biuf"):
            waiting.extend(_reader_of(kind)(part))


@cache
def _reader_of(kind: Any) -> Callable[[Any], tuple[Any, ...]]:
    """What reads the parts of one of our own types, which is found in its module under its name.

    Those that are no dataclasses read what they are given themselves, and code that came as such is watched.
    """
    module = sys.modules.get(kind.__module__) if kind.__module__.startswith("unworn.") else None
    if getattr(module, kind.__qualname__, None) is not kind:
        raise Unaskable(
            f"a {kind.__name__} cannot be part of a question: it would be called with rows. Use plain numbers and "
            "texts, and questions made by this package; bring code as function(...), statistic(...) or a model"
        )
    names = [part.name for part in fields(kind) if not part.metadata.get("code")] if is_dataclass(kind) else []
    if not names:
        return lambda part: ()
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda part: (read(part),)


class Query(ABC):
    """A question about the population. Subclasses are frozen values; only a callable is not.

    ``fingerprint`` is made of ``to_json()``, which holds only what the asker supplied (arrays by digest).
    Anything computed from the rows in it would turn a free repeat into a membership test.
    """

    @property
    @abstractmethod
    def label(self) -> str:
        """How the question reads in a table."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The question as plain JSON: ``{"ask": <tag>, …}``; large arrays by digest."""

    @abstractmethod
    def _facts(self, schema: Schema, size: int) -> Facts:
        """What :meth:`facts` says, worked out."""

    @abstractmethod
    def values(self, frame: Frame) -> NDArray[np.bool_] | Floats:
        """One value a row: booleans for a 0/1 question, else floats inside the declared range. Total."""

    def facts(self, schema: Schema, size: int) -> Facts:
        """Check the question against public facts (schema, number of *rows*) and say what kind it is.

        Raises :class:`~unworn.errors.Unaskable` with the fix named. Never touches rows. Neither a question nor a schema
        changes, so what was found last is kept: an ask needs it on its way in and again beside the rows.
        """
        known: tuple[Schema, int, Facts] | None = self.__dict__.get("_known")
        if known is None or known[0] is not schema or known[1] != size:
            known = self.__dict__["_known"] = schema, size, self._facts(schema, size)
        return known[2]

    @property
    def family(self) -> str | None:
        """Questions of one family (a metric with its settings) guess for each other."""
        return None

    @property
    def portable(self) -> bool:
        """Whether other rows can be asked the same: not so once it holds one prediction for each of these rows."""
        return True

    @property
    def needs_features(self) -> bool:
        """Whether it shows rows to a model."""
        return False

    @cached_property
    def canonical_text(self) -> str:
        """The one text for ``to_json()``: what is fingerprinted, and what is entered."""
        return canonical(self.to_json())

    @cached_property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.canonical_text.encode()).hexdigest()

    def __add__(self, other: object) -> Composite:
        return _linear((1.0, self), (1.0, other))

    def __sub__(self, other: object) -> Composite:
        return _linear((1.0, self), (-1.0, other))

    def __neg__(self) -> Composite:
        return _linear((-1.0, self))

    def __getstate__(self) -> dict[str, Any]:
        """Without what was worked out here: in another process the same names may stand for other code."""
        return {name: value for name, value in self.__dict__.items() if name not in _WORKED_OUT}


def _linear(*terms: tuple[float, object]) -> Composite:
    from unworn.queries.composite import linear  # which is made of questions

    return linear(terms)
