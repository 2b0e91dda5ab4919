"""What to expect of the parts of a gain that is made of several answers: of the two F1 scores of a difference, say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unworn.boards.metered_asks import is_answered
from unworn.queries.composite import Composite, Question
from unworn.queries.metrics.paired_query import Difference

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.queries.query import Query

_MOST, _LEAST = 3.0, -1.0


def guess_parts(
    holdout: Holdout, question: Composite, gain: Question, after: Question, before: Question, expected: float
) -> dict[str, list[float]]:
    """Guesses with which the parts make the ``expected`` gain of the score ``after`` over the score ``before``.

    ``question`` is this ``gain`` or the score ``after``. What practice rows say of ``after`` has the luck of all its
    steps in it, and would be a surprise by itself. So each of its parts is expected as far from the same part of
    ``before`` as practice says, times the share of the practice gain that is not luck; and ``before`` where an answer
    has told it to be.
    """
    reached = holdout.practice.ask(gain).value
    share = min(max(expected / reached, _LEAST), _MOST) if reached > 0.0 else 1.0
    same = {part.fingerprint: base for part, base in zip(_parts(after), _parts(before), strict=False)}
    guesses, errors = [], []
    for part in question.questions:
        told = holdout.practice.ask(part)
        guess, error, base = told.value, told.error, same.get(part.fingerprint)
        if isinstance(part, Difference):
            guess, error = share * guess, 0.0
        elif base is not None:
            seen = holdout.practice.ask(base).value
            known = holdout.ask(base).value if is_answered(holdout, base) else seen
            guess = known + share * (guess - seen)
        _, facts = holdout._understand(part)
        guesses.append(min(max(guess, facts.low), facts.high))
        errors.append(error)
    return {"guess": guesses, "guess_se": errors}


def _parts(question: Question) -> tuple[Query, ...]:
    return question.questions if isinstance(question, Composite) else (question,)
