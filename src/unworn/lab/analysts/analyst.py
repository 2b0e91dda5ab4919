"""What an analyst is: somebody who asks, and lets the answers decide what to ask next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.worlds import FiniteScene, Rule, Scene
from unworn.record.answer import Answer


class Played(NamedTuple):
    """An answer, and what it should have covered."""

    answer: Answer
    truth: float


@dataclass(frozen=True)
class Analyst(ABC):
    """A way to play. A frozen configuration: all that changes during a play is local to it.

    An analyst may know the population (``rule.truth``), because no promise rests on its ignorance: what it does not
    know is the rows, and it learns of them only through answers. One that is ``finite`` reasons about single points
    and plays only where there are such, in a :class:`~unworn.lab.worlds.FiniteWorld`.
    """

    name: ClassVar[str]
    finite: ClassVar[bool] = False

    @abstractmethod
    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        """Ask at most ``asks`` times. Ends early, by ``Exhausted``, when the holdout refuses to go on."""


def ask(holdout: Holdout, rule: Rule, guess: float | None = None, *, again: bool = False) -> Played:
    """Put one rule to the holdout."""
    return Played(holdout.ask(rule.question, guess, again=again), rule.truth)


def ask_all(holdout: Holdout, rules: Iterable[Rule], batch: bool) -> Iterator[Played]:
    """Put rules that do not depend on each other's answers: one by one, or all before the first answer."""
    if batch:
        together = list(rules)
        answers = holdout.ask_many([rule.question for rule in together])
        yield from (Played(answer, rule.truth) for answer, rule in zip(answers, together, strict=True))
    else:
        yield from (ask(holdout, rule) for rule in rules)


def with_points(scene: Scene, who: str) -> FiniteScene:
    """The scene, if it has points that ``who`` can reason about."""
    if not isinstance(scene, FiniteScene):
        raise TypeError(f"{who} needs a FiniteWorld, whose points it can name, not a {type(scene).__name__}")
    return scene


def lean(played: Played) -> float:
    """How far the answer lies from the truth: what an analyst who wants to be misled follows."""
    return played.answer.value - played.truth


def far_end(rule: Rule) -> float:
    """The worst guess there is, for a rule with values in [0, 1]."""
    return 0.0 if rule.truth >= 0.5 else 1.0
