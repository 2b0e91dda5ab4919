"""Interactive fingerprinting: random biases, scores, and whoever is accused leaves the game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, with_points
from unworn.lab.games.fingerprinting_code import Accuser, FingerprintingCode
from unworn.lab.worlds import Scene
from unworn.queries.language.constant_operators import MAX_ITEMS


@dataclass(frozen=True)
class InteractiveFingerprinting(Analyst):
    """Plays the fingerprinting game against a holdout, and at the end asks how many rows are among the suspects.

    All questions but the last give every point of a finite population a random bit of a random bias; those accused have
    the bit 0. The last holds for the accused, and then for whoever has the highest score, until they make up a quarter
    of the population. No way of answering that is accurate on the rows withstands more rounds than about a constant
    times rows² (:meth:`~unworn.lab.games.FingerprintingCode.rounds`): not noise, which
    :class:`~unworn.lab.analysts.fingerprinting.Fingerprinting` defeats too, and not a grid that hides every question
    of value 1/2, which it does not. So a mechanism either stops, or its intervals become worthless, or they miss.

    Encryption. In the published theorem the mechanism is handed whole questions, and could answer them from what it
    knows of the population; there, the bits of each point are encrypted under a key of its own, which only its row
    carries, so that a mechanism with bounded time sees the bits of its rows and nothing else. Here that is so anyway: a
    mechanism is shown values on rows, never a question (``queries.Rows``), and the bits of all other points are fresh
    coins that it has no way to look at. What encryption adds is the theorem for mechanisms that are given more. Without
    it, one that knew all the points, and had time for all of them, could answer many more questions
    (``MultiplicativeWeights``).

    Questions are put in words, as lists of points, while the population is small enough for that: two that agree on all
    rows are still two questions. As arrays of predictions they would be one, and the second would get the recorded
    answer of the first, which says nothing of the second's points elsewhere.

    Mechanisms that answer nothing without a guess are given ``guess``, always the same: an honest one would be an
    answer already.

    References
    ----------
    Hardt and Ullman, "Preventing false discovery in interactive data analysis is hard", FOCS 2014; Steinke and Ullman,
    "Interactive fingerprinting codes and the hardness of preventing false discovery", COLT 2015.

    Examples
    --------
    >>> from unworn.lab import FiniteWorld
    >>> from unworn.mechanisms import Naive
    >>> rng = np.random.default_rng(1)
    >>> scene = FiniteWorld(80).draw(rows=20, probes=0, rng=rng)
    >>> holdout = Holdout(scene.data, scene.labels, mechanism=Naive(), ledger=None)
    >>> *_, last = InteractiveFingerprinting().play(holdout, scene, 800, rng)
    >>> last.answer.value > 0.9, round(last.truth, 2)
    (True, 0.25)
    """

    name: ClassVar[str] = "interactive_fingerprinting"
    finite: ClassVar[bool] = True

    guess: float | None = None

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        known = with_points(scene, "interactive fingerprinting")
        accuser = Accuser(FingerprintingCode(scene.rows, known.world.points))
        form = "share" if known.world.points <= MAX_ITEMS else "accuracy"
        for index in range(asks - 1):
            bias, bits = accuser.draw(rng)
            played = ask(holdout, known.ask(bits.astype(np.float64), form, f"bits {index}"), self.guess)
            accuser.hear(bits, bias, min(max(played.answer.value, 0.0), 1.0))
            yield played
        if accuser.heard:
            suspects = accuser.suspects()
            reached = np.cumsum(known.world.chances[suspects]) + 1e-9
            holds = np.zeros(known.world.points)
            holds[suspects[: 1 + int(np.searchsorted(reached, 0.25))]] = 1.0
            yield ask(holdout, known.ask(holds, form, "suspects"), self.guess)
