"""An analyst who tests whatever looks best, on labels that nothing predicts: true hypotheses survive.

A play is one sample of fair coins as labels. The analyst asks for the accuracy of random predictions, mostly with bad
guesses because surprises tell more, joins those that look better than one half into votes, and tests "its accuracy is
at most one half", which is true of every vote there is. A play is lost when any of its tests rejects. If the promise
holds, the number of lost plays is at most Binomial(plays, level); a test fails when that binomial would reach the
number seen with probability below 1e-7, which is its false-alarm rate. All seeds are fixed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import unworn.mechanisms
from tests.two_sizes import in_two_sizes, reseeded
from unworn import Holdout, accuracy, compare
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import GuessAndCheck, Mechanism, Offer, Rounding, SampleSplitting, State
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
