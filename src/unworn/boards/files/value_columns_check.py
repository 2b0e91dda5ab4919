"""Texts and plain values as the predictions that are wanted, with every value that is none and where it stands.

The sound case never looks at a row by itself; only once something is wrong are the rows gone through, to say where.
"""

from __future__ import annotations

import contextlib
import difflib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_value
from unworn.boards.board_errors import SHOWN

_TRUTH = {"true": 1, "false": 0, "1": 1, "0": 0, "1.0": 1, "0.0": 0, "yes": 1, "no": 0}
LONGEST_TEXT = 100_000


@dataclass(frozen=True)
class Flaws:
    """How many rows are wrong; and the first of them, by index, with what is wrong with each."""

    count: int = 0
    first: tuple[tuple[int, str], ...] = ()

    @classmethod
    def of(cls, rows: Iterable[int], describe: Callable[[int], str]) -> Flaws:
        """Only the first are put into words: a file may be wrong in every row."""
        listed = list(rows)
        return cls(len(listed), tuple((int(row), describe(row)) for row in listed[:SHOWN]))

    def __add__(self, other: Flaws) -> Flaws:
        return Flaws(self.count + other.count, tuple(sorted(self.first + other.first)[:SHOWN]))

    def within(self, what: str) -> Flaws:
        """The same, said of a part of the row."""
        return Flaws(self.count, tuple((row, f"{what}: {flaw}") for row, flaw in self.first))

    def __bool__(self) -> bool:
        return self.count > 0


def read_ids(values: Sequence[Any]) -> tuple[list[str], Flaws]:
    """Ids as texts: 7, 7.0 and "7" are one id, whichever file they come in."""
    kinds = set(map(type, values))
    if kinds <= {str}:
        texts = list(map(str.strip, values))
    elif kinds <= {int}:
        texts = list(map(str, values))
    else:
        texts = [_id_text(value) for value in values]
    if "" not in texts:
        return texts, Flaws()
    return texts, Flaws.of([row for row, text in enumerate(texts) if not text], lambda row: "there is no id")


