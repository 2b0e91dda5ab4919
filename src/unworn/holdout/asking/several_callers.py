"""The questions of several callers who wait at the same time, asked by one thread: one turn of the queue, one commit.

To the ledger it is as if each had come in a thread of its own. Whoever serves many callers saves the threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from unworn.holdout.asking.preparation import Asked
from unworn.holdout.asks import Ask, read_label
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer

if TYPE_CHECKING:
    from unworn.holdout.holdout import Holdout


class PreparedAsk(NamedTuple):
    """What one caller asks, once it is understood; or the error that it alone would have had."""

    question: Asked
    asks: list[Ask] | Exception


def prepare_several(holdout: Holdout, told: Sequence[Mapping[str, Any]]) -> list[PreparedAsk]:
    """For each caller, who says what :meth:`Holdout.ask` takes: all that comes before sealed rows are read."""
    return [_prepare(holdout, dict(each)) for each in told]


def answer_several(holdout: Holdout, prepared: Sequence[PreparedAsk]) -> list[Answer | DerivedAnswer | Exception]:
    """For each caller, the answer or the error.

    >>> from unworn import Holdout
    >>> holdout = Holdout({"age": list(range(100))}, ledger=None, practice=0)
    >>> told = [{"question": "age > 49", "guess": 0.5}, {"question": "size > 3"}]
    >>> one, two = answer_several(holdout, prepare_several(holdout, told))
    >>> one.index, type(two).__name__
    (1, 'Unaskable')
    """
    waiting = [asks for _, asks in prepared if not isinstance(asks, Exception) and not _runs_code(asks)]
    entered = iter(holdout._desk.enter_each(waiting) if waiting else [])
    found: list[Answer | DerivedAnswer | Exception] = []
    for question, asks in prepared:
        try:
            if isinstance(asks, Exception):
                raise asks
            # Code of an asker's own may take all day, or end the thread: it goes in alone.
            answers = holdout._desk.enter(asks) if _runs_code(asks) else _raised(next(entered))
            found.append(holdout._answer_to(question, answers))
        except Exception as error:
            found.append(error)
    return found


def storing_seconds(holdout: Holdout) -> float:
    """How long its store took so far, in all, for entries that were complete: no part of that depends on the rows."""
    return holdout._desk.storing_seconds


def _prepare(holdout: Holdout, told: dict[str, Any]) -> PreparedAsk:
    question = told.pop("question")
    try:
        label = read_label(told.pop("name", None), told.pop("tags", None))
        guess, deviation = told.pop("guess", None), told.pop("guess_se", None)
        return PreparedAsk(question, holdout._asks_of(question, guess, deviation, label=label, **told))
    except Exception as error:
        return PreparedAsk(question, error)


def _runs_code(asks: Sequence[Ask]) -> bool:
    return any(ask.facts.runs_code for ask in asks)


def _raised(answers: list[Answer] | Exception) -> list[Answer]:
    if isinstance(answers, Exception):
        raise answers
    return answers
