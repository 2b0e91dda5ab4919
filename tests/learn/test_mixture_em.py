"""EM by asking: the last step's limits against a population that is known exactly, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from unworn import Holdout
from unworn.errors import Exhausted, Unaskable
from unworn.learn import fit_mixture
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Gaussian
from unworn.queries.learning.mixture_moments import Moment
from unworn.rows import Sample

BOUNDS = {"x": (-4.0, 4.0)}


def test_the_populations_own_step_lies_inside_the_limits():
    """At a confidence of 1 - 1e-8: a false alarm is rarer than one in a million."""
    rng = np.random.default_rng(0)
    everybody = np.concatenate([rng.normal(-2, 0.5, 60), rng.normal(1, 0.7, 140)])
    truth = Sample.read({"x": everybody})
    drawn = everybody[rng.integers(0, 200, 100_000)]
    store = SeededStore(np.random.default_rng(1))
    holdout = Holdout({"x": drawn}, mechanism=Gaussian(), asks=60, confidence=1 - 1e-8, ledger=store)
    found = fit_mixture(holdout, BOUNDS, 2, iterations=10)
    assert (found.asks, holdout.meter.asked) == (60, 60)
    for place in range(2):
        share, first = truth.means([Moment(found.before, place, 0, 0), Moment(found.before, place, 0, 1)])
        assert found.weights[place][0] <= share <= found.weights[place][1]
        assert found.means[place][0][0] <= first / share <= found.means[place][0][1]
    # At this confidence there is much noise, and still the two groups are told apart.
    assert sorted(4 * mean[0] for mean in found.mixture.means) == pytest.approx([-2, 1], abs=1.2)


def test_refusals_come_before_asks():
    holdout = Holdout({"x": np.arange(1000.0)}, mechanism=Gaussian(), asks=6, ledger=None)
    for wrong in ({"iterations": 0}, {"iterations": 1, "components": 0}, {"iterations": 1, "narrowest": 0.0}):
        with pytest.raises(ValueError):
            fit_mixture(holdout, BOUNDS, **wrong)
    with pytest.raises(Exhausted):
        fit_mixture(holdout, BOUNDS, iterations=2)
    with pytest.raises(Unaskable):
        fit_mixture(holdout, {"z": (0.0, 1.0)}, iterations=1)
    with pytest.raises(Unaskable):
        fit_mixture(holdout, {}, iterations=1)
    assert holdout.meter.asked == 0
