"""An adaptive analyst for the demonstration: looks at many clues, keeps what looked good, scores the vote.

Every row has a label and many clues, yes/no columns that might tell it. A few clues are real; the others are coin
flips. The analyst does what people do: scores each clue on the holdout, weighs it by the answer, and scores the
weighted vote. The same analyst meets every holdout; only the answers differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from unworn.holdout import Holdout
from unworn.mechanisms import Mechanism
from unworn.mechanisms.contract.capabilities import GivesFinalValues
from unworn.queries import accuracy
from unworn.record.answer import Answer

REAL_ACCURACY = 0.6
"""How often a real clue is right: on its own little, together much."""

CHUNK = 5_000
"""Fresh rows at a time."""


@dataclass(frozen=True)
class DemoWorld:
    """The population: labels are fair coins, clue j is right with probability ``truth[j]``, independently."""

    truth: NDArray[np.float64]

    @classmethod
    def make(cls, clues: int, real: int, rng: np.random.Generator) -> DemoWorld:
        truth = np.full(clues, 0.5)
        truth[rng.choice(clues, size=min(real, clues), replace=False)] = REAL_ACCURACY
        return cls(truth)

    def rows(self, number: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Whether each clue (down) is right about each fresh row (across). Labels are coins: no more matters."""
        return rng.random((len(self.truth), number), dtype=np.float32) < self.truth.astype(np.float32)[:, None]


@dataclass(frozen=True)
class DemoStep:
    """The vote of the clues seen so far, as it was reported."""

    clues: int
    kept: int
    answer: Answer
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class DemoPlay:
    """What one holdout told the analyst: an answer a clue, the vote's score every now and then, and a last word."""

    clues: list[Answer]
    steps: list[DemoStep]
    final: Answer | None


def play(
    right: NDArray[np.bool_],
    mechanism: Mechanism,
    every: int,
    seed: int,
    tick: Callable[[], None] = lambda: None,
) -> DemoPlay:
    """Let the analyst ask about each clue in turn, score the vote after every so many, and end with a final number."""
    clues, rows = right.shape
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, rows)
    stops = {*range(every, clues, every), clues}
    holdout = Holdout(None, labels, mechanism=mechanism, asks=clues + len(stops), name="demo", ledger=None)
    weights, margin = np.zeros(clues), np.zeros(rows)
    told: list[Answer] = []
    steps: list[DemoStep] = []
    for clue in range(clues):
        said = np.where(right[clue], labels, 1 - labels)
        answer = holdout.ask(accuracy(said), guess=0.5)
        told.append(answer)
        weights[clue] = _weight(answer.value, rows)
        if weights[clue]:
            margin += _ballot(weights)[clue] * (2 * said - 1)  # later weights do not change this one
        tick()
        if clue + 1 in stops:
            vote = margin if weights.any() else np.where(right[0], labels, 1 - labels) - 0.5
            scored = holdout.ask(accuracy((vote > 0).astype(np.int64)), guess=expected_score(weights, rng))
            steps.append(DemoStep(clue + 1, int(np.count_nonzero(weights)), scored, weights.copy()))
            tick()
    final = holdout.final(steps[-1].answer) if isinstance(mechanism, GivesFinalValues) else None
    holdout.close()
    return DemoPlay(told, steps, final)


def expected_score(weights: NDArray[np.float64], rng: np.random.Generator, draws: int = 20_000) -> float:
    """What the vote should score if every clue is as good as it was reported to be: an honest guess."""
    believed = _ballot(weights[weights != 0]) if weights.any() else np.zeros(0)
    right = 1 / (1 + np.exp(-believed))
    if believed.size > 100:  # many clues: the sum of their votes is close to normal
        mean, variance = float((2 * right - 1) @ believed), float((4 * right * (1 - right)) @ believed**2)
        return NormalDist().cdf(mean / variance**0.5)
    if not believed.size:
        return 0.5
    return float(np.mean(_margins(rng.random((believed.size, draws)) < right[:, None], believed) > 0))


def population_scores(
    world: DemoWorld,
    votes: list[NDArray[np.float64]],
    rows: int,
    rng: np.random.Generator,
    tick: Callable[[], None] = lambda: None,
) -> NDArray[np.float64]:
    """How often each vote is right on fresh rows of the population."""
    ballots = np.array([_ballot(weights) for weights in votes])
    hits = np.zeros(len(ballots))
    for start in range(0, rows, CHUNK):
        hits += np.count_nonzero(_margins(world.rows(min(CHUNK, rows - start), rng), ballots) > 0, axis=1)
        tick()
    return np.asarray(hits / rows)


def _margins(right: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.float32]:
    """By how much the right side wins the weighted vote, row by row."""
    return np.asarray(weights.astype(np.float32) @ (2 * right.astype(np.float32) - 1))


def _ballot(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights to vote with: the first clue that counts breaks ties, and decides while nothing is known."""
    ballot = weights.copy()
    first = int(np.argmax(weights != 0))
    ballot[first] = 1.001 * ballot[first] if ballot[first] else 1.0
    return ballot


def _weight(share: float, rows: int) -> float:
    """The log-odds of a clue that is right this often: the best weight, if the share were true."""
    cut = min(max(share, 1 / rows), 1 - 1 / rows)
    return float(np.log(cut / (1 - cut)))
