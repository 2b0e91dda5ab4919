"""How wide metrics are that are no plain shares: beside a test set that nobody touched, and Bonferroni's correction.

Each is ask 300 after honest guesses from a training set of equal size, so the rows are as expected and nothing is
simulated: losses are as skewed as exponential ones, and scores are exponential. A plain test set has the usual interval
for this question alone: Clopper and Pearson's, the normal one, or DeLong's; Bonferroni's is the same for 300 questions
that were fixed beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from table import Row, compared
from unworn.bounds.questions import (
    conditional_share_limits,
    declared_rows,
    declared_variance,
    exponential_placements,
    hanley_mcneil,
    mean_error,
    ranking_error,
    share_error,
)
from unworn.mechanisms import Guess, GuessAndCheck
from unworn.mechanisms.coded.coded_mechanism import typical_state
from unworn.mechanisms.contract.conversation import published_width
from unworn.mechanisms.contract.mechanism import FinalPlace, Symbol
from unworn.queries.query import Facts

BETA, ASKS = 0.05, 300
SUBSET, AREA = Facts("conditional", 0.0, 1.0, zero_one=True), Facts("ranking", 0.0, 1.0)


@dataclass(frozen=True)
class Metric:
    """A question as its rows are expected to be: the guess, its final symbol, and a plain standard error or limits."""

    name: str
    facts: Facts
    guess: Guess
    final: Symbol
    plain: float
    bonferroni: float
    goal: float

    def widths(self, rows: int) -> tuple[float, float]:
        """Released, if the guess is right; and final."""
        mechanism = GuessAndCheck()
        state = typical_state(mechanism.begin(rows, 1 - BETA), ASKS, 0, 0.0)
        offer = mechanism.offer(state, self.facts, self.guess)
        final = mechanism.offer_final(state, self.facts, FinalPlace(told=(offer, 0)))
        return published_width(mechanism, offer, 0), published_width(mechanism, final, self.final)


def metrics(rows: int) -> Iterator[Metric]:
    """A share of a tenth of the rows, dollars in a wide range, a log loss, and areas under ROC curves."""
    tenth = rows // 10
    shares = [conditional_share_limits(round(0.9 * tenth), tenth, math.log(b / 2)) for b in (BETA, BETA / ASKS)]
    plain, corrected = ((high - low) / 2 for low, high in shares)
    guess = Guess(0.9, share_error(0.9, tenth), origin="train", gauge=float(declared_rows(0.1, rows, rows)))
    yield Metric("share .9 of a tenth", SUBSET, guess, [round(0.9 * tenth), tenth], plain, corrected, 1.25)
    for name, high, mean, deviation in (
        ("dollars, mean 289 of 5,000", 5_000.0, 289.0, 450.0),
        ("log loss .45 of 10", 10.0, 0.45, 0.5),
    ):
        variance = (deviation / high) ** 2
        gauge = declared_variance(variance, 9 * variance**2, rows, rows)
        guess = Guess(mean, high * mean_error(variance, rows), origin="train", gauge=gauge)
        error = deviation / math.sqrt(rows)
        facts = Facts("unit", 0.0, high)
        final: Symbol = [mean, variance, 2 * variance**1.5, 9 * variance**2]
        yield Metric(name, facts, guess, final, _z(BETA) * error, _z(BETA / ASKS) * error, 2.0)
    for area, few in ((0.8, rows // 2), (0.95, rows // 2), (0.9, tenth), (0.95, tenth)):
        covariances = hanley_mcneil(area)
        error = ranking_error(area, covariances, few, rows - few)
        guess = Guess(area, error, origin="train", gauge=float(declared_rows(few / rows, rows, rows)))
        rarer = exponential_placements(area, of_positives=True)
        final = [few, rows - few, area, area * (1 - area), *covariances, rarer.third, rarer.fourth]
        name = f"area {area:g}, {few / rows:.0%} positive"
        yield Metric(name, AREA, guess, final, _z(BETA) * error, _z(BETA / ASKS) * error, 3.0)


def metric_widths() -> list[Row]:
    """Final widths beside a plain test set's, with a goal; released ones beside a plain test set's and Bonferroni's."""
    found = []
    for rows in (1_000, 10_000, 100_000):
        for metric in metrics(rows):
            released, final = metric.widths(rows)
            what = f"{metric.name}, {rows:,} rows"
            found.append(compared(f"final, plain: {what}", final, metric.plain, metric.goal))
            found.append(compared(f"released, plain: {what}", released, metric.plain))
            found.append(compared(f"final, Bonferroni: {what}", final, metric.bonferroni))
    return found


def _z(beta: float) -> float:
    return -NormalDist().inv_cdf(beta / 2)
