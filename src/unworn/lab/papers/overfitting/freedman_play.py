"""The reusable holdout's experiment: choosing among useless features, with the holdout as a second opinion.

An analyst keeps the features that go along with the label on the training rows *and* on the holdout, lets the best of
them vote, and asks the holdout how good the vote is. Nothing predicts the label, yet a plain holdout says 63 %
(Freedman's paradox). Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, "The reusable holdout: preserving validity in
adaptive data analysis", Science 349 (2015), Figures 1 and 2.

The paper's features are normal, and enter by their correlations with a label of ±1. Here they are ±1 too, with the same
correlations: a feature is then a prediction, its correlation c the 0/1 question how often it is right, (1 + c)/2, and
every question goes through a holdout as anybody's would. Means and standard errors stay what they were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.experiment import SLIP
from unworn.lab.papers.overfitting.holdout_outcomes import HoldoutOutcome, Point
from unworn.lab.papers.overfitting.vote_world import Bits, Features, Side, vote
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import GuessAndCheck, Mechanism, Naive, Thresholdout
from unworn.queries import Query, accuracy

COUNTS = (10, 20, 35, 50, 75, 100, 150, 200, 250, 300, 400, 500)
"""How many features vote."""
PLAIN, REUSABLE, CHECKED = "plain holdout", "Thresholdout", "guess and check"
AGAIN = "its code, run again"
PUBLISHED: tuple[dict[str, Any], ...] = (
    {"signal": 0, "holdout": PLAIN, "features": 500, "reported": 0.63, "spread": 0.004, "origin": "the paper"},
    {"signal": 0, "holdout": REUSABLE, "features": 500, "reported": 0.508, "spread": 0.0, "origin": AGAIN},
    {"signal": 20, "holdout": PLAIN, "features": 20, "reported": 0.604, "spread": 0.0, "origin": AGAIN},
    {"signal": 20, "holdout": PLAIN, "features": 500, "reported": 0.649, "spread": 0.0, "origin": AGAIN},
    {"signal": 20, "holdout": REUSABLE, "features": 500, "reported": 0.525, "spread": 0.0, "origin": AGAIN},
)
"""What the paper states, and what the code published with it (Gaussian noise, no budget) said when run again."""


@dataclass(frozen=True)
class Freedman(Features):
    """The experiment's numbers, and who answers in it.

    ``threshold`` and ``tolerance`` are the paper's, for correlations, in units of 1/√rows; a share is half of a
    correlation, and so Thresholdout, which compares shares, gets half of each. Of 10,000 features about 1,900 come out
    above the threshold, nearly all by its noise; 2,500 is six standard deviations from there. What the plan can promise
    is known before any ask, and for so few rows it is nothing: a share lies within ± 1/2 of 1/2 anyhow.

    >>> reusable = Freedman().mechanisms["Thresholdout"]
    >>> reusable.threshold, reusable.scale, reusable.budget
    (0.02, 0.005, 2500)
    >>> Freedman().promised > 0.5
    True
    """

    rows: int = 10_000
    features: int = 10_000
    signal: int = 0
    strength: float = 6.0
    counts: tuple[int, ...] = COUNTS
    threshold: float = 4.0
    tolerance: float = 1.0
    budget: int = 2_500

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.counts or min(self.counts) < 1:
            raise ValueError(f"counts say how many features vote, each at least 1, not {self.counts}")

    @property
    def asks(self) -> int:
        return self.features + len(self.counts)

    @property
    def mechanisms(self) -> dict[str, Mechanism]:
        """Exact answers; Thresholdout as it was analysed, with a budget; and intervals from code length."""
        return {PLAIN: Naive(), REUSABLE: self.reusable, CHECKED: GuessAndCheck()}

    @property
    def reusable(self) -> Thresholdout:
        """Thresholdout with this setting's threshold, noise and budget."""
        unit = 0.5 / math.sqrt(self.rows)
        return Thresholdout(threshold=self.threshold * unit, scale=self.tolerance * unit, budget=self.budget)

    @property
    def promised(self) -> float:
        """The half-width that Theorem D2 gives every answer of Thresholdout's plan."""
        return self.reusable.reach(self.rows, self.asks)


def play(
    setting: Freedman, holdout: Holdout, train: Side, sealed: Bits, questions: Sequence[Query]
) -> tuple[list[Point], bool]:
    """Ask about every feature, then about votes of more and more of those kept; and whether any interval missed.

    A question's guess is its value on the training rows. ``sealed`` are the holdout's features and ``questions`` those
    about each of them; its labels are in the holdout alone.
    """
    edge, missed = 1 / math.sqrt(setting.rows), False

    def ask(question: Query, guess: float, truth: float) -> tuple[float, float, float]:
        nonlocal missed
        answer = holdout.ask(question, guess, guess_se=edge / 2)
        missed |= not answer.low - SLIP <= truth <= answer.high + SLIP
        return answer.value, answer.low, answer.high

    seen = [train.right(feature) for feature in train.features]
    told = [ask(*each)[0] for each in zip(questions, seen, setting.chances.tolist(), strict=True)]
    ours, theirs = 2 * np.array(seen) - 1, 2 * np.array(told) - 1
    kept = np.flatnonzero((np.minimum(np.abs(ours), np.abs(theirs)) > edge) & (ours * theirs > 0))
    kept = kept[np.argsort(-np.abs(ours[kept]), kind="stable")]
    points = []
    for count in setting.counts:
        chosen = kept[:count]
        signs = np.sign(ours[chosen])
        score, truth = train.right(vote(train.features, chosen, signs)), setting.truth(chosen, signs)
        points.append(Point(count, score, *ask(accuracy(vote(sealed, chosen, signs)), score, truth), truth))
    return points, missed


def run(
    setting: Freedman,
    repetitions: int = 15,
    seed: int = 0,
    holdouts: Sequence[str] = (PLAIN, REUSABLE, CHECKED),
    progress: Callable[[int, int], None] | None = None,
) -> list[HoldoutOutcome]:
    """The same analyst with the same rows at each holdout, ``repetitions`` times on fresh rows.

    The same seed gives the same rows and the same noise.
    With 10,000 rows and features a repetition takes about 12 seconds.

    >>> plain, = run(Freedman(rows=400, features=400, counts=(20,)), repetitions=5, holdouts=[PLAIN])
    >>> (point,) = plain.medians()
    >>> round(point.truth, 6), point.reported > 0.57, plain.missed
    (0.5, True, 5)
    """
    if repetitions < 1:
        raise ValueError(f"an experiment has at least one repetition, not {repetitions}")
    outcomes = [HoldoutOutcome(name) for name in holdouts]
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, setting.signal, repetition])
        train, sealed = setting.draw(rng), setting.draw(rng)
        questions = [accuracy(feature) for feature in sealed.features]
        for outcome in outcomes:
            mechanism, store = setting.mechanisms[outcome.holdout], SeededStore(rng)
            holdout = Holdout(None, sealed.labels, mechanism=mechanism, asks=setting.asks, ledger=store)
            points, missed = play(setting, holdout, train, sealed.features, questions)
            outcome.plays.append(points)
            outcome.surprises.append(holdout.meter.surprises)
            outcome.missed += missed
        if progress is not None:
            progress(repetition + 1, repetitions)
    return outcomes
