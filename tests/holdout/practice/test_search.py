"""An honest search, from end to end: what practice rows are for."""

from __future__ import annotations

import numpy as np

from unworn import Holdout
from unworn.ledger.seeded_keys import SeededStore
from unworn.record.answer import Answer


def search(rows: int, models: int, practice: float, seed: int) -> tuple[Holdout, Answer, float]:
    """Score models one after another, each right about a share of the rows; the best, and its true share."""
    rng = np.random.default_rng([20, seed])
    labels = rng.integers(0, 2, rows)
    holdout = Holdout(None, labels, practice=practice, ledger=SeededStore(rng))
    best: Answer | None = None
    truth = 0.0
    for skill in 0.6 + 0.25 * rng.beta(2, 2, models):
        answer = holdout.score(np.where(rng.random(rows) < skill, labels, 1 - labels))
        if best is None or answer.value > best.value:
            best, truth = answer, float(skill)
    assert best is not None
    return holdout, best, truth


def test_two_hundred_models_on_five_thousand_rows() -> None:
    """With practice rows no surprise and a final ± .013; without, 68 nats are spent on noise and it ends at ± .075.

    Each model's coins are its own, so surprises are independent, below 1e-3 each (three and a half standard errors for
    the first thirty, then four): six or more of 200 have probability below 1e-7.
    """
    holdout, best, truth = search(5_000, 200, 0.25, 1)
    assert holdout.meter.surprises <= 5
    final = holdout.final(best)
    assert final.low <= truth <= final.high
    without, other, skill = search(5_000, 200, 0.0, 1)
    assert without.meter.spent > 5 + holdout.meter.spent
    blunt = without.final(other)
    assert blunt.low <= skill <= blunt.high
    assert final.width < blunt.width / 2
    assert truth > skill - 0.02
