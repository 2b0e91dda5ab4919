"""Markov chain Monte Carlo whose energies are asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from unworn.bounds.numerics import whole
from unworn.learn.energy_landscape import EnergyLandscape, State
from unworn.learn.learner_checks import certified_by
from unworn.learn.regions import positive
from unworn.queries.query import Query

if TYPE_CHECKING:
    from unworn.holdout import Holdout


@dataclass(frozen=True)
class MetropolisWalk(Generic[State]):
    """Where a walk was after each step, and how far the law it draws from can be from the population's.

    ``energies`` has (value, low, high) for every state that was looked at. The walk's law gives a state a probability
    in proportion to exp(-answer/temperature), and the population's law has the true energy in the answer's place. With
    probability ``confidence``, together with every other answer of the holdout, the two, both given that the state is
    one of those looked at, differ by at most ``distance`` in total variation. How soon a walk forgets its start is not
    claimed.
    """

    states: tuple[State, ...]
    energies: dict[State, tuple[float, float, float]]
    temperature: float
    distance: float
    accepted: float
    asks: int
    confidence: float
    holdout: str
    head: str
    assumptions: tuple[str, ...]

    def shares(self, burn: int = 0) -> dict[State, float]:
        """How often the walk was in each state, without its first ``burn`` steps."""
        kept = self.states[whole("burn", burn, 0, len(self.states) - 1) :]
        return {state: kept.count(state) / len(kept) for state in dict.fromkeys(kept)}


def sample_states(
    holdout: Holdout,
    energy: Callable[[State], Query],
    start: State,
    neighbours: Callable[[State], Sequence[State]],
    *,
    steps: int,
    temperature: float,
    seed: int = 0,
    by: str | None = None,
) -> MetropolisWalk[State]:
    """Walk so many steps by the rule of Metropolis and Hastings: a Gibbs law over states, an ask for each new state.

    A neighbour is drawn at random and accepted with probability min(1, exp(-rise/temperature)·|around|/|around there|).
    A state keeps its answer, so the walk is an exact one for the answers' energies; they lie within their intervals of
    the population's, and so do not change the law by more than tanh((a + b)/4T) in total variation, a and b the most by
    which energies can lie above and below their answers. At most 1 + steps asks; the walk ends early where the holdout
    has none left.

    Parameters
    ----------
    energy, neighbours, seed
        As for :func:`~unworn.learn.annealing.anneal`; neighbours are mutual.
    temperature
        In units of the energy. For a Gibbs posterior of n rows it is 1/n, and ``distance`` tells whether answers are
        that sharp; larger ones smooth over what the answers cannot tell.

    References
    ----------
    Metropolis et al. 1953; Hastings 1970; Tanner and Wong 1987 and Gelfand and Smith 1990 for its use in statistics.

    Examples
    --------
    >>> from unworn import Holdout
    >>> from unworn.mechanisms import Gaussian
    >>> from unworn.queries import col, share
    >>> x = np.random.default_rng(0).uniform(0, 1, 100_000)
    >>> holdout = Holdout({"x": x}, x > 0.3, mechanism=Gaussian(), asks=11)
    >>> walk = sample_states(
    ...     holdout, lambda cut: share((col("x") > cut / 10) != col("y")), 8,
    ...     lambda cut: [one for one in (cut - 1, cut + 1) if 0 <= one <= 9], steps=10, temperature=0.1,
    ... )
    >>> walk.asks <= 11, walk.distance < 0.2, len(walk.states)
    (True, True, 10)
    """
    count, heat, public = whole("steps", steps, 1), positive("temperature", temperature), whole("seed", seed, 0)
    rng = np.random.default_rng(public)
    land: EnergyLandscape[State] = EnergyLandscape(holdout, energy, neighbours, by)
    land.look([start])
    states, moves, state = [], 0, start
    for _ in range(count):
        following = land.move(state, heat, rng)
        if following is None:
            break
        moves += following != state
        states.append(following)
        state = following
    told: dict[State, Any] = land.answers
    confidence, name, head, assumptions, promised = certified_by(holdout, max(told.values(), key=lambda a: a.index))
    room = max(a.high - a.value for a in told.values()) + max(a.value - a.low for a in told.values())
    distance = math.tanh(room / (4 * heat)) if promised else 1.0
    energies = {state: (a.value, a.low, a.high) for state, a in told.items()}
    return MetropolisWalk(
        tuple(states),
        energies,
        heat,
        distance,
        moves / max(len(states), 1),
        land.asks,
        confidence,
        name,
        head,
        assumptions,
    )
