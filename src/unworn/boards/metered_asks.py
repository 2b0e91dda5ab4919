"""Asking for what a team has left: a score of many parts is asked in pieces, none of which can cost more than that.

An average over fifty classes is fifty questions, and whoever knows the practice labels can make each of them a
surprise: asked all at once it would cost everybody seven hundred nats, however few surprises a team is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from unworn.errors import Exhausted
from unworn.queries.composite import Composite, Question

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.record.answer import Answer
    from unworn.record.derived_answer import DerivedAnswer


def is_answered(holdout: Holdout, question: Question) -> bool:
    """Whether the ledger has the answer, so that asking is free."""
    parts = question.questions if isinstance(question, Composite) else (question,)
    try:
        return all(holdout.quote(part).repeat for part in parts)
    except Exhausted:  # nothing more is answered, and this was not
        return False


def ask_for_what_is_left(
    holdout: Holdout,
    question: Question,
    count_left: Callable[[], int],
    *,
    guess: Any = None,
    guess_se: Any = None,
    **how: Any,
) -> Answer | DerivedAnswer | None:
    """The answer; or None, where the team had no surprise left before all parts were asked.

    ``count_left`` says how many surprises are left, by the ledger as it is. What was asked until then is charged.
    """
    if isinstance(question, Composite):
        parts = question.questions
        waiting = [place for place, part in enumerate(parts) if not is_answered(holdout, part)]
        while len(waiting) > (left := count_left()):
            if left < 1:
                return None
            piece, waiting = waiting[:left], waiting[left:]
            own = {"guess": _chosen(guess, piece), "guess_se": _chosen(guess_se, piece)}
            holdout.ask(Composite("linear", tuple(parts[place] for place in piece), (1.0,) * len(piece)), **own, **how)
    told: Answer | DerivedAnswer = holdout.ask(question, guess, guess_se=guess_se, **how)
    return told


def _chosen(values: Any, places: Sequence[int]) -> Any:
    return [values[place] for place in places] if isinstance(values, Sequence) else values
