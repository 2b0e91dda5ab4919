"""How much of a practice gain is luck, in worlds whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from unworn.boards.gating.gate_luck import ProposalStep, estimate_gain


def climbed(effects: np.ndarray, error: float, seed: int) -> tuple[list[ProposalStep], float, float]:
    """Steps that were kept where they looked better: all of them, the practice gain, and the true one."""
    noise = error * np.random.default_rng(seed).standard_normal(len(effects))
    steps = [ProposalStep(float(gain), error, bool(gain > 0)) for gain in effects + noise]
    kept = np.array([step.is_kept for step in steps])
    return steps, sum(step.gain for step in steps if step.is_kept), float(effects[kept].sum())


@pytest.mark.parametrize(
    ("good", "other", "share"), [(0.0046, 0.0, 0.1), (0.0046, -0.0015, 0.1), (0.0, 0.0, 0.0), (0.02, -0.01, 0.5)]
)
def test_luck_is_taken_off_within_a_few_standard_errors(good: float, other: float, share: float) -> None:
    error = 0.0028
    for seed in range(5):
        effects = np.where(np.random.default_rng(seed).random(400) < share, good, other)
        steps, practice, truth = climbed(effects, error, 100 + seed)
        spread = error * sum(step.is_kept for step in steps) ** 0.5
        estimate = estimate_gain(steps, steps, practice, spread)
        assert abs(estimate - truth) < 4.5 * spread
        assert estimate < practice + spread


def test_what_was_undone_since_is_no_longer_luck() -> None:
    steps, practice, _ = climbed(np.zeros(200), 0.003, 1)
    kept = sum(step.is_kept for step in steps)
    whole = estimate_gain(steps, steps, practice, 0.003 * kept**0.5)
    part = estimate_gain(steps, steps, practice, 0.5 * 0.003 * kept**0.5)
    assert practice - part == pytest.approx((practice - whole) / 4)


def test_a_single_clear_gain_stays_as_it_is() -> None:
    steps = [ProposalStep(0.1, 0.001, True)]
    assert estimate_gain(steps, steps, 0.1, 0.001) == pytest.approx(0.1, rel=0.02)


def test_nothing_kept_and_nothing_varying_leave_the_gain_alone() -> None:
    assert estimate_gain([], [], 0.25, 0.1) == 0.25
    assert estimate_gain([ProposalStep(0.1, 0.0, True)], [ProposalStep(0.1, 0.0, True)], 0.1, 0.0) == 0.1
