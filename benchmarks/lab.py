"""Interactions per second with guess and check, on the quadratic-adaptive strategy, beside the published procedure.

Peer: the per-query procedure of the code published with Rogers, Roth, Smith, Srebro, Thakkar and Woodworth (AISTATS
2020), written here anew and plainly: the level of a query is beta times a weight of its place and of the number of
failures, over the number of transcripts there could be; the width at that level is found by halving, each step by a
numerical minimisation of a moment bound; the guess is the answer if it is within the tolerance less that width, else
the value rounded to the coarsest grid that the level allows. As in that code, what is asked between two votes is one
batch, and evaluated as one matrix product.

Both get the same rows, the same questions and the same guesses: for a probe its value on as many other rows, for a vote
one half. Ours is asked one by one, and in the same batches by ``ask_many``. The procedure takes as long for the first
query as for the last: it is run on the first ones only, ours on all. Only answering is timed, on one core: predictions
go in, an answer comes out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln
from threadpoolctl import threadpool_limits

from table import Row, compared, run
from unworn import Holdout
from unworn.ledger.seeded_keys import SeededStore
from unworn.queries import accuracy

TIMES = 20
"""How many times as many interactions a second."""
BETA, TOLERANCE = 0.05, 0.1

Answers = Callable[[np.ndarray, np.ndarray], list[float]]
"""Answers a batch: predictions as columns, and a guess for each."""


def rows_measured(quick: bool) -> Iterator[Row]:
    size, asks, compared_asks = (2_000, 400, 36) if quick else (10_000, 10_000, 400)
    world = Signs.drawn(size, asks, seed=1)
    published = Published(world.labels)
    theirs, spent = timed_play(world, published.answer, compared_asks)
    told = f"n = {size:,}, {asks:,} asks"
    for what, batched in (("one by one", False), ("in batches", True)):
        holdout = Holdout(None, world.labels, ledger=SeededStore(np.random.default_rng(2)), practice=0)
        ours, our_spent = timed_play(world, asking(holdout, world, batched=batched), asks)
        yield compared(f"CPU µs an interaction, {what}, {told}", our_spent, spent, 1 / TIMES)
        far = float(np.max(np.abs(np.array(ours[:compared_asks]) - theirs)))
        yield Row(
            f"largest difference of answers, {what}, {told}", far, TOLERANCE, far / TOLERANCE, 1.0, far <= TOLERANCE
        )
        yield Row(f"surprises, {what}, {told}", holdout.meter.surprises, None, None, None, None)
        width = holdout.meter.next_width
        yield Row(
            f"half-width after all of them, {what}, {told}",
            width,
            TOLERANCE,
            width / TOLERANCE,
            1.0,
            width <= TOLERANCE,
        )


@dataclass(frozen=True)
class Signs:
    """Fair signs: public features and sealed labels to check on, and as many rows to guess from."""

    features: np.ndarray
    labels: np.ndarray
    guess_features: np.ndarray
    guess_labels: np.ndarray

    @classmethod
    def drawn(cls, size: int, asks: int, seed: int) -> Signs:
        rng = np.random.default_rng(seed)
        signs = [np.asfortranarray(2 * rng.integers(0, 2, (size, asks), dtype=np.int8) - 1) for _ in range(2)]
        labels = [2 * rng.integers(0, 2, size, dtype=np.int8) - 1 for _ in range(2)]
        return cls(signs[0], labels[0], signs[1], labels[1])


def timed_play(world: Signs, answer: Answers, asks: int) -> tuple[list[float], float]:
    """The quadratic-adaptive strategy: a vote at every square, by the log-odds of all answers before.

    Returns the answers, and the CPU µs that it took to answer each: what the analyst computes in between is left out.
    """
    told: list[float] = []
    weights: list[float] = []
    spent, root = 0.0, 2

    def put(predictions: np.ndarray, guesses: np.ndarray) -> list[float]:
        nonlocal spent
        start = time.process_time()
        answers = answer(predictions, guesses)
        spent += time.process_time() - start
        told.extend(answers)
        return answers

    with threadpool_limits(1):  # idle threads of a library would be counted too
        while len(told) < asks:
            fresh = range(len(weights), len(weights) + min(root * root - 1, asks) - len(told))
            if fresh:
                chosen = slice(fresh.start, fresh.stop)
                guesses = np.mean(world.guess_features[:, chosen] == world.guess_labels[:, None], axis=0)
                answers = put(world.features[:, chosen], guesses)
                weights += [math.log((1 + c) / (1 - c)) for c in (min(max(2 * a - 1, -0.99), 0.99) for a in answers)]
            if len(told) < asks:
                total = world.features[:, : len(weights)] @ np.array(weights, dtype=np.float32)
                put(np.where(total >= 0, 1, -1).astype(np.int8)[:, None], np.array([0.5]))
            root += 1
    return told, 1e6 * spent / asks


def asking(holdout: Holdout, world: Signs, *, batched: bool) -> Answers:
    def answer(predictions: np.ndarray, guesses: np.ndarray) -> list[float]:
        questions = [accuracy(column) for column in predictions.T]
        if batched:
            return [each.value for each in holdout.ask_many(questions, guesses.tolist())]
        return [holdout.ask(each, guess).value for each, guess in zip(questions, guesses.tolist(), strict=True)]

    return answer


@dataclass
class Published:
    """The published procedure's state: how many were asked, how many failed, and the cells of each failure."""

    labels: np.ndarray
    asked: int = 0
    cells: list[int] = field(default_factory=list)

    def answer(self, predictions: np.ndarray, guesses: np.ndarray) -> list[float]:
        values = np.mean(predictions == self.labels[:, None], axis=0)
        return [self._checked(value, guess) for value, guess in zip(values.tolist(), guesses.tolist(), strict=True)]

    def _checked(self, value: float, guess: float) -> float:
        log_level = self._log_level()
        self.asked += 1
        above = guess > value
        width = moment_width(
            len(self.labels), guess + TOLERANCE if above else guess - TOLERANCE, log_level, above=above
        )
        if abs(guess - value) <= TOLERANCE - width:
            return guess
        cell = TOLERANCE - math.sqrt((math.log(2) - log_level) / (2 * len(self.labels)))
        if cell <= 0:
            raise RuntimeError("the published procedure ends here: no grid is coarse enough for its level")
        self.cells.append(math.ceil(1 / cell))
        return min(1.0, round(value / cell) * cell)

    def _log_level(self) -> float:
        """The level of one side: inverse squares for place and failures, over the transcripts there could be."""
        failures = len(self.cells)
        squares = sum(math.log(6 / math.pi**2) - 2 * math.log(count + 1) for count in (self.asked, failures))
        ways = 0.0
        if failures:
            ways = gammaln(self.asked + 1) - gammaln(failures + 1) - gammaln(max(self.asked - failures, 0) + 1)
        return float(math.log(BETA / 2) + squares - ways - sum(map(math.log, self.cells)))


def moment_width(size: int, end: float, log_level: float, *, above: bool) -> float:
    """How far the mean of so many rows falls short of ``end``, the end of an interval, but for the level."""
    mean = 1 - end if above else end

    def log_tail(width: float) -> float:
        def bound(slope: Any) -> float:
            return float(size * (np.log1p(mean * np.expm1(slope[0])) - slope[0] * (mean + width)))

        return float(minimize(bound, [mean], bounds=((0, None),), tol=1e-7).fun)

    low, high = 0.0, 1.0 - mean
    while high > low + 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if log_tail(middle) > log_level else (low, middle)
    return high


if __name__ == "__main__":
    run(__doc__.partition("\n")[0], "Interactions with guess and check", rows_measured)
