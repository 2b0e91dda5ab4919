"""Fingerprinting: whose values go along with the answers was among the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, ask_all, lean, with_points
from unworn.lab.worlds import FiniteScene, Scene


@dataclass(frozen=True)
class Fingerprinting(Analyst):
    """Scores every point of a finite population by how its values follow the answers, then asks for the top quarter.

    A point's score is Σ_j (a_j − p_j) (q_j(x) − p_j) / σ_j over the probes q_j with answers a_j, truths p_j and
    standard deviations σ_j: a row pulls every answer a little towards its own value, and enough answers show it
    through any noise. With at least four times as many points as rows, the top quarter then holds nearly all the rows
    and a quarter of the population. The weights do not saturate, unlike log-odds: this is the attack that large noise
    has to withstand. With ``batch`` the probes are one honest ``ask_many``.

    References
    ----------
    Hardt and Ullman, "Preventing false discovery in interactive data analysis is hard", FOCS 2014; Steinke and
    Ullman, "Interactive fingerprinting codes and the hardness of preventing false discovery", COLT 2015. There the
    probes have random biases, are encrypted, and adapt to who was accused; against noise that does not look at the
    question, none of it is needed. A grid that is coarse, and around the value of all probes, withstands this analyst;
    :class:`~unworn.lab.analysts.interactive_fingerprinting.InteractiveFingerprinting` it does not.

    Examples
    --------
    >>> from unworn import Holdout
    >>> from unworn.lab import FiniteWorld
    >>> from unworn.mechanisms import Naive
    >>> rng = np.random.default_rng(1)
    >>> scene = FiniteWorld(200).draw(rows=50, probes=500, rng=rng)
    >>> holdout = Holdout(scene.data, scene.labels, mechanism=Naive(), ledger=None)
    >>> *_, last = Fingerprinting().play(holdout, scene, 501, rng)
    >>> last.answer.value > 0.9, round(last.truth, 2)
    (True, 0.25)
    """

    name: ClassVar[str] = "fingerprinting"
    finite: ClassVar[bool] = True

    batch: bool = False

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        known = with_points(scene, "fingerprinting")
        leans: list[float] = []
        for played in ask_all(holdout, map(known.probe, range(asks - 1)), self.batch):
            leans.append(lean(played))
            yield played
        if leans:
            yield ask(holdout, known.vote(leans / spreads(known, len(leans))))


def spreads(scene: FiniteScene, probes: int) -> NDArray[np.float64]:
    """The standard deviation of each of the first probes in the population; 1 for one that is the same everywhere."""
    values, chances = scene.values[:probes], scene.world.chances
    variances = values**2 @ chances - (values @ chances) ** 2
    return np.sqrt(np.where(variances > 1e-12, variances, 1.0))
