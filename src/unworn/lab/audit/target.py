"""What can be audited: anything that can be run again and again on two inputs that differ in one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.lab.audit.claim import Claim

Outputs = NDArray[Any]
"""One row per trial: what it released, as numbers. NaN means that nothing came out at this place."""

Run = Callable[[Any, int, np.random.Generator], Outputs]
"""``run(input, trials, rng)``: so many independent runs on one input, all randomness from ``rng``."""


@dataclass(frozen=True)
class Outcome:
    """An event: a yes or no for every trial, decided by its output alone."""

    label: str
    holds: Callable[[Outputs], NDArray[np.bool_]]

    def count(self, outputs: Outputs) -> int:
        """How many trials have it.

        >>> Outcome("positive", lambda outputs: outputs[:, 0] > 0).count(np.array([[1.0], [-1.0], [2.0]]))
        2
        """
        told = np.asarray(self.holds(outputs))
        if told.shape != (len(outputs),) or not (told.dtype == np.bool_ or np.isin(told, (0, 1)).all()):
            raise ValueError(
                f"the outcome {self.label!r} must say true or false of each of {len(outputs)} trials, in an array of "
                f"shape ({len(outputs)},), and returned shape {told.shape} of {told.dtype}"
            )
        return int(told.sum())


@dataclass(frozen=True)
class Pair:
    """Two inputs that differ in one row.

    ``hints`` are outcomes by which, as somebody knows, the two are told apart well. An audit tries them beside those it
    finds by itself: a bad hint costs nothing, a good one saves trials.
    """

    first: Any
    second: Any
    label: str = "neighbours"
    hints: tuple[Outcome, ...] = ()


@dataclass(frozen=True)
class Target:
    """A mechanism as an auditor sees it: a claim, pairs of neighbouring inputs, and a way to run it.

    Parameters
    ----------
    run
        ``run(input, trials, rng)`` returns an array with one row or one number per trial. The trials must be
        independent and take all their randomness from ``rng``, a NumPy generator.
    trials
        How many runs on each input an audit makes unless told otherwise.
    broken
        Whether it is known not to keep its claim: a control, which shows that the audit is able to fail.

    Examples
    --------
    A count of rows with noise drawn from a bell curve, claimed to be 1-Gaussian differentially private:

    >>> from unworn.lab.audit import Claim, Pair, Target, audit
    >>> def noisy(count, trials, rng):
    ...     return count + rng.normal(0.0, 0.5, trials)        # should have been 1.0
    >>> audit(Target("mine", Claim.gaussian(1.0), (Pair(10, 11),), noisy), trials=20_000).refuted
    True
    """

    name: str
    claimed: Claim
    pairs: Sequence[Pair]
    run: Run
    trials: int = 20_000
    broken: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        if not self.pairs:
            raise ValueError(f"{self.name} has no pairs: give at least one Pair of inputs that differ in one row")

    def outputs(self, given: Any, trials: int, rng: np.random.Generator) -> Outputs:
        """One row per trial, checked: a run that returns another number of trials would bias every estimate."""
        said = self.run(given, trials, rng)
        must = f"{self.name}: run(input, {trials}, rng) must return {trials} rows of numbers, one per trial, "
        try:
            told = np.asarray(said)
        except ValueError:
            raise ValueError(must + "all of the same length: pad what came short with NaN") from None
        if told.ndim == 1:
            told = told[:, np.newaxis]
        if told.ndim != 2 or len(told) != trials or told.dtype.kind not in "biuf":
            raise ValueError(must + f"and returned shape {told.shape} of {told.dtype}")
        if not told.shape[1]:
            raise ValueError(must + "and returned rows without any: NaN says that nothing came out")
        return told
