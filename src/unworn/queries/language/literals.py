"""The constants of the question language: what may stand in a question, and its one written form.

Every constant is read once, here, into one of four Python types, so that equal questions have equal
fingerprints whether they were typed with 65, 65.0, ``numpy.int8(65)`` or came as JSON or SQL text.
"""

from __future__ import annotations

import math
from datetime import date, datetime, time
from typing import Any, cast

import numpy as np

from unworn.basics.display import show_value
from unworn.basics.plain_text import plain_text
from unworn.errors import Unaskable
from unworn.queries.schema import ColumnKind

MAX_TEXT = 1000
MAX_EXACT = 2**53
"""The largest integer up to which float64 holds every integer; beyond it 65 and 66 of them coincide."""

Scalar = float | bool | str | datetime


def scalar(value: object) -> Scalar:
    """Read a constant, or refuse it with the fix named.

    >>> scalar(65), scalar(-0.0), scalar(np.bool_(True)), scalar(date(2024, 1, 5))
    (65.0, 0.0, True, datetime.datetime(2024, 1, 5, 0, 0))
    >>> scalar(None)
    Traceback (most recent call last):
    unworn.errors.Unaskable: None is not a value: a missing value equals nothing. Use .is_null()
    """
    if type(value) is float:
        return number(value)
    if value is None:
        raise Unaskable("None is not a value: a missing value equals nothing. Use .is_null()")
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | float | np.integer | np.floating):
        return number(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, np.datetime64):
        return _from_numpy(value)
    if isinstance(value, date):
        return _moment(value)
    raise Unaskable(
        f"a value of type {type(value).__name__} cannot stand in a question: "
        "use a number, a bool, a text, a date or a datetime"
    )


def number(value: object) -> float:
    """A finite float; integers must be exact in float64, and -0.0 is 0.

    >>> number(2**53 + 1)
    Traceback (most recent call last):
    unworn.errors.Unaskable: an integer beyond ±2**53 is not exact as a float64, in which numbers are compared: use a smaller one, or a float
    """  # noqa: E501
    if type(value) is float and math.isfinite(value):
        return value + 0.0
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise Unaskable(f"a number is needed here, not a value of type {type(value).__name__}")
    if isinstance(value, int | np.integer) and not -MAX_EXACT <= int(value) <= MAX_EXACT:
        # The value itself is not printed: Python refuses to write out very long integers.
        raise Unaskable(
            "an integer beyond ±2**53 is not exact as a float64, in which numbers are compared: "
            "use a smaller one, or a float"
        )
    with np.errstate(all="ignore"):
        result = float(value)
    if not math.isfinite(result):
        raise Unaskable(f"{result} cannot stand in a question: use a finite number, or .is_null() for what is missing")
    return result + 0.0


def as_float(value: object, what: str) -> float:
    """One number of the asker's, whatever its type: a text, a truth value and a list are none.

    >>> as_float("0.5", "a guess")
    Traceback (most recent call last):
    unworn.errors.Unaskable: a guess is a number, not '0.5'
    """
    if type(value) is float:
        return value
    several = getattr(value, "ndim", 0) != 0
    try:
        if isinstance(value, str | bytes | bytearray | bool | np.bool_) or several:
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, ArithmeticError):
        raise Unaskable(f"{what} is a number, not {show_value(value)}") from None


def text(value: object, what: str = "a text", most: int = MAX_TEXT) -> str:
    """A text short enough to store, and made of real characters, since fingerprints are taken of UTF-8."""
    plain = plain_text(value, most)
    if plain is not None:
        return plain
    if not issubclass(type(value), str):
        raise Unaskable(f"{what} is a text, not {show_value(value)}")
    size = str.__len__(cast(str, value))
    if size > most:
        raise Unaskable(f"{what} of {size} characters is too long: at most {most}", limit=most)
    raise Unaskable(f"{what} holds half a surrogate pair, which is not a character: clean it first")


def moment(iso: str) -> datetime:
    """Read an ISO date or datetime without a time zone.

    >>> moment("2024-01-05")
    datetime.datetime(2024, 1, 5, 0, 0)
    """
    try:
        return _moment(datetime.fromisoformat(iso))
    except Unaskable:
        raise
    except (ValueError, OverflowError):
        raise Unaskable(
            f"{iso[:40]!r} is not an ISO date: write it like '2024-01-31' or '2024-01-31T12:30:00'"
        ) from None


def iso(value: datetime) -> str:
    """The one text of a moment: midnight is written as the day alone.

    >>> iso(datetime(2024, 1, 5)), iso(datetime(2024, 1, 5, 12))
    ('2024-01-05', '2024-01-05T12:00:00')
    """
    return value.date().isoformat() if value.time() == time() else value.isoformat()


def plain(value: float) -> int | float:
    """A number as JSON writes it: 65.0 as 65, because other writers of JSON cannot tell them apart.

    >>> plain(65.0), plain(0.5), plain(1e300)
    (65, 0.5, 1e+300)
    """
    return int(value) if value.is_integer() and abs(value) <= MAX_EXACT else value


def kind_of(value: Scalar) -> ColumnKind:
    """Which kind of column a constant may be compared with."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, float):
        return "number"
    return "text" if isinstance(value, str) else "date"


def _moment(value: Any) -> datetime:
    # pandas' NaT claims to be a datetime; its parts are NaN, and it differs from itself.
    if value != value:
        raise Unaskable("NaT is a missing date: use .is_null()")
    if getattr(value, "tzinfo", None) is not None:
        raise Unaskable("a date here has no time zone: convert it to the column's clock and drop tzinfo")
    if getattr(value, "nanosecond", 0):
        raise Unaskable("dates are compared in microseconds: round the nanoseconds away")
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    fields = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    return datetime(*fields)


def _from_numpy(value: np.datetime64) -> datetime:
    if np.isnat(value):
        raise Unaskable("NaT is a missing date: use .is_null()")
    year = int(value.astype("datetime64[Y]").astype(np.int64)) + 1970
    if not 1 <= year <= 9999:
        raise Unaskable("a date must lie in the years 1 to 9999")
    micros = value.astype("datetime64[us]")
    if micros.astype(value.dtype) != value:
        raise Unaskable("dates are compared in microseconds: round the finer part away")
    return _moment(micros.item())
