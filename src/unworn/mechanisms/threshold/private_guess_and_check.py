"""PrivateGuessAndCheck: right guesses are nearly free, a fixed number of wrong ones is answered with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unworn.mechanisms.threshold.checked_guess import PrivatelyCheckedGuess
from unworn.mechanisms.threshold.secret_threshold import check_limit, check_positive, check_share


@dataclass(frozen=True)
class PrivateGuessAndCheck(PrivatelyCheckedGuess):
    """Compare the rows with a guess behind a secret threshold; answer with the guess, or else with a noisy count.

    Each threshold, with all the guesses it lets pass, is ε-private; the count that ends it is released with fresh
    noise for ε/4 more. The run ends after ``tops`` wrong guesses. Errors grow like the fourth root of ``tops``, where
    the deterministic :class:`~unworn.mechanisms.GuessAndCheck` pays the square root: use this one to hide rows, or for
    thousands of wrong guesses.

    Parameters
    ----------
    threshold
        How far a guess may be off, as a share of the range; None for what lets right guesses pass.
    epsilon
        What one threshold may reveal about one row; None leaves it to the plan.
    tops
        How many wrong guesses are answered.
    tolerance
        How far from the rows a right guess may be, where ``threshold`` is chosen: by default four standard errors of
        guess and rows combined.

    Examples
    --------
    >>> checked = PrivateGuessAndCheck.for_(rows=1_000_000, asks=10_000)
    >>> round(checked.reach(1_000_000, 10_000), 3), checked.tops
    (0.032, 10)

    References
    ----------
    Smith, "The sparse vector technique", lecture notes, *The Algorithmic Foundations of Adaptive Data Analysis*.
    """

    choices: ClassVar[tuple[str, ...]] = ("threshold", "epsilon")

    tops: int = 10
    tolerance: float | None = None

    def __post_init__(self) -> None:
        check_share("threshold", self.threshold)
        check_positive("epsilon", self.epsilon, 700.0)
        check_limit("tops", self.tops)
        check_share("tolerance", self.tolerance)

    @property
    def limit(self) -> int:
        return self.tops

    @property
    def tolerated(self) -> float | None:
        return self.tolerance
