"""What callers of a holdout supply, checked before rows are touched: a clear error, and nothing is charged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from numbers import Integral, Real
from typing import Any

from unworn.basics.display import show_value
from unworn.basics.plain_text import plain_text
from unworn.errors import Unaskable
from unworn.mechanisms.contract.mechanism import MOST_ASKS
from unworn.queries import Expression, Query, share
from unworn.queries.language.literals import MAX_TEXT
from unworn.queries.predictions import FromModel, NamedPredictions
from unworn.record.declared_uses import Uses

MOST_AT_ONCE = 1_000_000
"""Things in a list that one call takes."""


def is_source(predictions: Any) -> bool:
    """Whether these are no model but a source made of one, at some time before."""
    return isinstance(predictions.predictions if is_named(predictions) else predictions, FromModel)


def is_named(predictions: Any) -> bool:
    """Whether they have a name of their own. A subclass would say for itself, and each time anew, what it names."""
    return type(predictions) is NamedPredictions


def as_asked(question: Any) -> Any:
    """A question as it was meant: text is SQL, and a predicate by itself asks for its share."""
    if isinstance(question, str):
        return read_sql(question)
    return share(question) if isinstance(question, Expression) else question


def read_sql(text: str) -> Query:
    from unworn.queries.language.sql_text import parse as parse_sql  # loaded by those who write SQL

    return parse_sql(text)


def check_asker(by: str | None) -> str | None:
    """Who asks, as it is entered: checked first, because what the ledger cannot hold must not reach the rows."""
    return None if by is None else check_text(by, "by=, the asker's name,")


def check_text(text: Any, what: str) -> str:
    """A name of the asker's: short, and made of characters that have bytes."""
    plain = plain_text(text, MAX_TEXT)
    if plain is None:
        raise Unaskable(f"{what} is a text of at most {MAX_TEXT} characters, not {show_value(text)}")
    return plain


def check_list(things: Any, what: str) -> list[Any]:
    if isinstance(things, str | bytes | Mapping | Query) or not isinstance(things, Iterable):
        raise Unaskable(f"{what} come as a list, not as a {type(things).__name__}")
    try:
        some = list(islice(things, MOST_AT_ONCE + 1))  # an iterator may have no end
    except TypeError:  # an array without a dimension has __iter__ all the same
        raise Unaskable(f"{what} come as a list, not as a {type(things).__name__}") from None
    if len(some) > MOST_AT_ONCE:
        raise Unaskable(f"there are more than {MOST_AT_ONCE:,} {what}, which is the most at once: make several calls")
    return some


def check_uses(uses: Mapping[str, float] | None, use: str) -> Uses | None:
    if not isinstance(use, str):
        raise Unaskable(f"use= is the name of one of the declared uses, not {show_value(use)}")
    if uses is None and use != "asks":
        raise ValueError(
            f"use={use!r:.80} is one of several uses: declare all of them, as in uses={{'asks': 0.7, 'release': 0.3}}"
        )
    return None if uses is None else Uses.of(uses, use)


def check_numbers(asks: int | None, confidence: float, max_width: float | None) -> int | None:
    if asks is not None and (isinstance(asks, bool) or not isinstance(asks, Integral) or not 1 <= asks <= MOST_ASKS):
        raise ValueError(
            f"asks is a whole number of at least 1, and at most {MOST_ASKS:.0e} (or None for no plan), "
            f"not {show_value(asks)}"
        )
    if not (isinstance(confidence, float) and 0 < confidence < 1):
        raise ValueError(f"confidence is a number between 0 and 1, such as 0.95, not {show_value(confidence)}")
    real = isinstance(max_width, Real) and not isinstance(max_width, bool)
    if max_width is not None and not (real and 0 < max_width < 1e308):
        raise ValueError(f"max_width is a finite half-width above 0, not {show_value(max_width)}")
    return None if asks is None else int(asks)
