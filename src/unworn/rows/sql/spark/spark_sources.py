"""A Spark frame as rows to be opened: what it must be, and how its failures are told.

Every column is given a name of this engine's own, by its place. The owner's names may hold anything (dots, backquotes,
``${...}``, which Spark replaces by settings inside any text) and are never written into a statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Any, TypeVar

from unworn.errors import Mismatch, MissingExtra, Unaskable, Unavailable, UnwornError
from unworn.rows.sql.spark.spark_calls import PATIENCE, Limit, hush_logging, limit_time

T = TypeVar("T")
_CONDITION = re.compile(r"[A-Z][A-Z0-9_.]{0,80}")
_ABSENT = "No module named 'unworn"


def is_spark(data: Any) -> bool:
    """Whether this is a frame of Spark's, classic or Connect; nothing of Spark's is imported to find out.

    >>> is_spark([1, 2, 3])
    False
    """
    kinds = type(data).__mro__
    return any(kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.") for kind in kinds)


def open_frame(frame: Any) -> tuple[Any, Sequence[Any]]:
    """The frame with its columns named u0, u1, …, and its fields, which know the names they had."""
    if attempt(lambda: frame.isStreaming):
        raise Unaskable("rows that stream in have no end: write them to a table, and open that")
    fields = attempt(lambda: frame.schema).fields
    names = [field.name for field in fields]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise Unaskable(f"column names must differ; these appear twice: {', '.join(twice[:10])}")
    return attempt(lambda: frame.toDF(*(f"u{place}" for place in range(len(names))))), fields


def attempt(run: Callable[[], T], session: Any = None) -> T:
    """What Spark returns; a failure is told by its kind alone, because its message may quote a row.

    A statement that reads rows is given its session, whose patience it has.
    """
    limit: Limit | None = None
    try:
        with hush_logging(), nullcontext() if session is None else limit_time(session) as limit:
            return run()
    except UnwornError:
        raise
    except ImportError:
        raise MissingExtra.of("spark", "bringing rows out of Spark") from None
    except Exception as error:
        name, absent = _kind(error), type(error).__name__ == "PythonException" and _says(error, _ABSENT)
    if absent:
        raise Unavailable(
            "Spark's workers do not have unworn, and work on rows is done by them.\n"
            "  Nothing was charged. Install the same version where they run, and open the holdout again.",
            failure=name,
        )
    if limit is not None and limit.passed:
        raise Unavailable(
            f"Spark did not read the rows within {limit.seconds:g} s, and was told to stop: its workers may be gone.\n"
            f"  Nothing was charged. Bring them back and ask again, or allow more seconds: {PATIENCE}.",
            failure=name,
        )
    raise Mismatch(
        f"Spark could not read the rows ({name}): the table or files behind them may be gone or changed, or the "
        "cluster out of reach.\n  Nothing was charged. Bring it back as it was, and open the holdout again.",
        failure=name,
    )


def _kind(error: Exception) -> str:
    """The name of an error's class, and of its condition where Spark gives one: neither is made of rows."""
    name = type(error).__name__
    ask = getattr(error, "getCondition", None)
    condition = None
    with suppress(Exception):  # it asks Java, which may be gone
        condition = ask() if ask is not None else None
    return f"{name}: {condition}" if isinstance(condition, str) and _CONDITION.fullmatch(condition) else name


def _says(error: Exception, words: str) -> bool:
    with suppress(Exception):
        return words in str(error)
    return False
