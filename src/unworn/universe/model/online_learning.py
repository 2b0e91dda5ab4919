"""Online learning with multiplicative weights: distributions that do nearly as well as the best action in hindsight.

In every round a distribution over m actions is played, then the costs are revealed, each in [0, 1]. Whatever the
costs are, and whoever picks them after seeing the distributions, the average cost is above that of any fixed
distribution by at most 2·sqrt(ln m / T) after T rounds, with certainty (Freund and Schapire 1997). A distribution
that learns from questions about rows is such a player, whose actions are the cells of a domain.
"""

from __future__ import annotations

import math

import numpy as np

from unworn.bounds.regret import learning_rate
from unworn.queries.row_protocol import Floats
from unworn.universe.model.contraction import spread
from unworn.universe.model.model import Axes, Model


class Learner:
    """Multiplicative weights over ``actions``, for a planned number of rounds or, without one, for as many as come.

    Action a is played in proportion to exp(-η_t C(a)), C(a) its costs so far, and η_t = sqrt(ln m / T), or
    sqrt(ln m / t) in round t when T is not planned. Why the regret R over t rounds is at most
    ln m / η_t + Σ η_s / 8, hence 9/8 and 5/4 times sqrt(t ln m) in the two cases, both below 2·sqrt(t ln m):

    1. By Hoeffding's lemma the cost paid in a round, <c, p>, is at most η/8 above -(1/η) ln Σ_a p(a) exp(-η c(a)).
    2. With F_s(η) = -(1/η) ln((1/m) Σ_a exp(-η C_s(a))), that is <c, p> - η_s/8 ≤ F_s(η_s) - F_{s-1}(η_s).
    3. F falls as η grows (a mean of powers), and η_s never grows, so F_{s-1}(η_s) ≥ F_{s-1}(η_{s-1}).
    4. Thus the right sides add up to at most F_t(η_t); a single term of its sum shows F_t(η_t) ≤ min C + ln m / η_t.
    5. Together R = Σ <c, p> - min C ≤ ln m / η_t + Σ η_s / 8; and Σ 1/sqrt(s) ≤ 2·sqrt(t).

    >>> learner = Learner(2, rounds=100)
    >>> for _ in range(100):
    ...     paid = learner.learn(np.array([0.0, 1.0]))
    >>> learner.distribution.round(4).tolist(), round(learner.regret, 4), round(learner.bound, 4)
    ([0.9998, 0.0002], 0.0857, 0.0937)
    """

    def __init__(self, actions: int, rounds: int | None = None) -> None:
        self.actions, self.planned = _whole("actions", actions), rounds and _whole("rounds", rounds)
        if rounds == 0:
            raise ValueError("rounds are planned from 1 on; leave them out to learn for as long as costs come")
        self._costs = np.zeros(actions)
        self._paid = self._rates = 0.0
        self.learned = 0
        """How many rounds were played."""

    @property
    def rate(self) -> float:
        """The rate of the next round, planned for all rounds at once or falling with each."""
        return learning_rate(self.actions, self.planned or self.learned + 1)

    @property
    def distribution(self) -> Floats:
        """What is played in the next round: it depends on the costs of the rounds before, and on nothing else."""
        weights = np.exp(-self.rate * (self._costs - self._costs.min()))
        return np.asarray(weights / weights.sum())

    def learn(self, cost: Floats) -> float:
        """Play a round whose costs are these: what the distribution paid."""
        _room(self.learned, self.planned)
        costs = _checked(cost, (self.actions,))
        paid = float(costs @ self.distribution)
        self._rates += self.rate
        self._costs += costs
        self._paid += paid
        self.learned += 1
        return paid

    @property
    def regret(self) -> float:
        """The average cost paid, less that of the best action in hindsight."""
        return (self._paid - float(self._costs.min())) / max(self.learned, 1)

    @property
    def bound(self) -> float:
        """What the regret cannot exceed after the rounds played: (ln m / η_t + Σ η_s / 8) / t."""
        if self.actions == 1 or not self.learned:
            return 0.0
        rate = learning_rate(self.actions, self.planned or self.learned)
        return (math.log(self.actions) / rate + self._rates / 8) / self.learned


class ModelLearner:
    """The same with the cells of a domain for actions: costs are tables over a few columns, as questions are.

    The model should start uniform; it is tilted in place, and played before it is. Only a planned number of rounds is
    offered: a rate that changes would have to raise every cell to a power.

    >>> from unworn.universe.model.explicit_model import Explicit
    >>> learner = ModelLearner(Explicit.uniform((2, 3)), rounds=100)
    >>> for _ in range(100):
    ...     paid = learner.learn((0,), np.array([0.0, 1.0]))
    >>> learner.model.table((0,)).round(4).tolist(), round(learner.regret(), 4)
    ([1.0, 0.0], 0.0543)
    """

    def __init__(self, model: Model, rounds: int) -> None:
        self.model, self.planned = model, _whole("rounds", rounds)
        self.rate = learning_rate(math.prod(model.shape), rounds)
        self.learned = 0
        self._paid = 0.0
        self._costs: dict[Axes, Floats] = {}  # questions about the same columns add up

    def learn(self, axes: Axes, cost: Floats) -> float:
        """Play a round in which a cell costs its entry in a table over ``axes``: what the model paid."""
        _room(self.learned, self.planned)
        costs = _checked(cost, tuple(self.model.shape[axis] for axis in axes))
        table = self.model.table(axes)
        paid = float(np.sum(table * costs))
        self.model.tilt(axes, -self.rate * costs)
        self._costs[axes] = self._costs.get(axes, 0.0) + costs
        self._paid += paid
        self.learned += 1
        return paid

    def regret(self, other: Model | None = None) -> float:
        """The average cost paid, less another distribution's; without one, less that of the best cell.

        The best cell is looked for among all: give a distribution where the domain has more cells than memory.
        """
        if not self.learned:
            return 0.0
        axes, costs = tuple(self._costs), list(self._costs.values())
        if other is None:
            best = float(spread(costs, axes, self.model.shape).min())
        else:
            best = sum(float(np.sum(t * c)) for t, c in zip(other.tables(axes), costs, strict=True))
        return (self._paid - best) / self.learned


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a whole number from 1 on, not {value!r}")
    return value


def _checked(cost: Floats, shape: tuple[int, ...]) -> Floats:
    costs = np.asarray(cost, dtype=np.float64)
    if costs.shape != shape:
        raise ValueError(f"a cost is needed for each action, in shape {shape}, not {costs.shape}")
    if not bool(((costs >= 0.0) & (costs <= 1.0)).all()):  # also where one is not a number
        raise ValueError("costs must lie in [0, 1]: scale them first")
    return costs


def _room(learned: int, planned: int | None) -> None:
    if planned is not None and learned >= planned:
        raise ValueError(
            f"all {planned} planned rounds were played: plan more, or a Learner without a number of rounds"
        )