def _id_text(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(_decoded(value)).strip()


def _decoded(value: Any) -> Any:
    """A text that a Parquet file calls bytes, as a text; all else as it is."""
    if isinstance(value, bytes):
        with contextlib.suppress(UnicodeDecodeError):
            return value.decode()
    return value


def read_numbers(values: Sequence[Any], low: float = -math.inf, high: float = math.inf) -> tuple[NDArray[Any], Flaws]:
    """Finite numbers within these ends, in plain digits."""
    try:
        if not _is_plain("".join([value for value in values if isinstance(value, str)])):
            raise ValueError("Python reads 1_0 as 10, and digits of every script")
        array = np.array(values, dtype=np.float64)
        if array.ndim != 1:
            raise ValueError("a list is not a number")
    except (ValueError, TypeError, OverflowError):
        array = np.array([_number(value) for value in values], dtype=np.float64)
    sound = np.isfinite(array) & (array >= low) & (array <= high)
    if bool(sound.all()):
        return array, Flaws()
    return array, Flaws.of(np.flatnonzero(~sound).tolist(), lambda row: _number_problem(values[row], low, high))


def _is_plain(text: str) -> bool:
    return text.isascii() and "_" not in text


def _number(value: Any) -> float:
    try:
        return math.nan if value is None or (isinstance(value, str) and not _is_plain(value)) else float(value)
    except (ValueError, TypeError, OverflowError):
        return math.nan


def _number_problem(value: Any, low: float, high: float) -> str:
    number = _number(value)
    if value is None or (isinstance(value, str) and not value.strip()):
        return "the prediction is missing"
    if math.isnan(number) and not (isinstance(value, str | float) and str(value).strip().lower() == "nan"):
        return f"{show_value(value)} is not a number"
    if not math.isfinite(number):
        return f"{show_value(value)} is not a finite number"
    return f"{show_value(value)} lies outside of [{low:g}, {high:g}]"


def read_labels(values: Sequence[Any], kind: str, classes: Sequence[Any] | None) -> tuple[NDArray[Any], Flaws]:
    """Predicted labels of the target's kind; where classes are declared, only those."""
    if kind == "bool":
        texts = [str(value).strip().lower() for value in values]
        distinct = {text: _TRUTH.get(text, -1) for text in set(texts)}
        array: NDArray[Any] = np.array(list(map(distinct.__getitem__, texts)), dtype=np.int64)
        untrue = np.flatnonzero(array < 0).tolist()
        return array, Flaws.of(untrue, lambda row: f"{show_value(values[row])} is not true or false")
    if kind == "number":
        array, wrong = read_numbers(_without_truth_words(values))
        if not wrong and bool((array == np.trunc(array)).all()) and float(np.abs(array).max(initial=0.0)) < 2**53:
            array = array.astype(np.int64)
        if not wrong and classes is not None:
            outside = np.flatnonzero(~np.isin(array, np.array(list(classes), dtype=np.float64))).tolist()
            wrong = Flaws.of(outside, lambda row: f"{values[row]} is none of the classes {_listed(classes)}")
        return array, wrong
    texts_array, wrong = read_texts(values, allow_empty=False)
    if classes is not None and not wrong:
        known, texts = set(map(str, classes)), texts_array.tolist()
        if not set(texts) <= known:
            unknown = [row for row, text in enumerate(texts) if text not in known]
            wrong = Flaws.of(
                unknown, lambda row: f"{show_value(texts[row])} is none of the classes; {_near(texts[row], known)}"
            )
    return texts_array, wrong


def _without_truth_words(values: Sequence[Any]) -> Sequence[Any]:
    """A column of "True" and "False" alone as 1 and 0, which they are in a file that has types."""
    if set(map(type, values)) != {str} or not {text.strip().casefold() for text in set(values)} <= {"true", "false"}:
        return values
    return [text.strip().casefold() == "true" for text in values]


def read_texts(values: Sequence[Any], *, allow_empty: bool) -> tuple[NDArray[np.object_], Flaws]:
    """Texts; numbers are what they read as."""
    wrong, given = Flaws(), values
    if not set(map(type, values)) <= {str}:
        empty = [row for row, value in enumerate(values) if _is_missing(value)]
        wrong = Flaws.of(empty, lambda row: _text_problem(given[row]))
        values = [value if isinstance(value, str) else _text_of(value) for value in values]
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    distinct = set(values)
    if not allow_empty and not wrong and any(not text.strip() for text in distinct):
        blank = [row for row, text in enumerate(values) if not text.strip()]
        wrong = Flaws.of(blank, lambda row: "the prediction is missing")
    odd = {text for text in distinct if len(text) > LONGEST_TEXT or "\0" in text or not _has_bytes(text)}
    if odd:
        what = f"the text has more than {LONGEST_TEXT:,} characters, or some that cannot be written"
        wrong += Flaws.of([row for row, text in enumerate(values) if text in odd], lambda row: what)
    return array, wrong


def _text_of(value: Any) -> str:
    """A prediction as a text: of a number its digits, of bytes all that they say."""
    return str(_decoded(value)) if isinstance(value, bytes) else _id_text(value)


def _has_bytes(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in text)


def _is_missing(value: Any) -> bool:
    is_none = value is None or (isinstance(value, float) and math.isnan(value)) or isinstance(value, dict | list)
    return is_none or isinstance(_decoded(value), bytes)


def _text_problem(value: Any) -> str:
    return f"{show_value(value)} is not text" if isinstance(value, dict | list | bytes) else "the prediction is missing"


def _listed(classes: Sequence[Any]) -> str:
    return ", ".join(map(str, classes[:10])) + (", …" if len(classes) > 10 else "")


def _near(text: str, known: set[str]) -> str:
    close = difflib.get_close_matches(text[:100], sorted(known)[:1000], n=1)
    return f"did you mean {close[0]}?" if close else f"they are {_listed(sorted(known))}"
