"""Linear programs whose coefficients are questions: solved by asking, with both sides of the optimum certified."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unworn.bounds.numerics import whole
from unworn.bounds.regret import learning_rate, regret_bound
from unworn.learn.learner_checks import certified_by, check_budget
from unworn.learn.regions import Floats, finite
from unworn.queries.language.means import Mean, Share
from unworn.queries.learning.blend import Blend

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.record.answer import Answer

Entry = Share | Mean


@dataclass(frozen=True)
class SolvedProgram:
    """A mixture of the variables, and how far it is from the best.

    The *excess* of a mixture is the most by which it breaks any of the limits, below 0 where it keeps all of them. With
    probability ``confidence``, together with every other answer of the holdout, that of ``mixture`` is at most
    ``excess``, and none in the population is below ``least``: so where that is above 0 the program has no solution, and
    where ``excess`` is at most 0 this is one. ``prices`` are the weights of the constraints that prove ``least``.
    ``values`` has (value, low, high) of the left side of every constraint, at the mixture.
    """

    mixture: tuple[float, ...]
    prices: tuple[float, ...]
    excess: float
    least: float
    values: tuple[tuple[float, float, float], ...]
    limits: tuple[float, ...]
    promise: float
    rounds: int
    asks: int
    confidence: float
    holdout: str
    head: str
    assumptions: tuple[str, ...]

    @property
    def is_feasible(self) -> bool | None:
        """Whether some mixture keeps all the limits in the population; None where the answers leave it open."""
        return True if self.excess <= 0 else False if self.least > 0 else None

    @property
    def certificate(self) -> dict[str, Any]:
        """What the bounds rest on, as JSON."""
        return {
            "what": "population excess of a mixture over the limits of a linear program",
            "theorem": "weak duality of a matrix game whose entries are known within intervals",
            **vars(self),
            **{name: None for name in ("excess", "least") if not math.isfinite(getattr(self, name))},
        }


def solve_program(
    holdout: Holdout,
    coefficients: Sequence[Sequence[Entry]],
    limits: Sequence[float],
    *,
    rounds: int | None = None,
    by: str | None = None,
) -> SolvedProgram:
    """The mixture θ (θ >= 0, Σ θ = 1) that breaks limits least: Σ_i coefficients[j][i] θ_i <= limits[j] for all j.

    Every coefficient is a population's share or mean. An objective is one more constraint, with the value aimed at as
    its limit; ">=" is "<=" of the complement or of a negated expression.

    Without ``rounds`` all coefficients are asked in one batch, constraints × variables of them, and the program of the
    answers is solved. With ``rounds`` T it is solved by *multiplicative weights over the constraints* (Plotkin, Shmoys
    and Tardos 1995; Arora, Hazan and Kale 2012): a round asks the constraints' weighted sum at each variable, one
    :class:`~unworn.queries.learning.blend.Blend` for each, takes the variable with the least answer, and asks what
    every constraint has there, which is free from the second time on. That is T·variables + constraints·(variables that
    were taken) asks, fewer where constraints are many. Either way every constraint is asked once more at the end, at
    the mixture.

    **What is certified**: both ends, for any algorithm. The excess of the mixture is at most the largest upper end at
    the last batch; and for prices p >= 0 that sum to 1, no mixture has an excess below min_i Σ_j p_j (coefficient_ji -
    limit_j), which the answers know from below. With exact answers the two differ by at most ``promise`` after T
    rounds.

    Examples
    --------
    Which mixture of two plans keeps the share of complaints at 30 % in either region?

    >>> from unworn import Holdout
    >>> from unworn.queries import col, share
    >>> from unworn.mechanisms import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> n = 200_000
    >>> rows = {f"r{region}p{plan}": rng.random(n) < chance
    ...         for (region, plan), chance in {(0, 0): 0.1, (0, 1): 0.4, (1, 0): 0.4, (1, 1): 0.2}.items()}
    >>> holdout = Holdout(rows, mechanism=Gaussian(), asks=6)
    >>> complaints = [[share(col(f"r{region}p{plan}")) for plan in (0, 1)] for region in (0, 1)]
    >>> found = solve_program(holdout, complaints, [0.3, 0.3])
    >>> [round(part, 1) for part in found.mixture], found.is_feasible, found.least < 0.28 - 0.3 < found.excess
    ([0.4, 0.6], True, True)
    """
    table = [list(row) for row in coefficients]
    bounds = np.array([finite("a limit", limit) for limit in limits])
    if not table or not table[0] or any(len(row) != len(table[0]) for row in table) or len(bounds) != len(table):
        raise ValueError("coefficients are rows of one length, one for each limit: one question for each variable")
    if not all(isinstance(entry, Share | Mean) for row in table for entry in row):
        raise ValueError("a coefficient is share(predicate) or mean(expression, range=...)")
    many, width = len(table), len(table[0])
    count = 0 if rounds is None else whole("rounds", rounds, 1)
    most = many * width + many if rounds is None else count * width + many * (min(width, count) + 1)
    check_budget(holdout, most, f"{many} constraints on {width} variables")
    game = _Game(holdout, table, bounds, by)
    mixture, prices, least, promise = game.at_once() if rounds is None else game.in_rounds(count)
    used = [place for place in range(width) if mixture[place] > 0]
    last = game.ask([Blend(tuple(mixture[used].tolist()), tuple(row[place] for place in used)) for row in table])
    highs = np.array([answer.high for answer in last])
    confidence, name, head, assumptions, promised = certified_by(holdout, last[-1])
    return SolvedProgram(
        tuple(mixture.tolist()), tuple(prices.tolist()), float((highs - bounds).max()) if promised else np.inf,
        least if promised else -np.inf, tuple((a.value, a.low, a.high) for a in last), tuple(bounds.tolist()),
        promise, count, game.asks, confidence, name, head, assumptions,
    )  # fmt: skip


class _Game:
    """Constraints against variables, and what was answered so far."""

    def __init__(self, holdout: Holdout, table: list[list[Entry]], limits: Floats, by: str | None) -> None:
        self.holdout, self.table, self.limits, self.by = holdout, table, limits, by
        self.first = holdout.meter.asked

    @property
    def asks(self) -> int:
        return self.holdout.meter.asked - self.first

    def ask(self, questions: Sequence[Any]) -> list[Answer]:
        return self.holdout.ask_many(list(questions), by=self.by)

    def at_once(self) -> tuple[Floats, Floats, float, float]:
        from scipy.optimize import linprog

        many, width = len(self.table), len(self.table[0])
        told = self.ask([entry for row in self.table for entry in row])
        values, lows = (np.array([getattr(a, end) for a in told]).reshape(many, width) for end in ("value", "low"))
        # The least t with (values - limits) θ <= t: a matrix game, whose other player's strategy is the marginals.
        solved = linprog(
            np.append(np.zeros(width), 1.0),
            A_ub=np.column_stack([values - self.limits[:, None], -np.ones(many)]),
            b_ub=np.zeros(many),
            A_eq=np.append(np.ones(width), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * width + [(None, None)],
        )
        mixture, prices = _simplex(solved.x[:-1]), _simplex(-solved.ineqlin.marginals)
        return mixture, prices, float((prices @ (lows - self.limits[:, None])).min()), 0.0

    def in_rounds(self, count: int) -> tuple[Floats, Floats, float, float]:
        many, width = len(self.table), len(self.table[0])
        rate, span = learning_rate(many, count, sharp=True), self._span()
        gains, taken, average = np.zeros(many), np.zeros(width), np.zeros(many)
        below = np.zeros(width)
        for _ in range(count):
            weights = np.exp(rate * (gains - gains.max()))
            prices = _simplex(weights)
            told = self.ask([Blend(tuple(prices.tolist()), tuple(row[i] for row in self.table)) for i in range(width)])
            best = int(np.argmin([answer.value for answer in told]))
            below += np.array([answer.low for answer in told]) / count
            average += prices / count
            taken[best] += 1 / count
            column = self.ask([row[best] for row in self.table])
            gains += np.array([answer.value for answer in column] - self.limits) / span
        least = float(below.min() - average @ self.limits)
        return _simplex(taken), average, least, span * regret_bound(many, count, sharp=True)

    def _span(self) -> float:
        """The distance between the least and the largest value that a coefficient less its limit can have."""
        ends = [
            ((0.0, 1.0) if isinstance(entry, Share) else (entry.low, entry.high), limit)
            for row, limit in zip(self.table, self.limits, strict=True)
            for entry in row
        ]
        return float(max(high - limit for (_, high), limit in ends) - min(low - limit for (low, _), limit in ends))


def _simplex(weights: Floats) -> Floats:
    kept = np.maximum(weights, 0.0)
    return np.asarray(kept / kept.sum())
