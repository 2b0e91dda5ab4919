"""The questions of several callers who wait at the same time, asked by one thread: one turn of the queue, one commit.

To the ledger it is as if each had come in a thread of its own. Whoever serves many callers saves the threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unworn.holdout.asks import Ask, read_label
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer

if TYPE_CHECKING:
    from unworn.holdout.holdout import Holdout


def ask_for_several(holdout: Holdout, told: Sequence[Mapping[str, Any]]) -> list[Answer | DerivedAnswer | Exception]:
    """For each caller, who says what :meth:`Holdout.ask` takes, the answer or the error that it alone would have had.

    >>> from unworn import Holdout
    >>> holdout = Holdout({"age": list(range(100))}, ledger=None, practice=0)
    >>> one, two = ask_for_several(holdout, [{"question": "age > 49", "guess": 0.5}, {"question": "size > 3"}])
    >>> one.index, type(two).__name__
    (1, 'Unaskable')
    """
    prepared = [_prepare(holdout, dict(each)) for each in told]
    waiting = [asks for asks in prepared if not isinstance(asks, Exception) and not _runs_code(asks)]
    entered = iter(holdout._desk.enter_each(waiting) if waiting else [])
    found: list[Answer | DerivedAnswer | Exception] = []
    for each, asks in zip(told, prepared, strict=True):
        try:
            if isinstance(asks, Exception):
                raise asks
            # Code of an asker's own may take all day, or end the thread: it goes in alone.
            answers = holdout._desk.enter(asks) if _runs_code(asks) else _raised(next(entered))
            found.append(holdout._answer_to(each["question"], answers))
        except Exception as error:
            found.append(error)
    return found


def _prepare(holdout: Holdout, told: dict[str, Any]) -> list[Ask] | Exception:
    try:
        label = read_label(told.pop("name", None), told.pop("tags", None))
        question, guess, error = told.pop("question"), told.pop("guess", None), told.pop("guess_se", None)
        return holdout._asks_of(question, guess, error, label=label, **told)
    except Exception as error:
        return error


def _runs_code(asks: Sequence[Ask]) -> bool:
    return any(ask.facts.runs_code for ask in asks)


def _raised(answers: list[Answer] | Exception) -> list[Answer]:
    if isinstance(answers, Exception):
        raise answers
    return answers
