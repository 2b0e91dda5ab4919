"""How much of a gain in practice is luck: learned from all proposals, those that were reverted too.

Whoever keeps what looks better keeps good changes and lucky ones. How many of which can be told from the gains of *all*
proposals, kept or not, because each has a known standard error: the spread that errors do not explain is real. Taking
the errors off (deconvolution, by maximum likelihood on a grid, as in empirical Bayes) gives what is to be expected of
each kept step. And luck fades: a later change of the same rows undoes what an earlier one won there by chance. How much
of it is left shows in the practice rows as well: the difference between both ends varies less than all the steps
together do.

None of this is promised; it makes a guess, and the check rows say whether it is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

_GRID, _ROUNDS, _NOTHING = 81, 100, 3.0
"""Effects that are told apart; steps of the fit; and how many proposals without any effect it starts from."""
_TINY = 1e-12


@dataclass(frozen=True)
class ProposalStep:
    """A proposal against what was kept before it, on practice rows: the gain, its standard error, and the verdict."""

    gain: float
    error: float
    is_kept: bool


def estimate_gain(history: Sequence[ProposalStep], segment: Sequence[ProposalStep], gain: float, error: float) -> float:
    """What is to be expected of a ``gain`` in practice, reached by the kept steps of a ``segment``.

    ``history`` are all steps so far, and ``error`` is the gain's standard error.

    >>> rng = np.random.default_rng(1)
    >>> gains = 0.003 * rng.standard_normal(400) + np.where(np.arange(400) % 10, 0.0, 0.006)
    >>> steps = [ProposalStep(float(gain), 0.003, bool(gain > 0)) for gain in gains]
    >>> kept = [step for step in steps if step.is_kept]
    >>> practice = sum(step.gain for step in kept)
    >>> estimate = estimate_gain(steps, steps, practice, 0.003 * len(kept) ** 0.5)
    >>> round(practice, 2), round(estimate, 2), round(sum(0.006 for gain in gains[::10] if gain > 0), 2)
    (0.59, 0.18, 0.24)
    """
    kept = [step for step in segment if step.is_kept]
    varying = sum(step.error**2 for step in kept)
    if not kept or not varying:
        return gain
    luck = sum(step.gain for step in kept) - float(_expected_effects(history, kept).sum())
    return gain - min(1.0, error**2 / varying) * luck


def _expected_effects(history: Iterable[ProposalStep], steps: Sequence[ProposalStep]) -> np.ndarray:
    """The effect to expect of each step, given the effects that all steps of the history seem to have."""
    gains, errors = _columns(history)
    reach = max(float(np.abs(gains).max(initial=0.0)), _TINY)
    grid = np.linspace(-reach, reach, _GRID)
    chances = _likelihoods(gains, errors, grid)
    weights, nothing = np.full(_GRID, 1.0 / _GRID), np.zeros(_GRID)
    nothing[_GRID // 2] = _NOTHING  # few proposals prove little
    for _ in range(_ROUNDS):
        shares = chances * weights
        shares /= shares.sum(axis=1, keepdims=True)
        weights = np.maximum((shares.sum(axis=0) + nothing) / (len(gains) + _NOTHING), _TINY)
    shares = _likelihoods(*_columns(steps), grid) * weights
    return np.asarray((shares * grid).sum(axis=1) / shares.sum(axis=1))


def _columns(steps: Iterable[ProposalStep]) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array([(step.gain, step.error) for step in steps], dtype=float).reshape(-1, 2)
    return pairs[:, 0], np.maximum(pairs[:, 1], _TINY)


def _likelihoods(gains: np.ndarray, errors: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Of every effect given every gain, each row scaled so that its best is 1: only shares of a row matter."""
    squares = ((gains[:, None] - grid) / errors[:, None]) ** 2
    return np.asarray(np.exp(-0.5 * (squares - squares.min(axis=1, keepdims=True))))
