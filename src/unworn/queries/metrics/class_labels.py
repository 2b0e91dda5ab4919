"""Labels as classes: one form for a class, and which class each row has."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.language.literals import MAX_TEXT, text
from unworn.queries.row_protocol import Bools, Column
from unworn.queries.schema import ColumnKind

Class = int | float | str
_LONGEST_CLASS = 10 * MAX_TEXT
MOST_CLASSES = 1_000
"""Classes that are listed one by one, each perhaps a question of its own."""
MOST_COLUMNS = 100_000
"""Classes that only name columns of scores."""


class _Once(Protocol):
    @property
    def labels(self) -> Column: ...
    def once(self, key: Hashable, make: Callable[[], Any]) -> Any: ...


def as_class(value: Any) -> Class:
    """A class as plain JSON; True is 1 and 1.0 is 1, as they are in comparisons.

    What it becomes is Python's own number or text, whatever class it was of: labels are compared with it.

    >>> as_class(np.int8(3)), as_class(True), as_class(2.0), as_class("yes")
    (3, 1, 2, 'yes')
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return text(value, "a class", _LONGEST_CLASS)
    if isinstance(value, (bool, int)):
        return int(value)
    number = float(value) if isinstance(value, float) else math.nan
    if math.isfinite(number):
        return int(number) if number.is_integer() else number
    raise Unaskable(f"a class must be a number or a text, not {show_value(value)}")


def as_classes(values: Iterable[Any], most: int = MOST_CLASSES) -> tuple[Class, ...]:
    """Classes in the order of the columns of scores; at most so many, and no more are looked at.

    >>> as_classes(range(10**9))
    Traceback (most recent call last):
    unworn.errors.Unaskable: there are more than 1,000 classes, which is the most: name fewer
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise Unaskable(f"classes are given as a list, such as ['no', 'yes'], not as {show_value(values)}")
    some = tuple(islice(values, most + 1))
    if len(some) > most:
        raise Unaskable(f"there are more than {most:,} classes, which is the most: name fewer", limit=most)
    classes = tuple(map(as_class, some))
    if not classes or len(set(classes)) < len(classes):
        raise Unaskable(f"classes must be distinct and at least one, not {list(classes)[:10]}")
    return classes


def check_classes(classes: Iterable[Class], kind: ColumnKind, setting: str) -> None:
    """Refuse classes that no label of the target's kind can equal."""
    for value in classes:
        if isinstance(value, str) != (kind == "text"):
            labels = "text" if kind == "text" else "numbers"
            raise Unaskable(f"the labels are {labels}, but {setting} has {value!r}: name the classes by {setting}=")


def class_index(frame: _Once, classes: tuple[Class, ...]) -> NDArray[np.intp]:
    """For each row the position of its label among ``classes``; -1 when it is missing or not there."""
    labels = frame.labels
    if labels.vocabulary is not None:
        vocabulary = labels.vocabulary
        place = {value: position for position, value in enumerate(classes)}
        lookup = frame.once(
            ("classes", classes),
            lambda: np.array([place.get(text, -1) for text in vocabulary.tolist()], dtype=np.intp),
        )
        index: NDArray[np.intp] = lookup[labels.values]
    else:
        values = labels.values.astype(np.int8) if labels.kind == "bool" else labels.values
        known = np.array(classes)
        order = np.argsort(known)
        near = np.minimum(np.searchsorted(known[order], values), len(classes) - 1)
        index = np.where(known[order][near] == values, order[near], -1)
    if labels.missing is not None:
        index[labels.missing] = -1
    return index


def is_class(labels: Column, value: Class) -> Bools:
    """Which rows have this label; a missing label is no class."""
    same: Bools
    if labels.vocabulary is not None:
        code = np.flatnonzero(labels.vocabulary == np.array(value, dtype=object))  # else NumPy drops a last "\0"
        same = labels.values == (code[0] if len(code) else -1)
    else:
        same = labels.values == value
    return same if labels.missing is None else same & ~labels.missing
