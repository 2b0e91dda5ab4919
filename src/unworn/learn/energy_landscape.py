"""Energies by asking: a state's energy is one question, asked the first time the state is looked at."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from unworn.errors import Exhausted
from unworn.queries.query import Query

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.record.answer import Answer

State = TypeVar("State", bound=Hashable)


class EnergyLandscape(Generic[State]):
    """What the answers say of the states looked at so far, and the moves of Metropolis and Hastings on it.

    A state keeps its first answer. So a walk is one on fixed energies that lie within their intervals of the
    population's, whatever order the states came up in.
    """

    def __init__(
        self,
        holdout: Holdout,
        energy: Callable[[State], Query],
        neighbours: Callable[[State], Sequence[State]],
        by: str | None,
    ) -> None:
        self._holdout, self._energy, self._neighbours, self._by = holdout, energy, neighbours, by
        self._around: dict[State, tuple[State, ...]] = {}
        self.answers: dict[State, Answer] = {}
        self.first = holdout.meter.asked

    @property
    def asks(self) -> int:
        return self._holdout.meter.asked - self.first

    def look(self, states: Iterable[State]) -> None:
        """Ask the energies of those not looked at before, in one batch."""
        fresh = [state for state in dict.fromkeys(states) if state not in self.answers]
        questions = [self._energy(state) for state in fresh]
        for question in questions:
            if not isinstance(question, Query):
                raise ValueError(f"energy gives a question for a state, such as share(...), not {question!r:.60}")
        if fresh:
            told = self._holdout.ask_many(questions, by=self._by)
            self.answers.update(zip(fresh, told, strict=True))

    def has_looked(self, states: Iterable[State]) -> bool:
        """Look at these as well, unless the holdout is exhausted: then nothing is charged, and nothing is known."""
        try:
            self.look(states)
        except Exhausted:
            return False
        return True

    def around(self, state: State) -> tuple[State, ...]:
        """The states one move away, each once; never the state itself."""
        if state not in self._around:
            self._around[state] = tuple(dict.fromkeys(one for one in self._neighbours(state) if one != state))
            if not self._around[state]:
                raise ValueError(f"{state!r:.60} has no neighbours, so that a walk would end there")
        return self._around[state]

    def move(self, state: State, temperature: float, rng: np.random.Generator) -> State | None:
        """One step: a neighbour drawn at random, kept with probability min(1, exp(-rise/T)·|around|/|around there|).

        None where the holdout has no answer left for the neighbour that was drawn: the walk ends there.
        """
        choices = self.around(state)
        proposed = choices[int(rng.integers(len(choices)))]
        if not self.has_looked([proposed]):
            return None
        rise = self.answers[proposed].value - self.answers[state].value
        ratio = math.log(len(choices) / len(self.around(proposed)))
        return proposed if math.log(1.0 - rng.random()) < ratio - rise / temperature else state

    def lowest(self) -> State:
        return min(self.answers, key=lambda state: self.answers[state].value)
