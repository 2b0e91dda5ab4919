"""What optimisation asks, in the words of an SQL engine: gradients and risks of losses, responsibilities of mixtures.

The meaning is that of :mod:`unworn.queries.learning.linear_losses` and :mod:`unworn.queries.learning.mixture_moments`,
operation by operation and in the same order, so that a score has the same bits wherever it is worked out and no row
falls on the other side of a kink. Only EXP and LN are an engine's own, and differ by a unit or two in the last place.
Nothing overflows and no divisor is 0: EXP is only taken of what is at most 0, LN of what is at least 1, and what is
divided by is at least 1 or a constant.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from unworn.queries.language.expressions import build, col, lit
from unworn.queries.learning.argmin import Curvature, Gradient, Risk
from unworn.queries.learning.linear_features import Feature, Stump
from unworn.queries.learning.linear_losses import LinearLoss
from unworn.queries.learning.mixture_moments import Mixture, Moment
from unworn.rows.sql.sql_arithmetic import SqlArithmetic
from unworn.rows.sql.sql_expressions import Value

AtPoint = Gradient | Risk | Curvature | Moment


class LossWriter(SqlArithmetic):
    """Writes the values of such questions over the rows of a writer; what several of them share is named once."""

    def value(self, query: AtPoint) -> Value:
        """The value of each row, inside the range of the question; never NULL, never anything but finite."""
        match query:
            case Gradient():
                found = self._slope(query.loss, query.at)
                place = query.coordinate - int(query.loss.intercept)
                if place >= 0:
                    found = self._times(found, self._feature(query.loss.features[place]))
            case Risk():
                found = self._loss(query.loss, query.at)
            case Curvature():
                found = self._bending(query.loss, query.at)
                for place in (query.row, query.column):
                    if place >= int(query.loss.intercept):
                        feature = query.loss.features[place - int(query.loss.intercept)]
                        found = self._times(found, self._feature(feature))
            case _:
                found = self._responsibility(query.mixture, query.component)
                if query.power:
                    scaled = self._feature(query.mixture.features[query.feature])
                    found = self._times(found, scaled if query.power == 1 else self._times(scaled, scaled))
        return self._cut(found, *query.bounds)

    # What a row is: features, its target.

    def _feature(self, feature: Feature | Stump) -> Value:
        if isinstance(feature, Feature):
            return self._scaled(feature.name, feature.low, feature.high)
        column = self._column(feature.name)
        above = self._compared("GT", column, self._number(feature.cut))
        test = self._exp.And(this=self._present(column), expression=self._exp.Paren(this=above))
        return self._named(feature, lambda: self._if(test, column.layer, self._number(1.0), self._number(-1.0)))

    def _scaled(self, name: str, low: float, high: float) -> Value:
        column, half = self._column(name), (high - low) / 2
        middle, length = self._number(low + half), self._number(half)

        def make() -> Value:
            inside = self._cut(self._over(self._minus(column, middle), length), -1.0, 1.0)
            return self._if(self._present(column), column.layer, inside, self._number(0.0))

        return self._named(("scaled", name, low, high), make)

    def _truth(self, loss: LinearLoss) -> Value:
        """+1 and -1 for classes, else the scaled target."""
        if loss.positive is None:
            low, high = loss.range or (0.0, 1.0)
            return self._scaled(loss.target, low, high)
        positive: Any = loss.positive
        if self._writer.held[loss.target].kind == "bool":
            if positive not in (0, 1):
                return self._number(-1.0)
            positive = bool(positive)
        same = self._writer.truth(build("eq", col(loss.target), lit(positive)))
        one, other = self._number(1.0), self._number(-1.0)
        return self._named(("truth", loss.target, loss.positive), lambda: self._if(same.sql, same.layer, one, other))

    def _column(self, name: str) -> Value:
        """A column as a number, truth values as 0 and 1."""
        value = self._writer.value(col(name))
        if value.kind != "bool":
            return value
        told = self._exp.Case().when(value.sql, self._number(1.0).sql)
        told = told.when(self._exp.Not(this=value.sql.copy()), self._number(0.0).sql)
        return Value("number", told, value.layer)

    def _present(self, column: Value) -> Any:
        """A test of whether there is a number."""
        if not column.finite:
            return self._writer.finite(column.sql.copy())
        null = self._exp.Is(this=self._exp.Paren(this=column.sql.copy()), expression=self._exp.Null())
        return self._exp.Not(this=self._exp.Paren(this=null))

    # What a loss makes of it.

    def _score(self, loss: LinearLoss, at: tuple[float, ...]) -> Value:
        def terms() -> Iterable[Value]:
            for place in np.flatnonzero(at).tolist():
                feature = place - int(loss.intercept)
                size = self._number(at[place])
                yield size if feature < 0 else self._times(size, self._feature(loss.features[feature]))

        return self._sum(("score", loss, at), terms)

    def _slope(self, loss: LinearLoss, at: tuple[float, ...]) -> Value:
        """The derivative of each row's loss by its score."""
        return self._named(("slope", loss, at), lambda: self._new_slope(loss, at))

    def _new_slope(self, loss: LinearLoss, at: tuple[float, ...]) -> Value:
        score, truth = self._score(loss, at), self._truth(loss)
        one, zero = self._number(1.0), self._number(0.0)
        match loss.kind:
            case "logistic":
                against, small = self._against(loss, at)
                test = self._compared("GTE", against, zero)
                share = self._over(self._if(test, against.layer, one, small), self._plus(one, small))
                return self._times(self._minus(zero, truth), share)
            case "hinge":
                product = self._times(truth, score)
                return self._if(self._compared("LT", product, one), product.layer, self._minus(zero, truth), zero)
            case "squared":
                return self._minus(score, truth)
            case _:
                reached = self._compared("LTE", truth, score)
                step = self._if(reached, max(truth.layer, score.layer), one, zero)
                return self._minus(step, self._number(loss.quantile or 0.0))

    def _loss(self, loss: LinearLoss, at: tuple[float, ...]) -> Value:
        score, truth = self._score(loss, at), self._truth(loss)
        one, zero = self._number(1.0), self._number(0.0)
        match loss.kind:
            case "logistic":
                against, small = self._against(loss, at)
                return self._plus(self._most(against, zero), self._log_of_one_and(small, (loss, at)))
            case "hinge":
                return self._most(zero, self._minus(one, self._times(truth, score)))
            case "squared":
                off = self._named(("off", loss, at), lambda: self._minus(score, truth))
                return self._times(self._number(0.5), self._times(off, off))
            case _:
                above = self._named(("above", loss, at), lambda: self._minus(truth, score))
                quantile = loss.quantile or 0.0
                sides = [self._times(self._number(size), above) for size in (quantile, quantile - 1)]
                return self._most(*sides)

    def _bending(self, loss: LinearLoss, at: tuple[float, ...]) -> Value:
        """The second derivative of each row's loss by its score."""
        if loss.kind == "squared":
            return self._number(1.0)
        _, small = self._against(loss, at)
        both = self._plus(self._number(1.0), small)
        return self._named(("bending", loss, at), lambda: self._over(small, self._times(both, both)))

    def _against(self, loss: LinearLoss, at: tuple[float, ...]) -> tuple[Value, Value]:
        """The score times minus the truth, and exp(-size) of it."""
        score, truth, zero = self._score(loss, at), self._truth(loss), self._number(0.0)
        against = self._named(("against", loss, at), lambda: self._times(self._minus(zero, truth), score))
        size = Value("number", self._exp.Abs(this=against.sql.copy()), against.layer)
        return against, self._named(("small", loss, at), lambda: self._power_of_e(self._minus(zero, size)))

    def _log_of_one_and(self, small: Value, key: Hashable) -> Value:
        """ln(1 + small) with all its digits: what 1 + small rounds away is put back by small/((1 + small) - 1).

        By Kahan, as told by Goldberg (1991), theorem 4.
        """
        one = self._number(1.0)
        both = self._named(("one and", key), lambda: self._plus(one, small))
        lost = self._compared("EQ", both, one)
        rest = self._if(lost, both.layer, one, self._minus(both, one))
        log = Value("number", self._exp.Ln(this=both.sql.copy()), both.layer)
        kept = self._times(log, self._over(small, rest))
        return self._if(lost, max(both.layer, small.layer), small, kept)

    # What a mixture makes of it.

    def _responsibility(self, mixture: Mixture, component: int) -> Value:
        parts = [self._log_part(mixture, place) for place in range(len(mixture.weights))]
        top = self._named(("top", mixture), lambda: self._most(*parts))
        chances = [
            self._named(("chance", mixture, place), lambda part=part: self._power_of_e(self._minus(part, top)))  # type: ignore[misc]
            for place, part in enumerate(parts)
        ]
        return self._over(chances[component], self._sum(("chances", mixture), lambda: chances))

    def _log_part(self, mixture: Mixture, component: int) -> Value:
        def terms() -> Iterable[Value]:
            for place, feature in enumerate(mixture.features):
                spread = mixture.variances[component][place]
                off = self._minus(self._feature(feature), self._number(mixture.means[component][place]))
                square = self._over(self._times(off, off), self._number(spread))
                yield self._plus(square, self._number(float(np.log(2 * math.pi * spread))))

        def make() -> Value:
            squares = self._sum(("squares", mixture, component), terms)
            log = self._number(math.log(mixture.weights[component]))
            return self._minus(log, self._times(self._number(0.5), squares))

        return self._named(("part", mixture, component), make)
