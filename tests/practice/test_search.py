"""An honest search, from end to end: what practice rows are for."""

from __future__ import annotations

import numpy as np

from unworn import Holdout
from unworn.answer import Answer
from unworn.ledger.seeded import SeededStore


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
    """With practice rows no surprise, where last answers have 136; the chosen model's interval is a fourth as wide.

    Each model's coins are its own, so surprises are independent, below 1e-4 each (four standard errors): six or more
    of 200 have probability below 1e-12.
    """
    holdout, best, truth = search(5_000, 200, 0.25, 1)
    assert holdout.meter.surprises <= 5
    sharp = holdout.sharpen(best)
    assert sharp.low <= truth <= sharp.high
    without, other, skill = search(5_000, 200, 0.0, 1)
    assert without.meter.surprises > 100
    blunt = without.sharpen(other)
    assert blunt.low <= skill <= blunt.high
    assert sharp.width < blunt.width / 2
    assert truth > skill - 0.02
