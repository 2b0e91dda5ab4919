"""An analyst who tests whatever looks best, on labels that nothing predicts: true hypotheses survive.

A play is one sample of fair coins as labels. The analyst asks for the accuracy of random predictions, mostly with bad
guesses because surprises tell more, joins those that look better than one half into votes, and tests "its accuracy is
at most one half", which is true of every vote there is. A play is lost when any of its tests rejects. If the promise
holds, the number of lost plays is at most Binomial(plays, level); a test fails when that binomial would reach the
number seen with probability below 1e-7, which is its false-alarm rate. All seeds are fixed.

Noisy mechanisms read verdicts off noisy answers. There the analyst weighs each prediction by how much better than one
half it was said to be, and tests on the way and at the end, at levels of which none is above the one that is counted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import unworn.mechanisms
from tests.two_sizes import in_two_sizes, reseeded
from unworn import Holdout, Unaskable, accuracy, compare
from unworn.bounds.noisy_means import count_limits
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import (
    BoundedNoise,
    Gaussian,
    GuessAndCheck,
    Laplace,
    Mechanism,
    Offer,
    Rounding,
    SampleSplitting,
    State,
)
from unworn.mechanisms.contract.symbol import Symbol
from unworn.queries.query import Facts

ALARM = 1e-7
ROWS = 400


class Uncorrected(GuessAndCheck):
    """Tests at the level itself, as if nothing had been asked before: what everybody does."""

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        assert facts.null is not None
        return replace(super().offer_test(state, facts, position), log_level=float(np.log(facts.null[2])))


def lost(mechanism: Mechanism, seed: int, level: float, probes: int) -> bool:
    """Whether the analyst gets a true hypothesis rejected."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, ROWS)
    plan = probes + probes // 5 + 2
    splits = isinstance(mechanism, SampleSplitting)
    holdout = Holdout(None, labels, mechanism=mechanism, asks=plan if splits else None, ledger=SeededStore(rng))
    guesses = np.where(rng.random(probes) < 0.5, 0.0, 0.5)
    votes = np.zeros(ROWS)
    for probe in range(probes):
        predictions = rng.integers(0, 2, ROWS)
        seen = holdout.score(predictions, guess=guesses[probe]).value
        votes += np.sign(seen - 0.5) * (2 * predictions - 1)
        if probe % 5 == 4 and holdout.test(accuracy((votes > 0).astype(int)), level, above=0.5):
            return True
    best, worst = (votes > 0).astype(int), (votes < 0).astype(int)
    if holdout.test(accuracy(worst), level, below=0.5):
        return True
    # The vote is as good as its opposite, in the population.
    return bool(holdout.test(compare(accuracy(best), accuracy(worst)), level))


def check(mechanism: Mechanism, level: float, plays: int, probes: int, seed: int) -> int:
    number = sum(lost(mechanism, reseeded(seed) + play, level, probes) for play in range(plays))
    assert binom.sf(number - 1, plays, level) >= ALARM, f"{number} of {plays} plays lost at level {level}"
    return number


GUESSING = [GuessAndCheck(), GuessAndCheck(z=0.1, cell=0.01)]


@pytest.mark.parametrize("level", [0.5, 0.05])
@pytest.mark.parametrize("mechanism", [*GUESSING, Rounding(20), SampleSplitting()], ids=repr)
@in_two_sizes(short=(25, 20), full=(400, 40))
def test_true_hypotheses_survive_a_search(mechanism: Mechanism, level: float, size: tuple[int, int]) -> None:
    """All of 25 plays lost reject at one half, 11 at 0.05; of 400 plays 253 and 47."""
    plays, probes = size
    check(mechanism, level, plays, probes, seed=10_000)


