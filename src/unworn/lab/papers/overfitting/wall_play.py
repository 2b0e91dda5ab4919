"""The mechanisms of the package at the wall: interactive fingerprinting asks each of them more than n² questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from unworn.errors import Refused, TooFewRows
from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Played
from unworn.lab.analysts.interactive_fingerprinting import InteractiveFingerprinting
from unworn.lab.worlds import FiniteWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import (
    AboveThreshold,
    BoundedNoise,
    Gaussian,
    GuessAndCheck,
    Ladder,
    Laplace,
    Mechanism,
    MedianOracle,
    MultiplicativeWeights,
    Naive,
    OneSample,
    PrivateGuessAndCheck,
    PrivateLadder,
    Rounding,
    SampleSplitting,
    SparseVector,
    Subsampled,
    Thresholdout,
)

Ending = Literal["stopped", "worthless", "misled", "standing"]

WORTHLESS: Final = 0.25
"""Half-widths that leave half of the range open, or more."""

POINTS: Final = 4
"""How many points the population has for each row of the sample."""

MECHANISMS: Final[dict[str, tuple[Callable[[int], Mechanism], bool]]] = {
    "above threshold": (lambda rows: AboveThreshold(0.5, tops=None), False),
    "bounded noise": (lambda rows: BoundedNoise(), True),
    "gaussian": (lambda rows: Gaussian(), True),
    "guess and check": (lambda rows: GuessAndCheck(), False),
    "guess and check, planned": (lambda rows: GuessAndCheck(), True),
    "ladder": (lambda rows: Ladder(0.01), False),
    "laplace": (lambda rows: Laplace(), True),
    "median oracle": (lambda rows: MedianOracle(domain={"point": list(range(POINTS * rows))}), True),
    "multiplicative weights": (lambda rows: MultiplicativeWeights(domain={"point": list(range(POINTS * rows))}), True),
    "naive": (lambda rows: Naive(), False),
    "one sample": (lambda rows: OneSample(), True),
    "private guess and check": (lambda rows: PrivateGuessAndCheck(), True),
    "private ladder": (lambda rows: PrivateLadder(), True),
    "rounding to .2": (lambda rows: Rounding(5), False),
    "rounding to .2, planned": (lambda rows: Rounding(5), True),
    "sample splitting": (lambda rows: SampleSplitting(rounds=3), True),
    "sparse vector": (lambda rows: SparseVector(), True),
    "subsampled": (lambda rows: Subsampled(drawn=rows), True),
    "thresholdout": (lambda rows: Thresholdout(), True),
}
"""Each mechanism for so many rows, and whether it is given the number of asks as its plan."""

_GUESSED: Final = ("private guess and check", "thresholdout")


def play_wall(name: str, rows: int, asks: int, rng: np.random.Generator) -> tuple[Played | None, Ending]:
    """The last answer of a mechanism that was asked so often, and how it ended.

    ``stopped``: it refused the plan, or a question on the way. ``worthless``: its last interval is ± .25 or wider.
    ``misled``: the truth is outside. ``standing``: none of these, which the lower bound rules out past the wall.

    >>> played, ending = play_wall("naive", 20, 801, np.random.default_rng(1))
    >>> ending, played.answer.value > 0.8, played.truth
    ('misled', True, 0.25)
    """
    make, planned = MECHANISMS[name]
    analyst, last = InteractiveFingerprinting(0.5 if name in _GUESSED else None), None
    scene = FiniteWorld(POINTS * rows).draw(rows, 0, rng)
    try:
        holdout = Holdout(
            scene.data,
            scene.labels,
            mechanism=make(rows),
            asks=asks if planned else None,
            ledger=SeededStore(rng),
        )
        for played in analyst.play(holdout, scene, asks, rng):
            last = played
    except (Refused, TooFewRows, ValueError):
        return last, "stopped"
    if last is None:
        raise ValueError("nothing was asked")
    if last.answer.width >= WORTHLESS:
        return last, "worthless"
    return last, "standing" if last.answer.low <= last.truth <= last.answer.high else "misled"
