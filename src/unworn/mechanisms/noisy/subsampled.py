"""Subsampled: every answer from a few fresh rows, so that its cost does not grow with the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from unworn.basics.float_settings import with_usual_floats
from unworn.errors import Unaskable
from unworn.events import Noised
from unworn.mechanisms.contract.capabilities import DrawsRows
from unworn.mechanisms.contract.mechanism import Offer, State
from unworn.mechanisms.noisy.noisy_mechanism import Noisy, check_goal, minimum, number
from unworn.mechanisms.noisy.privacy_price import price
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows

_CLOSE = 1.25
"""Without a goal, intervals may be this much wider than those of the most rows that could be drawn."""


@dataclass(frozen=True)
class Subsampled(Noisy, DrawsRows):
    """The share of ``drawn`` fresh rows, plus discrete Laplace noise of ``scale``: P(m) ∝ exp(−|m| / (drawn·scale)).

    A row is seldom drawn, so little noise is needed to hide it (amplification by subsampling). The proof does not use
    that drawing is itself noise, so for the same rows the intervals are wider than Laplace's: use it for speed.

    ``replace`` draws with replacement, where a row may count several times: the amplification is then a little
    weaker than is often claimed (docs/theory/privacy.md).

    Examples
    --------
    >>> from unworn.mechanisms.contract.conversation import likely_width
    >>> from unworn.queries.query import Facts
    >>> noisy = Subsampled.for_(rows=10_000_000, asks=1_000, width=0.05)
    >>> state = noisy.begin(10_000_000, 0.95, asks=1_000)
    >>> width = likely_width(noisy, noisy.offer(state, Facts("binary", 0.0, 1.0, True), None))
    >>> noisy.drawn < 20_000, round(width, 2)
    (True, 0.05)

    References
    ----------
    Fish, Reyzin and Rubinstein, "Sampling without compromising accuracy in adaptive data analysis", ALT 2020; Balle,
    Barthe and Gaboardi 2018.
    """

    reads: ClassVar[Literal["values", "rounded", "draws"]] = "draws"

    drawn: int = 10_000
    replace: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        drawn = number("drawn", self.drawn)
        if not 1 <= drawn < math.inf or drawn != int(drawn):
            raise ValueError(f"drawn is a whole number of rows of at least 1, not {self.drawn!r}")
        if not isinstance(self.replace, bool):
            raise ValueError(f"replace is True or False, not {self.replace!r}")
        object.__setattr__(self, "drawn", int(drawn))

    def noised(self, rows: int) -> Noised:
        return Noised("laplace", self.drawn * (self.scale or 0.0), self.drawn, self.replace)

    def rate(self, rows: int) -> float:
        return math.expm1(1 / self.noised(rows).scale) * self.drawn / rows

    def largest(self, rows: int, asks: int, beta: float) -> float:
        from unworn.bounds.extremes import largest_deviation

        scale = self.noised(rows).scale
        return largest_deviation(rows, self.drawn, scale, asks, beta, self.replace)

    def steps(self, rows: int) -> int:
        return self.drawn

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        self._check_drawn(rows)
        return super().begin(rows, confidence, asks)

    def settled(self, rows: int, confidence: float, asks: int | None) -> Self:
        self._check_drawn(rows)
        return super().settled(rows, confidence, asks)

    def _check_drawn(self, rows: int) -> None:
        if self.drawn > rows:
            raise ValueError(f"drawn is a number of rows from 1 to the holdout's {rows}, not {self.drawn}")

    def check(self, facts: Facts) -> None:
        if facts.kind == "statistic":
            raise Unaskable(
                "a statistic of all the rows cannot be computed from a few of them: use Gaussian or BoundedNoise"
            )
        super().check(facts)

    def rows_per_answer(self) -> tuple[int, bool]:
        return self.drawn, self.replace

    def count(self, offer: Offer, query: Query, rows: Rows, noise: Stream) -> int:
        return rows.drawn(query, self.drawn, noise, self.replace)

    def draw(self, rows: int, noise: Stream) -> int:
        from unworn.noise.discrete_laplace import laplace

        return int(laplace(noise, self.noised(rows).scale, 1)[0])

    def best(self, rows: int, asks: int, beta: float) -> tuple[float, float]:
        log_beta = math.log(beta)

        def width(log_scale: float) -> float:
            return price(Subsampled(math.exp(log_scale), self.drawn, self.replace), rows, asks, log_beta).width

        # The width falls and then rises in the scale: halve the stretch around its lowest point.
        low, high = math.log(0.01 / self.drawn), math.log(0.5)
        found = minimum(width, low, high)
        return math.exp(found), width(found)

    @classmethod
    @with_usual_floats
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """The fewest rows per ask for which all intervals are within ``width``.

        Without a goal: for which they are a quarter wider than at best.
        """
        beta = 1 - confidence
        narrowest = min(cls(drawn=max(1, rows // share)).best(rows, asks, beta)[1] for share in (1, 4))
        check_goal(cls.__name__, narrowest, width, rows, asks)
        goal = _CLOSE * narrowest if width is None else width
        low, high = 0, rows
        while high - low > 1 + low // 64:
            middle = math.isqrt((low + 1) * high) if high > 2 * (low + 1) else (low + high) // 2
            low, high = (low, middle) if cls(drawn=middle).best(rows, asks, beta)[1] <= goal else (middle, high)
        return cls(cls(drawn=high).best(rows, asks, beta)[0], high)
