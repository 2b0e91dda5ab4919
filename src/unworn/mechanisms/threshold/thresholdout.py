"""Thresholdout: the reusable holdout, as it was analysed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from unworn.mechanisms.threshold.checked_guess import CheckedGuess
from unworn.mechanisms.threshold.secret_threshold import check_limit, check_positive, check_share


@dataclass(frozen=True)
class Thresholdout(CheckedGuess):
    """Answer with the training value, unless the holdout's value is farther from it than T; all compared with noise.

    T̂ = T + Lap(2σ), |E_h φ − E_t φ| + Lap(4σ) against T̂; where that is above, E_h φ + Lap(σ), with a fresh T̂ for the
    next question and one less of ``budget``. A run is (2B/(σn), 0)-private, and its profile is that of 2B coins of
    randomised response with parameter 1/(σn). Published demonstrations took short cuts that this analysis does not
    cover (Gaussian noise, one T̂ for ever, no budget); none of them is here.

    Parameters
    ----------
    threshold
        T, as a share of the range; None for what lets honest training values pass.
    scale
        σ, as a share of the range; None leaves it to the plan.
    budget
        B: how many questions are answered from the holdout because the training value overfits.

    Examples
    --------
    >>> from unworn.bounds.sparse.sparse_vector_bounds import run_profile
    >>> run_profile(Thresholdout(threshold=0.04, scale=0.01, budget=20).run(10_000))
    Homogeneous(epsilon=0.01, floor=0.0, k=40)

    References
    ----------
    Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, "Generalization in adaptive data analysis and holdout reuse",
    NeurIPS 2015, Figure 1.
    """

    choices: ClassVar[tuple[str, ...]] = ("threshold", "scale")
    value_noise: ClassVar[float] = 1.0

    scale: float | None = None
    budget: int = 10

    def __post_init__(self) -> None:
        check_share("threshold", self.threshold)
        check_positive("scale", self.scale)
        check_limit("budget", self.budget)

    @property
    def limit(self) -> int:
        return self.budget

    @property
    def unit(self) -> float | None:
        return self.scale

    def in_rows(self, rows: int) -> float:
        return rows * (self.scale or 1.0)

    def of_unit(self, unit: float, rows: int) -> Self:
        return replace(self, scale=unit / rows)
