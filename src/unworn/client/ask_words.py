"""A question as it travels: plain JSON, made and checked here, so that what is wrong with it costs no journey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsFloat

from unworn.errors import Unaskable
from unworn.holdout.asking.argument_checks import as_asked
from unworn.holdout.asks import GivenTags, read_label
from unworn.queries import Composite, Query
from unworn.queries.code.code_in_query import code_of
from unworn.queries.composite import Question
from unworn.queries.query import check_parts

Guesses = SupportsFloat | Sequence[float | None] | None


def read_question(question: Question | str) -> Question:
    """A question that can travel: one that needs code or predictions is refused, with what to do instead."""
    asked: Question = as_asked(question)
    if not isinstance(asked, Query | Composite):
        raise Unaskable(f"a question is SQL text or a question of this package, not a {type(asked).__name__}")
    for part in asked.questions if isinstance(asked, Composite) else (asked,):
        check_parts(part)
        if code_of(part):
            raise Unaskable(
                f"{part.label} runs code on rows, and code does not travel: the rows are on the server, and your code "
                "is not.\n  Ask in terms of columns, or score predictions that you make here."
            )
        if not part.portable:
            raise Unaskable(
                f"{part.label} holds predictions, which are sent as a file: use score() or compare() of the connection"
            )
    return asked


def ask_body(
    question: Question,
    guess: Guesses = None,
    *,
    guess_se: float | Sequence[float | None] | None = None,
    gauge: float | None = None,
    again: bool = False,
    noise: bool = False,
    name: str | None = None,
    tags: GivenTags = None,
) -> dict[str, Any]:
    """The body of an ask: only what was given is written."""
    body: dict[str, Any] = {"question": question.to_json()}
    return body | label_body(name, tags) | guess_body(guess, guess_se, gauge, again=again, noise=noise)


def guess_body(
    guess: Guesses, guess_se: Any = None, gauge: float | None = None, *, again: bool = False, noise: bool = False
) -> dict[str, Any]:
    told: dict[str, Any] = {
        "guess": _numbers(guess, "a guess"),
        "guess_se": _numbers(guess_se, "guess_se"),
        "gauge": _numbers(gauge, "gauge"),
        "again": True if again else None,
        "noise": True if noise else None,
    }
    return {key: value for key, value in told.items() if value is not None}


def label_body(name: str | None, tags: GivenTags) -> dict[str, Any]:
    label = read_label(name, tags)
    return {key: value for key, value in (("name", label.name), ("tags", label.tags)) if value is not None}


def check_by(by: str | None) -> None:
    """Refuse ``by=``: on a server the account is what is recorded, and nobody asks in another's name."""
    if by is not None:
        raise Unaskable("a server records by whom it is asked from the token's account: leave by= out")


def _numbers(value: Any, what: str) -> Any:
    if value is None:
        return None
    try:
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [None if each is None else float(each) for each in value]
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise Unaskable(f"{what} is a number, not a {type(value).__name__}") from None
    if number - number != 0:
        raise Unaskable(f"{what} is a finite number, not {number}")
    return number
