"""CSV files where no frame library is installed: what each column is follows the rules that Arrow's reader has.

The same rules, because the same file must be the same rows, on the same terms, whichever library is there to read it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.rows.reading.frame_reading import Table, read_cells

# fmt: off
_MISSING = frozenset((
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL",
    "NaN", "n/a", "nan", "null",
))
# fmt: on
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WHOLE = re.compile(r"\s*-?[0-9]+\s*")
_NUMBER = re.compile(
    r"\s*[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|inf(?:inity)?)\s*", re.I
)
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_TIME_OF_DAY = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?")
_FIRST_NANOSECOND, _LAST_NANOSECOND = (
    datetime(1677, 9, 21, 0, 12, 43, 145224),
    datetime(2262, 4, 11, 23, 47, 16, 854776),
)


def read_csv_text(path: Path) -> Table:
    """The rows of a CSV file with a header, read by the standard library."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file, strict=True) if line]
    except (OSError, csv.Error, UnicodeDecodeError) as error:
        name = type(error).__name__  # its message may quote a cell
    else:
        return _read_lines(path, lines)
    raise Unaskable(f"{path} could not be read as csv ({name})", path=str(path))


def _read_lines(path: Path, lines: Sequence[Sequence[str]]) -> Table:
    if len(lines) < 2:
        raise Unaskable(f"{path} has no rows: a CSV file has a line of column names and a line for each row")
    names, rows = list(lines[0]), lines[1:]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise Unaskable(f"column names must differ; these appear twice: {', '.join(twice[:10])}")
    if any(len(row) != len(names) for row in rows):
        raise Unaskable(f"not every line of {path} has {len(names)} values, as its first line has names")
    return read_cells({name: _read_values(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)})


def _read_values(texts: Sequence[str]) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
    """A column's values and which of them are missing; None where they have no kind, as times of day have none."""
    missing = np.fromiter((text in _MISSING for text in texts), dtype=bool, count=len(texts))
    known = [text for text in texts if text not in _MISSING]
    if not known:
        return None
    found = _read_known(known)
    if found is None:
        return None
    if found.dtype.kind == "O":  # text: nothing in it stands for a missing value
        return np.array(texts, dtype=object), np.zeros(len(texts), dtype=bool)
    values = np.zeros(len(texts), dtype=found.dtype)
    values[~missing] = found
    return values, missing


def _read_known(texts: Sequence[str]) -> NDArray[Any] | None:
    """The values of the first kind that all of them have: whole number, truth, date, number, text."""
    if all(map(_WHOLE.fullmatch, texts)):
        whole = list(map(int, texts))
        if min(whole) >= -(2**63) and max(whole) < 2**63:
            return np.array(whole, dtype=np.int64)
    if all(text in _TRUTH for text in texts):
        return np.array([_TRUTH[text] for text in texts])
    if all(map(_TIME_OF_DAY.fullmatch, texts)):
        return None
    if all(map(_MOMENT.fullmatch, texts)):
        zoned = {text.endswith("Z") or "+" in text or "-" in text[10:] for text in texts}
        moments = None if len(zoned) > 1 else _read_moments(texts)
        if moments is not None:
            return moments
    if all(map(_NUMBER.fullmatch, texts)):
        return np.array(list(map(float, texts)))
    return np.array(texts, dtype=object)


def _read_moments(texts: Sequence[str]) -> NDArray[Any] | None:
    try:
        moments = [datetime.fromisoformat(text[:26] if "." in text and text[-1].isdigit() else text) for text in texts]
    except ValueError:  # as on the 30th of February
        return None
    known = [one if one.tzinfo is None else one.astimezone(UTC).replace(tzinfo=None) for one in moments]
    if any("." in text for text in texts) and not _FIRST_NANOSECOND < min(known) <= max(known) < _LAST_NANOSECOND:
        return None  # Arrow counts fractions of a second in nanoseconds, of which 64 bits hold six centuries
    return np.array(known, dtype="datetime64[us]")
