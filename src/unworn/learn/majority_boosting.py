"""Boosting by statistical queries: weak rules under weights that earlier rules decide, and then their majority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unworn.bounds.numerics import whole
from unworn.learn.given_columns import GivenColumns
from unworn.learn.learner_checks import certified_by, check_budget
from unworn.learn.majority_potential import majority_error, majority_rounds, majority_weights
from unworn.queries.language.evaluation import truth as evaluate
from unworn.queries.language.expressions import Expression
from unworn.queries.learning.votes import MAX_VOTES, MajorityError, WeightedEdge, predicate

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.record.answer import Answer


@dataclass(frozen=True)
class BoostedMajority:
    """The majority of the ``votes``, and how often it is wrong in the population.

    ``potential`` bounds the error by the edges that were asked for; ``error`` is (value, low, high) of the one question
    about the majority itself. With probability ``confidence``, together with every other answer of the holdout, the
    error is at most both and at most :attr:`bound`. ``edges`` are those of the votes under the weights of their rounds,
    so far as the answers tell; ``promise`` is the error if each were at least the edge that was looked for.
    """

    votes: tuple[Expression, ...]
    truth: Expression
    edges: tuple[float, ...]
    potential: float
    error: tuple[float, float, float]
    promise: float
    asks: int
    confidence: float
    holdout: str
    head: str
    assumptions: tuple[str, ...]

    @property
    def bound(self) -> float:
        """What the error is at most: the lesser of two certificates that hold together."""
        return min(self.potential, self.error[2])

    @property
    def certificate(self) -> dict[str, Any]:
        """What the bound rests on, as JSON."""
        names = ("edges", "potential", "error", "promise", "asks", "confidence", "holdout", "head", "assumptions")
        return {
            "what": "population error of a majority of weak rules",
            "theorem": "boost by majority: the potential after each round, from answers within their intervals",
            "bound": self.bound,
            **{name: getattr(self, name) for name in names},
            "truth": self.truth.to_json(),
            "votes": [vote.to_json() for vote in self.votes],
        }

    def predict(self, columns: Mapping[str, Any]) -> NDArray[np.bool_]:
        """What the majority says of rows of your own.

        >>> from unworn.queries import col
        >>> told = BoostedMajority((col("x") > 1,), col("y") == 1, (), 1, (0, 0, 1), 1, 1, 0.95, "", "", ())
        >>> told.predict({"x": [0, 1, 2]}).tolist()
        [False, False, True]
        """
        frame = GivenColumns(columns)
        return np.asarray(sum(evaluate(vote, frame).astype(int) for vote in self.votes) > len(self.votes) // 2)


def boost(
    holdout: Holdout,
    rules: Sequence[Expression],
    truth: Expression,
    *,
    edge: float,
    error: float | None = None,
    rounds: int | None = None,
    by: str | None = None,
) -> BoostedMajority:
    """The majority of weak rules that were chosen one by one, each for its answers under the weights of its round.

    Boost by majority (Freund 1995), with the weak learner's questions asked of the population as means with weights:
    the simulation of Aslam and Decatur (1998), whose reweighted share is the ratio of two of these answers. A round
    asks the weighted edge of every rule and the weight of all rows, in one batch, and takes the rule, or its negation,
    with the largest edge; at the end the majority's own error is asked. So there are rounds·(rules + 1) + 1 asks, and
    O(ln(1/ε)/γ²) rounds for an error of ε with edges of γ.

    **What is certified**: the potential of :mod:`unworn.learn.majority_potential` rises in a round by γ E[weight] -
    E[edge], which the answers know within their intervals. Added up, from P(Bin(T, 1/2 + γ) <= T/2) on, it bounds the
    error of the majority, whether the weak rules had the edges that were hoped for or not.

    Parameters
    ----------
    rules, truth
        Predicates, such as ``col("age") > 30``, and the one that they should agree with, such as ``col("y") == 1``.
    edge
        How much better than 1/2 some rule, or its negation, is hoped to be under any weights.
    error, rounds
        The error aimed at, from which the theorem sets the rounds; or their number, which is odd.

    Examples
    --------
    The majority of three tests, each of which alone is wrong on a quarter of the rows:

    >>> from unworn import Holdout
    >>> from unworn.mechanisms import Gaussian
    >>> from unworn.queries import col
    >>> x = np.random.default_rng(0).uniform(-1, 1, (100_000, 3))
    >>> holdout = Holdout(x, (x > 0).sum(axis=1) > 1, mechanism=Gaussian(), asks=61)
    >>> found = boost(holdout, [col(f"x{place}") > 0 for place in range(3)], col("y"), edge=0.16, rounds=15)
    >>> found.asks, found.error[0] < 0.02, found.bound < 0.1
    (61, True, True)
    """
    listed = tuple(predicate(rule, "a rule") for rule in rules)
    target = predicate(truth, "the truth")
    if not listed:
        raise ValueError("boosting needs at least one rule, such as col('age') > 30")
    count = _rounds(error, rounds, edge)
    promise = majority_error(count, edge)
    check_budget(holdout, count * (len(listed) + 1) + 1, f"{count} rounds of {len(listed)} rules and their weight")
    votes: tuple[Expression, ...] = ()
    edges: list[float] = []
    potential = promise
    for past in range(count):
        weights = majority_weights(count, edge, past)
        questions = [WeightedEdge(target, votes, weights, rule) for rule in (None, *listed)]
        weight, *answers = holdout.ask_many(questions, by=by)
        best = max(range(len(listed)), key=lambda place: abs(answers[place].value))
        chosen, negated = answers[best], answers[best].value < 0
        votes = (*votes, ~listed[best] if negated else listed[best])
        potential += edge * weight.high - (-chosen.high if negated else chosen.low)
        edges.append(_share(abs(chosen.value), weight))
    asked = holdout.ask_many([MajorityError(target, votes)], by=by)[0]
    confidence, name, head, assumptions, promised = certified_by(holdout, asked)
    return BoostedMajority(
        votes, target, tuple(edges), min(max(potential, 0.0), 1.0) if promised else 1.0,
        (asked.value, asked.low, asked.high) if promised else (asked.value, 0.0, 1.0), promise,
        count * (len(listed) + 1) + 1, confidence, name, head, assumptions,
    )  # fmt: skip


def _rounds(error: float | None, rounds: int | None, edge: float) -> int:
    if rounds is not None and error is None:
        return whole("rounds", rounds, 1, MAX_VOTES)
    if error is None or rounds is not None:
        raise ValueError("give error= or rounds=, and not both: the theorem sets one from the other")
    count = majority_rounds(error, edge)
    if count > MAX_VOTES:
        raise ValueError(f"an error of {error:g} with an edge of {edge:g} takes {count} rounds, of at most {MAX_VOTES}")
    return count


def _share(edge: float, weight: Answer) -> float:
    """The edge over rows that weigh alike in sum; at most 1/2, and 0 where next to nothing has any weight left."""
    return min(edge / weight.value, 0.5) if weight.value > 0 else 0.0
