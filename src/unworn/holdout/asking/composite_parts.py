"""A composite's guess, told to its parts; and what the values of parts on rows that may be seen make of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.holdout.asking.guesses import guess_number
from unworn.queries.composite import Composite
from unworn.queries.language.literals import as_float
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer

_STEP = 1e-4
"""How far a value is moved, in standard errors, to see how much a composite moves with it."""


def part_guesses(composite: Composite, guess: Any, error: Any) -> list[tuple[Any, Any]]:
    """For each question of a composite its guess and that guess's standard error, where the asker gave any.

    One number is a guess of the composite itself, and says what to expect of its question where there is only one.
    """
    questions = composite.questions
    if guess is None:
        if error is not None:
            raise Unaskable("guess_se says how sure a guess is, and there is no guess: give guess= too")
        return [(None, None)] * len(questions)
    if isinstance(guess, Sequence) and not isinstance(guess, str | bytes):
        errors = error if isinstance(error, Sequence) and not isinstance(error, str) else [error] * len(guess)
        if len(guess) != len(questions) or len(errors) != len(questions):
            raise Unaskable(f"{composite.label} is made of {len(questions)} questions: guess that many, in their order")
        return list(zip(guess, errors, strict=True))
    value = guess_number(guess)
    inside = composite.guess_of_part(value)
    if len(questions) != 1 or inside is None:
        names = "; ".join(query.label for query in questions)
        raise Unaskable(
            f"{composite.label} is made of {len(questions)} questions, and one number does not say what to expect of "
            f"each: give guess=[…] for {names}, or leave it to train or practice rows"
        )
    return [(inside, None if error is None else _moved(composite, value, as_float(error, "guess_se")))]


def _moved(composite: Composite, value: float, error: float) -> float:
    """The standard error of the part whose value is known from the composite's."""
    if not math.isfinite(error):
        raise Unaskable(f"guess_se is a finite number, not {show_value(error)}")
    step, ends = max(_STEP * error, 1e-12), []
    for side in (-1, 0, 1):
        with suppress(Unaskable):  # beyond the end of what the composite can be
            inside = composite.guess_of_part(value + side * step)
            ends += [] if inside is None else [(side, inside)]
    (first, low), (last, high) = ends[0], ends[-1]
    return error * abs(high - low) / ((last - first) * step)


def combine_values(composite: Composite, values: Sequence[float], errors: Sequence[float]) -> tuple[float, float]:
    """The value of a composite, and a standard error that is no smaller than the true one to first order.

    Parts are asked of the same rows, so their errors may go together: they are added up in size.
    """
    value, error = composite.value(values), 0.0
    for place, own in enumerate(errors):
        step = max(_STEP * own, 1e-12)
        moved = [list(values), list(values)]
        moved[0][place] -= step
        moved[1][place] += step
        low, high = (composite.value(each) for each in moved)
        error += own * abs(high - low) / (2 * step)
    return value, error if math.isfinite(error) else math.inf


def open_composites(things: Sequence[Any]) -> list[tuple[Composite | None, list[Any]]]:
    """Questions and answers, each with the parts that are to be asked: its own, or itself."""
    listed: list[tuple[Composite | None, list[Any]]] = []
    for thing in things:
        if isinstance(thing, DerivedAnswer):
            listed.append((thing.query, list(thing.parts)))
        elif isinstance(thing, Composite):
            listed.append((thing, list(thing.questions)))
        else:
            listed.append((None, [thing]))
    return listed


def gather_answers(
    listed: Sequence[tuple[Composite | None, list[Any]]], answers: Sequence[Answer]
) -> list[Answer | DerivedAnswer]:
    """The answers to all the parts, put together as they were opened."""
    told = iter(answers)
    found: list[Answer | DerivedAnswer] = []
    for composite, parts in listed:
        own = [next(told) for _ in parts]
        found.append(own[0] if composite is None else DerivedAnswer.of(composite, own))
    return found
