"""Simulated annealing whose energies are asked."""

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
class Annealed(Generic[State]):
    """The state with the least answer, and what is known of the others.

    ``energy`` is (value, low, high) of the population's energy of ``state``. With probability ``confidence``, together
    with every other answer of the holdout, no state that was looked at is better by more than ``gap``. ``settled`` says
    whether all neighbours of ``state`` are among them: then it is a local minimum but for ``gap``. Of states that were
    never looked at nothing is claimed. ``steps`` were made.
    """

    state: State
    energy: tuple[float, float, float]
    gap: float
    settled: bool
    looked_at: int
    steps: int
    asks: int
    confidence: float
    holdout: str
    head: str
    assumptions: tuple[str, ...]


def anneal(
    holdout: Holdout,
    energy: Callable[[State], Query],
    start: State,
    neighbours: Callable[[State], Sequence[State]],
    *,
    steps: int,
    depth: float,
    seed: int = 0,
    by: str | None = None,
) -> Annealed[State]:
    """Walk towards states of low energy, uphill less and less often, and look around the best one at the end.

    Step k proposes a random neighbour and accepts a rise of r with probability exp(-r/T_k), T_k = depth/ln(k + 2). If
    neighbours are mutual, all states can be reached, and ``depth`` is at least that of the deepest valley that is not
    the lowest one, the walk ends among the states with the least *answers* with a probability that tends to 1 (Hajek
    1988); the answers' intervals say how far these can be from the population's. What a step looks at for the first
    time is one ask: at most 1 + steps, and then the neighbours of the best state, in a batch, until none of them is
    better. The walk ends early where the holdout has no answer left.

    Parameters
    ----------
    energy
        The question whose answer is a state's energy: a share or a mean. Called here, and never with rows.
    neighbours
        The states one move away, a finite number.
    seed
        Of the walk's own coins. It is public: fix it without looking at the rows.

    References
    ----------
    Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 1983; Černý 1985. Hajek, "Cooling
    schedules for optimal annealing", Math. of Operations Research 1988. Gelfand and Mitter 1989 for noisy energies.

    Examples
    --------
    The cut of a column that tells a label best: the share of rows on the wrong side, over 41 cuts.

    >>> from unworn import Holdout
    >>> from unworn.mechanisms import Gaussian
    >>> from unworn.queries import col, share
    >>> x = np.random.default_rng(0).uniform(0, 1, 100_000)
    >>> holdout = Holdout({"x": x}, x > 0.3, mechanism=Gaussian(), asks=60)
    >>> found = anneal(
    ...     holdout, lambda cut: share((col("x") > cut / 40) != col("y")), 35,
    ...     lambda cut: [one for one in (cut - 1, cut + 1) if 0 <= one <= 40], steps=57, depth=0.05,
    ... )
    >>> found.state, found.settled, found.energy[1] <= 0 <= found.energy[2]
    (12, True, True)
    """
    count, deep, public = whole("steps", steps, 1), positive("depth", depth), whole("seed", seed, 0)
    rng = np.random.default_rng(public)
    land: EnergyLandscape[State] = EnergyLandscape(holdout, energy, neighbours, by)
    land.look([start])
    state, made = start, 0
    for step in range(count):
        following = land.move(state, deep / math.log(step + 2), rng)
        if following is None:
            break
        state, made = following, step + 1
    best = _settle(land)
    answers: dict[State, Any] = land.answers
    told = answers[best]
    last = max(answers.values(), key=lambda answer: answer.index)
    confidence, name, head, assumptions, promised = certified_by(holdout, last)
    least = min(answer.low for answer in answers.values())
    return Annealed(
        best, (told.value, told.low, told.high), max(told.high - least, 0.0) if promised else math.inf,
        all(one in answers for one in land.around(best)), len(answers), made, land.asks, confidence, name, head,
        assumptions,
    )  # fmt: skip


def _settle(land: EnergyLandscape[State]) -> State:
    """Ask the neighbours of the best state until none of them is better, as far as the plan has asks left."""
    while True:
        best = land.lowest()
        around = land.around(best)
        if all(one in land.answers for one in around) or not land.has_looked(around):
            return best
