"""Descent whose every gradient is a batch of asks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from unworn.bounds.numerics import whole
from unworn.bounds.optimisation import block_deviation
from unworn.learn.curvature import everywhere, how_many, least, questions, rise
from unworn.learn.descent_checks import check_luck, check_reach, check_size, within_plan
from unworn.learn.descent_methods import Scheme, corner
from unworn.learn.excess_risk import Path, certify_excess
from unworn.learn.minimum import NOT_CUT, PUBLIC_BLOCKS, Minimum, as_table
from unworn.learn.regions import Floats, Region, finite
from unworn.queries.learning.argmin import Gradient, Risk, gradient
from unworn.queries.learning.linear_losses import LinearLoss
from unworn.record.certificate import NO_PROMISE

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.record.answer import Answer


def minimise(
    holdout: Holdout,
    loss: LinearLoss,
    over: Region,
    *,
    ridge: float = 0.0,
    iterations: int | None = None,
    excess: float | None = None,
    blocks: int = 1,
    seed: int = 0,
    luck: float = 0.99,
    risk: bool = True,
    curved: bool = False,
    by: str | None = None,
) -> Minimum:
    """The minimiser of the population's mean loss + ridge/2 |θ|² over a region, and how far it can be from the best.

    Parameters
    ----------
    holdout
        The rows, asked only through ``ask_many``: one batch per iteration, one question per coordinate.
    loss, over, ridge
        What is minimised and where; a ``ridge`` makes any loss strongly convex, so that fewer iterations do.
    iterations, excess
        How many iterations; or the regret aimed at, from which the theorem sets them. Neither: all that the plan of the
        holdout has left.
    blocks, seed, luck
        With ``blocks`` above 1 only one block of coordinates is asked in an iteration, drawn by the public ``seed``.
        The certificate then also needs luck with the blocks, which it has with probability ``luck``.
    risk
        Ask the loss at the result too, one question more.
    curved
        Ask how a logistic or squared loss bends at the result, d(d + 1)/2 questions more for d coefficients: without a
        penalty, that makes the certificate many times smaller where rows are many.

    Examples
    --------
    >>> from unworn import Holdout
    >>> from unworn.mechanisms import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 200_000)
    >>> y = rng.random(200_000) < 1 / (1 + np.exp(-2 * x))
    >>> holdout = Holdout({"x": x}, y, mechanism=Gaussian(), asks=41)
    >>> from unworn.learn import Ball, logistic
    >>> found = minimise(holdout, logistic({"x": (-1, 1)}), Ball(3.0))
    >>> found.iterations, found.asks, found.excess < 0.2, abs(found.coefficients[1] - 2) < 0.5
    (20, 41, True, True)
    """
    if not isinstance(loss, LinearLoss) or not isinstance(over, Region):
        raise ValueError("minimise takes a loss, such as logistic(...), and a region, such as Ball(1.0)")
    penalty = finite("ridge", ridge)
    if penalty < 0:
        raise ValueError(f"ridge must be at least 0, not {ridge!r}")
    parts, public = whole("blocks", blocks, 1, loss.dimension), whole("seed", seed, 0)
    check_size(over, loss.dimension)
    check_reach(loss, over)
    if parts > 1:
        check_luck(luck, holdout.confidence)
    block = math.ceil(loss.dimension / parts)
    if iterations is None and excess is not None:
        iterations = Scheme.fewest(loss, over, excess, penalty, parts)
    elif excess is not None:
        raise ValueError("give iterations= or excess=, not both: the theorem sets one from the other")
    if curved and (loss.bend_asked is None or parts > 1):
        raise ValueError(
            "curved=True needs a logistic or squared loss, or a strongly convex one of your own, and blocks=1: others "
            "have no curvature to ask"
        )
    bends = how_many(loss) if curved else 0
    count = within_plan(holdout, block, iterations, bends + int(risk))
    scheme = Scheme.best(loss, over, count, penalty, parts)
    # A first question, never asked: what the schema refuses is refused before anything is charged.
    Gradient(loss, tuple(over.start(loss.dimension)), 0).facts(holdout.terms.schema, holdout.size)
    walk = _Walk(holdout, loss, over, scheme, parts, np.random.default_rng(public), by)
    for place in range(count):
        walk.go(place, count)
    return walk.finish(count, luck if parts > 1 else 1.0, risk, curved)


class _Walk:
    """One descent: where it has been, and what was answered there."""

    def __init__(
        self,
        holdout: Holdout,
        loss: LinearLoss,
        over: Region,
        scheme: Scheme,
        parts: int,
        rng: np.random.Generator,
        by: str | None,
    ) -> None:
        self.holdout, self.loss, self.over, self.scheme, self.by = holdout, loss, over, scheme, by
        self.rng, self.parts = rng, np.array_split(np.arange(loss.dimension), parts)
        self.point = over.start(loss.dimension)
        self.bound = math.inf  # for the last point of a walk to corners, which is certified as it goes
        self.asked: list[Floats] = []
        self.stepped: list[Floats] = []
        self.values: list[Floats] = []
        self.sides: list[tuple[Floats, Floats]] = []
        self.answers: list[Answer] = []

    def go(self, place: int, count: int) -> None:
        """Ask the gradient here, or a block of it, and step."""
        scale = len(self.parts)
        chosen = self.parts[int(self.rng.integers(scale))] if scale > 1 else self.parts[0]
        told = self.holdout.ask_many(gradient(self.loss, self.point, chosen.tolist()), by=self.by)
        value, low, high = np.zeros((3, self.loss.dimension))
        value[chosen], low[chosen], high[chosen] = np.array([[a.value, a.low, a.high] for a in told]).T * scale
        self.answers += told
        self.asked.append(self.point)
        self.values.append(value)
        self.sides.append((low, high))
        following = self.scheme.step(self.over, self.point, value, place, count)
        if self.scheme.method == "corners":
            rate = 2.0 / (place + 2)
            doubt = self.over.doubt(corner(self.over, value), np.maximum(high - value, value - low))
            kept = 0.0 if place == 0 else (1 - rate) * self.bound
            self.bound = kept + rate * doubt + rate**2 * self.scheme.bend / 2
        self.point = following
        self.stepped.append(following)

    def finish(self, count: int, luck: float, risk: bool, curved: bool) -> Minimum:
        """The best certified of the mean, the later points and, where it is certified, the last one."""
        point, regret, error, picked = self._best(count)
        if curved:
            other = self._curved(count)
            if other[1] + other[2] < regret + error:
                point, regret, error, picked = other
        confidence = self.holdout.confidence
        if luck < 1:
            error += self._unlucky(count, luck)
            confidence -= 1 - luck
        assumptions = (*self.answers[-1].certificate.assumptions, NOT_CUT, *((PUBLIC_BLOCKS,) if luck < 1 else ()))
        if self.loss.table is not None:
            assumptions = (*assumptions, as_table(self.loss.table))
        if NO_PROMISE in assumptions:
            error = math.inf
        at = tuple(float(x) + 0.0 for x in point)
        if risk:
            self.answers += self.holdout.ask_many([Risk(self.loss, at)], by=self.by)
            # No loss is below its least value (0, of ours), so neither is the best: all there is bounds what is left.
            least_risk = self.loss.lowest(self.over.largest(self.loss.dimension))
            whole_risk = self.answers[-1].high - least_risk + self.scheme.curvature / 2 * float(point @ point)
            if whole_risk < regret + error and error < math.inf:
                regret, error, picked = 0.0, whole_risk, f"{picked.partition(',')[0]}, by its risk"
                confidence = self.holdout.confidence
        last = self.answers[-1]
        return Minimum(
            self.loss, self.over, self.scheme.curvature, at, regret + error, regret, error,
            self.scheme.regret(count), confidence, count, len(self.answers), self.scheme.method, picked,
            (last.value, last.low, last.high) if risk else None, self.holdout.name,
            (self.answers[0].index, last.index), last.certificate.head, assumptions,
        )  # fmt: skip

    def _best(self, count: int) -> tuple[Floats, float, float, str]:
        ridge, weights = self.scheme.curvature, self.scheme.weights(count)
        asked, values = np.array(self.asked), np.array(self.values)
        lows, highs = (np.array(side) for side in zip(*self.sides, strict=True))
        smooth = self.scheme.method == "smooth"
        points = np.array(self.stepped) if smooth else asked
        extra = self.scheme.smoothness / 2 * np.sum((points - asked) ** 2, axis=1)
        found: list[tuple[Floats, float, float, str]] = []
        # Two readings of the same intervals: around the value told, and around their middle.
        for centre in (values, (lows + highs) / 2):
            errors = np.maximum(highs - centre, centre - lows)
            mean = Path(points, centre + ridge * points, errors, extra, weights)
            found.append((mean.mean(), *certify_excess(mean, self.over, ridge), "mean"))
            if len(self.parts) == 1:
                alone = Path(asked, centre + ridge * asked, errors, np.zeros(count), weights)
                late = range(count // 2, count)  # an early one may be certified, and is nobody's minimiser
                found += [
                    (asked[place], *certify_excess(alone.only(place), self.over, ridge), f"point {place}")
                    for place in late
                ]
        if self.scheme.method == "corners":
            left = self.scheme.regret(count)
            found.append((self.point, min(left, self.bound), max(self.bound - left, 0.0), "last"))
        return min(found, key=lambda one: one[1] + one[2])

    def _curved(self, count: int) -> tuple[Floats, float, float, str]:
        """The later point with the least gradient, certified by the curvature that is asked for there."""
        ridge, loss = self.scheme.curvature, self.loss
        lows, highs = (np.array(side) for side in zip(*self.sides[count // 2 :], strict=True))
        asked = np.array(self.asked[count // 2 :])
        middle, errors = (lows + highs) / 2 + ridge * asked, (highs - lows) / 2
        path = Path(asked, middle, errors, np.zeros(len(asked)), np.full(len(asked), 1 / len(asked)))
        place = min(range(len(asked)), key=lambda one: sum(certify_excess(path.only(one), self.over, ridge)))
        point, only = asked[place], path.only(place)
        wanted = questions(loss, tuple(point.tolist()))
        told = self.holdout.ask_many(list(wanted.values()), by=self.by) if wanted else []
        self.answers += told
        below = least(loss.dimension, dict(zip(wanted, told, strict=True)))
        furthest = self.over.largest(loss.dimension) + float(np.abs(point).sum())
        strong = ridge + everywhere(loss, float(np.linalg.eigvalsh(below)[0]), furthest)
        held = below + ridge * np.eye(loss.dimension)
        sizes = np.abs(middle[place])
        alone, both = (rise(loss, held, slopes) for slopes in (sizes, sizes + errors[place]))
        ways = [certify_excess(only, self.over, strong)] + [(alone, both - alone)] * (both < math.inf)
        return (point, *min(ways, key=sum), f"point {count // 2 + place}, by its curvature")

    def _unlucky(self, count: int, luck: float) -> float:
        """What the blocks that were not asked may hide, at worst over the region."""
        over, dimension = self.over, self.loss.dimension
        steep = self.loss.steepest(over.largest(dimension))
        widest = 0.0
        for part in self.parts:
            size = steep * len(self.parts) * math.sqrt(len(part))
            widest = max(widest, size * 2 * over.reach(dimension))
        weight = float(np.sum(self.scheme.weights(count) ** 2))
        return block_deviation(widest, weight, 1 - luck)
