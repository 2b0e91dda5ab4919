"""SparseVector: is it above the threshold? Yes a few times, no as often as you like."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from unworn.errors import Unaskable
from unworn.mechanisms.contract.capabilities import BoundsWidth, EncodesItself
from unworn.mechanisms.contract.conversation import published_width
from unworn.mechanisms.contract.mechanism import Offer, Published, State, Symbol
from unworn.mechanisms.noisy.noisy_mechanism import check_goal, number
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload, price
from unworn.mechanisms.threshold.secret_threshold import (
    BELOW,
    Threshold,
    check_limit,
    check_positive,
    check_yes_no,
    paid_for,
    released_count,
)
from unworn.noise import Stream
from unworn.queries.query import Facts

if TYPE_CHECKING:
    from unworn.bounds.sparse.sparse_vector_bounds import Run

ABOVE = "above"
_VALUE_NOISE = 4.0
"""The scale of a released count's noise, in units of 1/epsilon: it costs a quarter of what the comparisons do."""


@dataclass(frozen=True)
class SparseVector(Threshold, BoundsWidth, EncodesItself):
    """Say whether a question's value is above a threshold, with noise on both, until ``tops`` were above.

    *Below* means that the population's value is at most a little above the threshold; *above*, that it is at least a
    little below it. How little hardly depends on the number of asks (only through its logarithm), and grows like the
    fourth root of ``tops``.

    Parameters
    ----------
    threshold
        In the questions' own units; a question whose range does not contain it is refused.
    epsilon
        What one instance (a threshold with all its asks, up to the first above) may reveal about one row; without
        ``refresh``, what the whole run may. None leaves the choice to the plan, which takes the narrowest intervals.
    tops
        How many answers "above" are given before the run ends.
    refresh
        True draws a fresh secret threshold after each "above", for many tops. False keeps one for the whole run, with
        noise in proportion to ``tops`` on every count (Lyu, Su and Li's standard form): private without any δ.
    split
        How ``epsilon`` is divided between threshold and counts: "even" (scales 2/ε and 4/ε), or "best" (1 : (2c)^⅔).
    values
        Whether what is above is answered with a number, by fresh noise of 4/ε that costs ε/4 more: a numeric answer
        only above the threshold (Dwork and Roth's *NumericSparse*). It needs ``refresh``.

    Examples
    --------
    >>> from unworn.queries.query import Facts
    >>> sparse = SparseVector.for_(rows=100_000, asks=10_000, threshold=0.6, tops=5)
    >>> state = sparse.begin(100_000, 0.95, asks=10_000)
    >>> offer = sparse.offer(state, Facts("binary", 0.0, 1.0, True), None)
    >>> told = sparse.reveal(offer, "below")
    >>> told.low, round(told.high, 3), told.source
    (0.0, 0.639, 'below')
    >>> numeric = SparseVector.for_(rows=100_000, asks=10_000, threshold=0.6, tops=5, values=True)
    >>> told = numeric.reveal(numeric.offer(numeric.begin(100_000, 0.95, asks=10_000), offer.facts, None), 71_234)
    >>> round(told.low, 3), told.value, round(told.high, 3), told.source
    (0.664, 0.71234, 0.757, 'above')

    References
    ----------
    Dwork, Naor, Reingold, Rothblum and Vadhan 2009; Dwork and Roth 2014, Algorithms 1, 2 and 3; Lyu, Su and Li,
    "Understanding the sparse vector technique", VLDB 2017. Proof for whole numbers: ``docs/theory/sparse-vector.md``.
    """

    choices: ClassVar[tuple[str, ...]] = ("epsilon",)

    threshold: float = 0.5
    epsilon: float | None = None
    tops: int = 1
    refresh: bool = True
    split: str = "even"
    values: bool = False

    def __post_init__(self) -> None:
        if not math.isfinite(number("threshold", self.threshold)):
            raise ValueError(f"threshold must be a finite number, in the questions' own units, not {self.threshold!r}")
        check_positive("epsilon", self.epsilon, 700.0)
        check_limit("tops", self.tops)
        check_yes_no("refresh", self.refresh)
        if self.split not in ("even", "best"):
            raise ValueError(f"split is 'even' or 'best', not {self.split!r}")
        check_yes_no("values", self.values)
        if self.values and not self.refresh:
            raise ValueError("values are released by a run with a fresh threshold after each: leave refresh=True")

    def to_json(self) -> dict[str, Any]:
        """Without ``values`` where there are none, as in every ledger from before there were."""
        told = asdict(self)
        if not self.values:
            del told["values"]
        return {"name": type(self).__name__, **told}

    @classmethod
    def of(cls, threshold: float, epsilon: float, delta: float, tops: int) -> Self:
        """The run that is (epsilon, delta)-private as a whole, with fresh thresholds: Dwork and Roth's Sparse.

        >>> round(SparseVector.of(0.5, 1.0, 1e-6, tops=10).epsilon, 5)
        0.03008
        """
        from unworn.bounds.sparse.sparse_vector_bounds import instance_epsilon

        return cls(threshold, instance_epsilon(epsilon, delta, tops), tops)

    @property
    def limit(self) -> int:
        return self.tops

    def run(self, rows: int) -> Run:
        from unworn.bounds.sparse.sparse_vector_bounds import refreshed_run, standard

        run = (refreshed_run if self.refresh else standard)(self.epsilon or 1.0, self.tops, self.split)
        return replace(run, value=_VALUE_NOISE / (self.epsilon or 1.0)) if self.values else run

    def check(self, facts: Facts) -> None:
        super().check(facts)
        if not facts.low <= self.threshold <= facts.high:
            raise Unaskable(
                f"the question's range [{facts.low:g}, {facts.high:g}] does not contain the threshold "
                f"{self.threshold:g}: every answer is known beforehand; seal rows with a threshold in its own units"
            )

    def level(self, offer: Offer) -> int:
        """The threshold, in whole rows."""
        return round((self.threshold - offer.low) / (offer.high - offer.low) * offer.rows)

    def compared(self, offer: Offer, count: int) -> tuple[int, int]:
        return count, self.level(offer)

    def released_count(self, offer: Offer, count: int, noise: Stream) -> Symbol:
        scale = self.run(offer.rows).value
        if scale is None:
            return ABOVE
        from unworn.noise import discrete_laplace

        return count + int(discrete_laplace.laplace(noise, scale, 1)[0])

    def reveal_noisy(self, offer: Offer, payload: PlannedNoisePayload, symbol: Symbol) -> Published:
        reach, share = offer.high - offer.low, self.level(offer) / offer.rows
        least, most = paid_for(payload).limits(share)
        edge = min(max(offer.low + reach * share, offer.low), offer.high)
        # The value is the middle of where the rows' own should lie; the source says how little that is.
        if symbol == BELOW:
            return Published((offer.low + edge) / 2, offer.low, min(offer.low + reach * most, offer.high), BELOW)
        if self.values:
            count = released_count(symbol)
            low, high = (offer.low + reach * end for end in paid_for(payload).limits(count / offer.rows))
            value = min(max(offer.low + reach * count / offer.rows, offer.low), offer.high)
            return Published(value, min(low, value), max(min(high, offer.high), value), ABOVE)
        if symbol == ABOVE:
            return Published((edge + offer.high) / 2, min(offer.low + reach * least, edge), offer.high, ABOVE)
        raise TypeError(f"a sparse vector says 'below' or 'above', not {symbol!r:.40}")

    def widest(self, offer: Offer) -> float:
        above: Symbol = offer.rows // 2 if self.values else ABOVE
        return max(published_width(self, offer, BELOW), published_width(self, offer, above))

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        self._check_tops(asks)
        return super().begin(rows, confidence, asks)

    def _check_tops(self, asks: int | None) -> None:
        if not self.refresh and asks is not None and self.tops > asks:
            raise ValueError(
                f"with one threshold every count has noise in proportion to tops, and {self.tops:,} tops cannot come "
                f"from {asks:,} asks: give tops of at most {asks:,}, or refresh=True"
            )

    def chosen(self, rows: int, asks: int, beta: float) -> Self:
        from unworn.bounds.sparse.crossing import best_factor

        self._check_tops(asks)
        return replace(self, epsilon=1.0 / best_factor(replace(self, epsilon=1.0).run(rows), rows, asks, beta))

    @classmethod
    def for_(
        cls,
        *,
        rows: int,
        asks: int,
        width: float | None = None,
        confidence: float = 0.95,
        threshold: float = 0.5,
        tops: int = 1,
        values: bool = False,
    ) -> Self:
        """The noise, its split and the kind of run that make the margin around the threshold narrowest.

        Refused when even that passes ``width``. Few tops do better with one threshold, many with fresh ones.

        >>> [SparseVector.for_(rows=10**6, asks=10_000, tops=tops).refresh for tops in (5, 100)]
        [False, True]
        """

        def margin(sparse: Self) -> float:
            return price(sparse, rows, asks, math.log1p(-confidence)).width

        kinds = (True, False) if 1 < tops <= asks and not values else (True,)
        runs = [cls(threshold, None, tops, fresh, "best", values).settled(rows, confidence, asks) for fresh in kinds]
        best = min(runs, key=margin)
        check_goal(cls.__name__, margin(best), width, rows, asks)
        return best
