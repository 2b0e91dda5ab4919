"""MultiplicativeWeights: guesses from a synthetic distribution, which every wrong guess brings nearer to the rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from unworn.errors import Exhausted
from unworn.mechanisms.contract.capabilities import EncodesItself, GuessesItself
from unworn.mechanisms.contract.mechanism import Guess, Offer
from unworn.mechanisms.noisy.noisy_mechanism import check_goal
from unworn.mechanisms.synthetic.learned_weights import MOST_CELLS, LearnedWeights, most_updates, steps_of
from unworn.mechanisms.synthetic.wrong_guesses import FollowedRecords
from unworn.mechanisms.threshold.checked_guess import PrivatelyCheckedGuess
from unworn.mechanisms.threshold.secret_threshold import check_positive, check_share
from unworn.queries.query import Facts, Query
from unworn.universe.domain.domain import Domain

if TYPE_CHECKING:
    from unworn.mechanisms.contract.record import Record

_LEAST = 1e-3
"""The smallest gap: below it rounding would show in the number of updates, and there would be millions of them."""
_MOST = 0.5
_TRIED = 400


@dataclass(frozen=True)
class MultiplicativeWeights(PrivatelyCheckedGuess, GuessesItself, EncodesItself):
    """Private multiplicative weights: answer from a synthetic distribution, check privately, and correct its mistakes.

    A guess is the question's value under the distribution p. One that passes the secret threshold is the answer. One
    that does not is, barring bad luck, off by at least ``gap``: the answer is then a noisy count, and p is tilted until
    it gives the question a value t that the rows are now known to exceed. With h the rows' own distribution, f the
    question and g its value under p, the tilt multiplies each cell by r^f, r = t(1 - g) / ((1 - t)g), and lowers
    KL(h‖p) by f(h)·ln r - ln Σ p·r^f. Since r^f <= 1 - f + r·f, this is at least kl(t‖g) >= 2(t - g)² (Pinsker).
    KL(h‖p) is at most ln(cells) at first and never negative, so at most ln(cells)/(2·gap²) guesses are wrong, whatever
    is asked and however often. The asker's own guesses are not used. Rows outside the domain make guesses worse, but
    never an interval wrong.

    Parameters
    ----------
    threshold
        How far a guess may be off, as a share of the range; None for what lets every guess within ``gap`` pass. If you
        choose one yourself, it is up to you that wrong guesses are off by the gap.
    epsilon
        What one secret threshold may reveal about one row; None leaves it to the plan.
    gap
        By how much every wrong guess is off at least, as a share of the range: this determines how many can be wrong.
        None for what makes the intervals narrowest.
    domain
        The values of each column that questions are about: ``{"age": [20, 40, 60], "plan": ["basic", "pro"]}``. At most
        2^22 (four million) combinations.

    Examples
    --------
    >>> yes_no = {f"x{place}": [0, 1] for place in range(16)}
    >>> weights = MultiplicativeWeights.for_(rows=10_000_000, asks=1_000_000, domain=yes_no)
    >>> round(weights.gap, 3), weights.limit - 1, round(weights.reach(10_000_000, 1_000_000), 3)
    (0.03, 6145, 0.09)

    References
    ----------
    Hardt and Rothblum, "A multiplicative weights mechanism for privacy-preserving data analysis", FOCS 2010; Dwork and
    Roth, *The Algorithmic Foundations of Differential Privacy*, 2014, Section 4.2.
    """

    choices: ClassVar[tuple[str, ...]] = ("gap", "threshold", "epsilon")
    agreed: ClassVar[str] = "synthetic"

    gap: float | None = None
    domain: Domain | Mapping[str, Iterable[Any]] = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain", self.domain if isinstance(self.domain, Domain) else Domain(self.domain))
        if self.universe.origin == "rows":
            raise ValueError(
                "this domain was read off the rows, and no noise hides that: declare what columns can hold"
            )
        check_share("threshold", self.threshold)
        check_positive("epsilon", self.epsilon, 700.0)
        check_share("gap", self.gap, _LEAST, _MOST)
        if self.points < 2:
            raise ValueError("a domain of a single point leaves nothing to ask: give its columns more values")
        if self.points > MOST_CELLS:
            raise ValueError(
                f"the domain has {self.points:,} cells, and at most {MOST_CELLS:,} are kept: each has a weight, and "
                "every wrong guess changes all of them.\n"
                "  Declare fewer columns or values, or use GuessAndCheck with guesses of your own."
            )

    def __hash__(self) -> int:
        return hash((self.threshold, self.epsilon, self.gap, self.price, self.points))  # a domain's own takes long

    # ------------------------------------------------------------------ the guess

    def own_guess(self, query: Query, facts: Facts, records: Sequence[Record]) -> Guess | None:
        """The value under the distribution that all released answers make. A test has none, and is refused later."""
        if facts.null is not None or self.gap is None:
            return None
        self.check(facts)
        axes, steps = steps_of(self.universe, query, facts.low, facts.high)
        wrong = self._followed.wrong(records)
        if len(wrong) >= self.limit:
            raise Exhausted(
                f"{len(wrong):,} guesses were wrong, and at most {self.limit - 1:,} can be where all rows lie in the "
                "domain and noise is not unusually large.\n"
                "  The answers given hold all the same. Seal fresh rows with a domain that has room for them, and ask "
                "one at a time.",
                wrong=len(wrong),
                planned=self.limit,
            )
        share = float(self._learned.weights(wrong).share(axes, steps))
        return Guess(min(facts.low + (facts.high - facts.low) * share, facts.high), origin="mechanism")

    @cached_property
    def _followed(self) -> FollowedRecords:
        return FollowedRecords(self.level)

    @cached_property
    def _learned(self) -> LearnedWeights:
        return LearnedWeights(self.universe, self.gap or _LEAST, self.value_noise * (self.unit or 1.0))

    @property
    def universe(self) -> Domain:
        """The domain, as questions are put to it."""
        return self.domain if isinstance(self.domain, Domain) else Domain(self.domain)

    @property
    def points(self) -> int:
        return self.universe.size

    # ------------------------------------------------------------------ the check, and its plan

    @property
    def limit(self) -> int:
        """One more than can be wrong by the gap: the run goes on after the last of them."""
        return most_updates(self.points, self.gap or _LEAST) + 1

    @property
    def tolerated(self) -> float | None:
        return self.gap

    def chosen(self, rows: int, asks: int, beta: float) -> Self:
        if self.gap is not None:
            return super().chosen(rows, asks, beta)
        if self.threshold is not None:
            raise ValueError("threshold= is chosen so that wrong guesses are off by the gap: give gap= too, or neither")
        found = self._nearest(0.05, rows, asks, beta)
        for _ in range(2):
            found = min(found, self._nearest(_better(*found, self.points, asks), rows, asks, beta), key=_reach)
        if found[0] >= 0.5:
            raise ValueError(
                f"MultiplicativeWeights promises ± {min(found[0], 1.0):.3g} at best with {rows:,} rows, {asks:,} asks "
                f"and a domain of {self.points:,} cells, which says nothing: {found[1].limit - 1:,} guesses may be "
                "wrong by what its threshold can tell.\n"
                "  Seal more rows, or use BoundedNoise, or GuessAndCheck with guesses of your own."
            )
        return found[1]

    def _nearest(self, gap: float, rows: int, asks: int, beta: float) -> tuple[float, Self]:
        """The narrowest intervals with this gap, and how."""
        found = replace(self, gap=gap).chosen(rows, asks, beta)
        return found.reach(rows, asks, 1 - beta), found

    @classmethod
    def for_(
        cls,
        *,
        rows: int,
        asks: int,
        width: float | None = None,
        confidence: float = 0.95,
        domain: Domain | Mapping[str, Iterable[Any]] | None = None,
    ) -> Self:
        """Gap, noise and threshold that make the intervals narrowest; refused when they pass ``width``."""
        if domain is None:
            raise ValueError(
                "MultiplicativeWeights guesses from the values that columns can have: give domain={column: [...]}"
            )
        best = cls(domain=domain).settled(rows, confidence, asks)
        check_goal(cls.__name__, best.reach(rows, asks, confidence), width, rows, asks)
        return best

    def numbers(self, offer: Offer) -> dict[str, float]:
        return {**super().numbers(offer), "cells": self.points, "gap": self.gap or 0.0, "updates": self.limit - 1}

    def to_json(self) -> dict[str, Any]:
        named = {name: getattr(self, name) for name in ("gap", "threshold", "epsilon", "price")}
        return {"name": type(self).__name__, "domain": self.universe.to_json(), **named}


def _reach(found: tuple[float, MultiplicativeWeights]) -> float:
    return found[0]


def _better(reach: float, found: MultiplicativeWeights, points: int, asks: int) -> float:
    """The best gap to judge by another: a smaller one lowers the threshold, but more guesses may be wrong by it.

    Errors grow like the fourth root of how many, which is never more than are asked.
    """
    noise, tops = reach - (found.gap or 0.0), min(found.limit, asks)

    def width(gap: float) -> float:
        many = min(most_updates(points, gap) + 1, asks)
        return gap + noise * math.sqrt(math.sqrt(many / tops))

    return min((_LEAST * math.pow(_MOST / _LEAST, place / _TRIED) for place in range(_TRIED + 1)), key=width)
