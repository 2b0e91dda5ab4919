"""MedianOracle: the mechanism guesses by itself, and every wrong guess teaches it."""

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
from unworn.mechanisms.synthetic.version_space import (
    GRID,
    LARGEST,
    data_sets,
    fits,
    log_data_sets,
    most_wrong,
    nearness,
)
from unworn.mechanisms.synthetic.wrong_guesses import FollowedRecords, surviving, weights_of
from unworn.mechanisms.threshold.checked_guess import PrivatelyCheckedGuess
from unworn.mechanisms.threshold.secret_threshold import check_positive, check_share
from unworn.queries.query import Facts, Query
from unworn.universe.domain.domain import Domain

if TYPE_CHECKING:
    from unworn.mechanisms.contract.record import Record

_REASON = (
    "listing them takes time exponential in the domain, and no efficient way is known.\n"
    "  Declare fewer columns or values, or use BoundedNoise, or GuessAndCheck with guesses of your own."
)


@dataclass(frozen=True)
class MedianOracle(PrivatelyCheckedGuess, GuessesItself, EncodesItself):
    """Guess the median of a question over all small data sets that agree with the answers so far; check it privately.

    A guess that passes is the answer, and teaches nothing. For one that does not, the answer is a noisy count, and
    every data set on the wrong side of it is ruled out: at least half of them. So hardly more than log2(number of data
    sets) guesses are wrong, whatever is asked, and one of the data sets is close to the rows for *every* question. The
    asker's own guesses are not used. Rows outside the domain make guesses worse, but never an interval wrong.

    Parameters
    ----------
    threshold
        How far a guess may be off and still pass, and how far a data set may be from an answer and still be kept, as a
        share of the range; None for what lets right guesses pass.
    epsilon
        What one secret threshold may reveal about one row; None leaves it to the plan.
    size
        How many points the data sets have; None for the number that makes the intervals narrowest.
    domain
        The values of each column that questions are about: ``{"age": [20, 40, 60], "plan": ["basic", "pro"]}``.

    Examples
    --------
    >>> oracle = MedianOracle.for_(rows=1_000_000, asks=100_000, domain={"age": [20, 40], "plan": ["basic", "pro"]})
    >>> oracle.size, oracle.limit - 1, round(oracle.reach(1_000_000, 100_000), 3)
    (226, 20, 0.044)

    References
    ----------
    Roth and Roughgarden, "Interactive privacy via the median mechanism", STOC 2010; for adaptive data analysis, Smith,
    "The sparse vector technique", lecture notes, *The Algorithmic Foundations of Adaptive Data Analysis*.
    """

    choices: ClassVar[tuple[str, ...]] = ("size", "threshold", "epsilon")

    size: int | None = None
    domain: Domain | Mapping[str, Iterable[Any]] = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain", self.domain if isinstance(self.domain, Domain) else Domain(self.domain))
        check_share("threshold", self.threshold)
        check_positive("epsilon", self.epsilon, 700.0)
        if self.points < 2:
            raise ValueError("a domain of a single point leaves nothing to ask: give its columns more values")
        size = 1 if self.size is None else self.size
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ValueError(f"size is a whole number of points from 1, not {size!r}")
        if not fits(self.points, size):
            tens = log_data_sets(self.points, size) / math.log(10)
            raise ValueError(
                f"there are about 10^{tens:.1f} data sets of size {size:,} over the domain's {self.points:,} points, "
                f"and at most {LARGEST:,} are listed: {_REASON}"
            )

    # ------------------------------------------------------------------ the guess

    def own_guess(self, query: Query, facts: Facts, records: Sequence[Record]) -> Guess | None:
        """The median over the data sets that all released answers leave. A test has none, and is refused later."""
        if facts.null is not None or self.size is None:
            return None
        self.check(facts)
        wrong = self._followed.wrong(records)
        left = surviving(self.universe, self.size, wrong)
        if not len(left):
            raise Exhausted(
                f"after {len(wrong)} wrong guesses no data set of {self.size:,} points of the domain agrees with the "
                "answers: many rows lie outside the domain, or noise was unusually large.\n"
                "  The answers given hold all the same. Seal fresh rows with a domain that has room for them.",
                wrong=len(wrong),
            )
        share = left.median(weights_of(self.universe, query, facts.low, facts.high)) / (self.size * GRID)
        return Guess(min(facts.low + (facts.high - facts.low) * share, facts.high), origin="mechanism")

    @cached_property
    def _followed(self) -> FollowedRecords:
        return FollowedRecords(self.level)

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
        """One more than can be wrong while a data set is left: the run goes on after the last of them."""
        return most_wrong(self.points, self.size or 1) + 1

    @property
    def tolerated(self) -> float | None:
        return nearness(self.points, self.size or 1)

    def chosen(self, rows: int, asks: int, beta: float) -> Self:
        if self.size is not None:
            return super().chosen(rows, asks, beta)
        sizes = _sizes(self.points)
        largest = replace(self, size=sizes[-1]).chosen(rows, asks, beta)
        # Larger data sets come nearer to the rows, but there are more of them, and errors grow like the fourth root.
        noise = largest.reach(rows, asks, 1 - beta) - nearness(self.points, sizes[-1])

        def width(size: int) -> float:
            tops = most_wrong(self.points, size) + 1
            return nearness(self.points, size) + noise * math.sqrt(math.sqrt(tops / largest.limit))

        found = replace(self, size=min(sizes, key=width)).chosen(rows, asks, beta)
        if (reach := found.reach(rows, asks, 1 - beta)) >= 0.5:
            raise ValueError(
                f"MedianOracle promises ± {min(reach, 1.0):.3g} at best with {rows:,} rows and a domain of "
                f"{self.points:,} points, which says nothing: of the data sets that can be listed ({LARGEST:,}) the "
                f"nearest is within ± {nearness(self.points, sizes[-1]):.3g} of the rows, and {_REASON}"
            )
        return found

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
        """Size, noise and threshold that make the intervals narrowest; refused when they pass ``width``."""
        if domain is None:
            raise ValueError("MedianOracle guesses from the values that columns can have: give domain={column: [...]}")
        best = cls(domain=domain).settled(rows, confidence, asks)
        check_goal(cls.__name__, best.reach(rows, asks, confidence), width, rows, asks)
        return best

    def numbers(self, offer: Offer) -> dict[str, float]:
        space = {"points": self.points, "size": self.size or 0, "data_sets": data_sets(self.points, self.size or 1)}
        return {**super().numbers(offer), **space}

    def to_json(self) -> dict[str, Any]:
        named = {name: getattr(self, name) for name in ("size", "threshold", "epsilon", "price")}
        return {"name": type(self).__name__, "domain": self.universe.to_json(), **named}


def _sizes(points: int) -> list[int]:
    """For each number of wrong guesses the largest size that allows no more, as far as it can be listed.

    >>> _sizes(2)[:4], _sizes(2)[-1] + 1 == LARGEST, _sizes(8)
    ([2, 6, 14, 30], True, [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 16, 18, 20, 22])
    """
    found: list[int] = []
    for most in [2**wrong - 1 for wrong in range(2, LARGEST.bit_length())] + [LARGEST]:
        low, high = 0, most + 1  # there are at least as many data sets as the size says, and one
        while high - low > 1:
            middle = (low + high) // 2
            small = fits(points, middle) and data_sets(points, middle) <= most
            low, high = (middle, high) if small else (low, middle)
        if low and low not in found:
            found.append(low)
    return found