def test_the_same_search_without_correction_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: 11 lost plays of 25 reject. Of 200 plays 199 are lost; of 25, ten or fewer: a probability below 1e-20."""
    monkeypatch.setitem(unworn.mechanisms._OTHERS, "Uncorrected", Uncorrected)
    talkative = Uncorrected(z=0.1, cell=0.01)
    with pytest.raises(AssertionError, match="plays lost"):
        check(talkative, 0.05, plays=25, probes=20, seed=100)


# ---------------------------------------------------------------------------- verdicts read off noisy answers


class CorrectedForNoiseAlone(BoundedNoise):
    """Allows for the noise, and for chance, but not for hypotheses that were chosen by looking."""

    def is_rejected(self, offer: Offer, symbol: Symbol) -> bool:
        assert offer.null is not None
        assert isinstance(symbol, int)
        reach, (side, null, _) = int(self.noised(offer.rows).scale) - 1, offer.null
        low, high = count_limits(symbol - reach, symbol + reach, offer.rows, -self.test_level(offer))
        return low > null if side > 0 else high < null


def lost_to_weights(mechanism: Mechanism, seed: int, level: float, confidence: float, rows: int, probes: int) -> bool:
    """Whether she gets a true hypothesis rejected, by a test at this level or a smaller one."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, rows)
    given = {"mechanism": mechanism, "asks": probes + 5, "confidence": confidence, "ledger": SeededStore(rng)}
    holdout = Holdout(None, labels, **given)  # type: ignore[arg-type]
    weights, rejected = np.zeros(rows), False

    def rejects(prediction: np.ndarray, at: float, **null: float) -> bool:
        try:
            return bool(holdout.test(accuracy(prediction), at, **null))  # type: ignore[arg-type]
        except Unaskable:  # no rows could reject it in this plan
            return False

    for probe in range(1, probes + 1):
        predictions = rng.integers(0, 2, rows)
        weights += (holdout.score(predictions).value - 0.5) * (2 * predictions - 1)
        if probe % (probes // 3) == 0:
            rejected |= rejects((weights > 0).astype(int), level / (1 + rng.integers(2)), above=0.5)
    best, worst = (weights > 0).astype(int), (weights < 0).astype(int)
    rejected |= rejects(worst, level, below=0.5)
    return rejected or bool(holdout.test(compare(accuracy(best), accuracy(worst)), level))


def check_noise(mechanism: Mechanism, level: float, confidence: float, size: tuple[int, int, int]) -> None:
    plays, rows, probes = size
    lost = sum(lost_to_weights(mechanism, reseeded(500) + n, level, confidence, rows, probes) for n in range(plays))
    assert binom.sf(lost - 1, plays, level) >= ALARM, f"{lost} of {plays} plays lost at level {level}"


BY_F, BY_D2 = [BoundedNoise(), Gaussian()], [BoundedNoise(accounting="D2"), Laplace()]
SEARCHES = [
    *((noise, *levels) for noise in BY_F for levels in [(0.95, 0.05), (0.5, 0.5), (0.5, 0.05), (0.95, 0.5)]),
    *((noise, *levels) for noise in BY_D2 for levels in [(0.95, 0.05), (0.5, 0.5), (0.5, 0.3)]),
]


@pytest.mark.parametrize(("mechanism", "confidence", "level"), SEARCHES, ids=lambda each: repr(each)[:40])
@in_two_sizes(short=(24, 500, 12), full=(200, 2000, 100))
def test_true_hypotheses_survive_a_search_by_noise(
    mechanism: Mechanism, confidence: float, level: float, size: tuple[int, int, int]
) -> None:
    """All of 24 plays lost reject at one half, 20 at 0.3 and 11 at 0.05."""
    check_noise(mechanism, level, confidence, size)


def test_a_verdict_that_forgets_who_chose_the_question_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: 8 lost plays of 12 reject at 0.05, and each is lost with a chance above 0.97."""
    monkeypatch.setitem(unworn.mechanisms._OTHERS, "CorrectedForNoiseAlone", CorrectedForNoiseAlone)
    with pytest.raises(AssertionError, match="plays lost"):
        check_noise(CorrectedForNoiseAlone(0.04, accounting="F"), 0.05, 0.95, (12, 1000, 150))
