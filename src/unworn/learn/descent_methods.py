"""Which descent suits a loss and a region, with the constants of its theorem, fixed before the first ask."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unworn.bounds import optimisation
from unworn.learn.regions import Floats, L1Ball, Region, Simplex
from unworn.queries.learning.linear_losses import LinearLoss

Method = Literal["smooth", "strongly convex", "convex", "corners"]


@dataclass(frozen=True)
class Scheme:
    """One theorem with its constants: its regret after T iterations, its steps and its weights."""

    method: Method
    lipschitz: float
    smoothness: float
    curvature: float
    reach: float
    bend: float

    @classmethod
    def all(cls, loss: LinearLoss, over: Region, ridge: float = 0.0, blocks: int = 1) -> list[Scheme]:
        """Those whose theorem applies."""
        dimension = loss.dimension
        largest = over.largest(dimension)
        # Every feature lies in [-1, 1]; a block's part of the gradient is scaled up by the number of blocks.
        asked = loss.steepest(largest) * math.sqrt(dimension if blocks == 1 else math.ceil(dimension / blocks)) * blocks
        lipschitz = asked + ridge * min(largest, _norm(over, dimension))
        smoothness, bend = (loss.bend or 0.0) * dimension, (loss.bend or 0.0) * (2 * largest) ** 2
        methods: list[Method] = ["convex"]
        if loss.bend is not None and blocks == 1:
            corners = ridge == 0 and isinstance(over, L1Ball | Simplex)
            methods = ["corners"] if corners else ["smooth"]
        elif ridge > 0:
            methods.append("strongly convex")
        return [cls(method, lipschitz, smoothness, ridge, over.reach(dimension), bend) for method in methods]

    @classmethod
    def best(cls, loss: LinearLoss, over: Region, iterations: int, ridge: float = 0.0, blocks: int = 1) -> Scheme:
        """The one that promises the least regret after so many iterations."""
        return min(cls.all(loss, over, ridge, blocks), key=lambda scheme: scheme.regret(iterations))

    @classmethod
    def fewest(cls, loss: LinearLoss, over: Region, excess: float, ridge: float = 0.0, blocks: int = 1) -> int:
        """The fewest iterations by any of them: with a tiny penalty, one is out of reach where another is not."""
        found, refused = [], None
        for scheme in cls.all(loss, over, ridge, blocks):
            try:
                found.append(scheme.iterations(excess))
            except ValueError as error:
                refused = error
        if refused is not None and not found:
            raise refused
        return min(found)

    def regret(self, iterations: int) -> float:
        """What the theorem promises to leave, were the answers exact; half of any curvature is kept for the errors."""
        match self.method:
            case "smooth":
                return optimisation.smooth_regret(self.smoothness, self.reach, iterations, self.curvature / 2)
            case "corners":
                return optimisation.corner_regret(self.bend, iterations)
            case "strongly convex":
                return optimisation.strongly_convex_regret(self.lipschitz, self.curvature / 2, iterations)
            case _:
                return optimisation.convex_regret(self.lipschitz, self.reach, iterations)

    def iterations(self, excess: float) -> int:
        """The fewest for which the regret is at most ``excess``."""
        match self.method:
            case "smooth":
                return optimisation.smooth_iterations(excess, self.smoothness, self.reach, self.curvature / 2)
            case "corners":
                return optimisation.corner_iterations(excess, self.bend)
            case "strongly convex":
                return optimisation.strongly_convex_iterations(excess, self.lipschitz, self.curvature / 2)
            case _:
                return optimisation.convex_iterations(excess, self.lipschitz, self.reach)

    def weights(self, iterations: int) -> Floats:
        """What each point weighs in the mean; they sum to 1."""
        places = np.arange(iterations, dtype=np.float64)
        match self.method:
            case "smooth":
                # From the last one back, so that no power overflows.
                raw = (1 + self.curvature / (2 * self.smoothness)) ** (places - places[-1])
            case "strongly convex" | "corners":
                raw = places + 1
            case _:
                raw = np.ones(iterations)
        return np.asarray(raw / raw.sum())

    def step(self, over: Region, point: Floats, gradient: Floats, place: int, iterations: int) -> Floats:
        """The next point; ``gradient`` is the answers' part alone, the penalty's is known and added here."""
        match self.method:
            case "smooth":
                return over.project((self.smoothness * point - gradient) / (self.smoothness + self.curvature))
            case "corners":
                return point + 2.0 / (place + 2) * (corner(over, gradient) - point)
            case "strongly convex":
                rate = 2.0 / (self.curvature / 2 * (place + 2))
                return over.project(point - rate * (gradient + self.curvature * point))
            case _:
                rate = self.reach / (self.lipschitz * math.sqrt(iterations))
                return over.project(point - rate * (gradient + self.curvature * point))


def corner(over: Region, gradient: Floats) -> Floats:
    """The corner of an L1 ball or a simplex at which gradient·θ is least."""
    found = np.zeros(gradient.size)
    if isinstance(over, L1Ball):
        place = int(np.argmax(np.abs(gradient)))
        found[place] = -over.radius if gradient[place] > 0 else over.radius
    elif isinstance(over, Simplex):
        found[int(np.argmin(gradient))] = over.total
    else:
        raise TypeError(f"a {type(over).__name__} has no corners to go to")
    return found


def _norm(over: Region, dimension: int) -> float:
    """The largest Euclidean norm of a point of the region."""
    return float(np.linalg.norm(over.start(dimension))) + over.reach(dimension)
