"""Worlds whose questions have a gauge: recalls, areas under ROC curves, and losses with a declared variance.

The analysts of the lab play in them as they are; :class:`Declaring` declares the gauge wherever they guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unworn import Answer, Query, mae, recall, roc_auc, values
from unworn.holdout import Holdout
from unworn.lab import Analyst, FiniteWorld, Played, World
from unworn.lab.worlds import FiniteScene, Floats, Rule, SignScene, SignWorld

KINDS = ("recall", "area", "loss")


@dataclass(frozen=True)
class GaugedSigns(World):
    """Fair signs as in :class:`SignWorld`; of those that are the label, ``rare`` is the chance of a positive one.

    Nothing predicts the label. A recall is of predictions by sign, so its truth is 1/2, and so is that of an area; a
    loss is an absolute error of 0 or 2 in a range up to ``reach``, of which the truth is 1.
    """

    kind: str
    rare: float = 0.5
    reach: float = 20.0

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> GaugedSignScene:
        scene = SignWorld().draw(rows, probes, rng)
        labels = np.where(rng.random(rows) < self.rare, 1, -1).astype(np.int8)
        return GaugedSignScene(None, labels, scene.features, self)


@dataclass(frozen=True)
class GaugedSignScene(SignScene):
    """Rows of :class:`GaugedSigns`."""

    world: GaugedSigns = field(default_factory=lambda: GaugedSigns("recall"))

    def probe(self, j: int) -> Rule:
        return self._rule(self.features[:, j].astype(np.float64))

    def vote(self, weights: ArrayLike) -> Rule:
        given = np.asarray(weights, dtype=np.float64)
        return self._rule(self.features[:, : len(given)] @ given)

    def certain(self) -> Rule:
        return certain_rule(self.rows)

    def _rule(self, scores: Floats) -> Rule:
        signs = np.where(scores >= 0, 1, -1).astype(np.int8)
        if self.world.kind == "recall":
            return Rule(recall(signs, positive=1), 0.5)
        if self.world.kind == "area":
            return Rule(roc_auc(scores, positive=1), 0.5)
        return Rule(mae(signs, range=(0, self.world.reach)), 1.0)


@dataclass(frozen=True)
class GaugedPoints(FiniteWorld):
    """A :class:`FiniteWorld` of which every ``apart``-th point is positive; losses are in a range up to ``reach``."""

    kind: str = "recall"
    apart: int = 3
    reach: float = 10.0

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> GaugedPointScene:
        forms = ("accuracy",) if self.kind == "recall" else ("mae",)
        plain = replace(self, forms=forms)
        scene = FiniteWorld.draw(plain, rows, probes, rng)
        labels = np.ones(rows, dtype=np.int64) if self.kind == "loss" else (scene.points % self.apart == 0).astype(int)
        return GaugedPointScene(scene.data, labels, plain, scene.points, scene.values)


@dataclass(frozen=True)
class GaugedPointScene(FiniteScene):
    """Rows of :class:`GaugedPoints`."""

    world: GaugedPoints

    def certain(self) -> Rule:
        return certain_rule(self.rows)

    def among(self, points: Any) -> Rule:
        return self.ask(np.isin(np.arange(self.world.points), list(points)).astype(np.float64), "", "among")

    def ask(self, values: Floats, form: str, name: str) -> Rule:
        here, chances = values[self.points], self.world.chances
        if self.world.kind == "loss":
            return Rule(mae(1 - here, range=(0, self.world.reach)), float(chances @ values))
        positive = np.arange(self.world.points) % self.world.apart == 0
        if self.world.kind == "recall":
            said = np.round(here).astype(np.int64)
            return Rule(
                recall(said, positive=1),
                float(chances[positive] @ np.round(values[positive]) / chances[positive].sum()),
            )
        above = np.sign(values[positive][:, None] - values[~positive][None, :]) / 2 + 0.5
        pairs = chances[positive][:, None] * chances[~positive][None, :]
        return Rule(roc_auc(here, positive=1), float((above * pairs).sum() / pairs.sum()))


def certain_rule(rows: int) -> Rule:
    """What holds for the first half of the rows, by their place."""
    half = rows // 2
    return Rule(values((np.arange(rows) < half).astype(np.float64), range=(0, 1)), half / rows)


@dataclass(frozen=True)
class Declaring(Analyst):
    """An analyst whose every guess comes with a bound of the gauge, and who ends with a final value."""

    inner: Analyst
    gauge: float
    name: ClassVar[str] = "declaring"

    def play(self, holdout: Holdout, scene: Any, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        played = None
        for played in self.inner.play(_Declared(holdout, self.gauge), scene, asks, rng):  # type: ignore[arg-type]
            yield played
        if played is not None:
            yield Played(holdout.final(played.answer), played.truth)


class _Declared:
    """A holdout that is told the same gauge with every guess of a question that has one."""

    def __init__(self, holdout: Holdout, gauge: float) -> None:
        self._holdout, self._gauge = holdout, gauge

    def __getattr__(self, name: str) -> Any:
        return getattr(self._holdout, name)

    def ask(self, question: Query, guess: float | None = None, **more: Any) -> Answer:
        if guess is not None and getattr(question, "metric", "") in ("recall", "roc_auc", "mae"):
            more["gauge"] = self._gauge
        return self._holdout.ask(question, guess, **more)


@dataclass(frozen=True)
class OffGuesser(Analyst):
    """Guesses beside the truth, so that agreement alone says nothing true, and declares that values hardly vary.

    Its guess lies two standard errors of a mean away, and the slack reaches to about a third of one from the truth.
    """

    name: ClassVar[str] = "off_guesser"

    def play(self, holdout: Holdout, scene: Any, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        error = 1.0 / np.sqrt(scene.rows)
        for index in range(asks):
            rule = scene.probe(index)
            told = holdout.ask(rule.question, rule.truth + 2.1 * error, guess_se=0.5 * error, gauge=0.002)
            yield Played(told, rule.truth)
