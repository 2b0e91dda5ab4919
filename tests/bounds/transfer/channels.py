"""The worst private channel there is, found by linear programming.

A channel says with which probability each data set s in X^n leads to each output. An output either names a question
of {0, 1}^X (and an answer, where there is one) that misses, or is silent. That loses nothing: outputs that name the
same question can be merged, and an output whose question has values inside [0, 1] can be split into outputs with 0/1
questions; neither makes a channel less private, and neither changes what the theorems bound. So the maximum over the
linear programme is the maximum over *all* (eps, delta)-private interactions with n rows from these populations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

Floats = NDArray[np.float64]
Pairs = list[tuple[int, int]]


@dataclass(frozen=True)
class World:
    """``n`` independent rows from a population with the given atoms."""

    n: int
    atoms: tuple[float, ...]

    @cached_property
    def data(self) -> list[tuple[int, ...]]:
        return list(product(range(len(self.atoms)), repeat=self.n))

    @cached_property
    def chances(self) -> Floats:
        return np.array([math.prod(self.atoms[x] for x in s) for s in self.data])

    @cached_property
    def questions(self) -> Floats:
        return np.array(list(product((0.0, 1.0), repeat=len(self.atoms))))

    @cached_property
    def truth(self) -> Floats:
        """q(P) for every question."""
        return np.asarray(self.questions @ np.array(self.atoms))

    @cached_property
    def sample(self) -> Floats:
        """q(s) for every data set (down) and question (across)."""
        return np.array([self.questions[:, list(s)].mean(axis=1) for s in self.data])

    @cached_property
    def neighbours(self) -> Pairs:
        """Ordered pairs of data sets that differ in one row."""
        at = {s: index for index, s in enumerate(self.data)}
        return [
            (at[s], at[(*s[:i], y, *s[i + 1 :])])
            for s in self.data
            for i in range(self.n)
            for y in range(len(self.atoms))
            if y != s[i]
        ]


def largest_gap(world: World, profile: Sequence[tuple[float, float]], p: float) -> float:
    """max E[1_E (q(S) - q(P))] over channels with the profile, and events E of the transcript with P(E) = p."""
    weights = world.chances[:, None]
    gain = weights * (world.sample - world.truth)
    happens = np.broadcast_to(weights, gain.shape)
    return _solve(world, profile, gain, equal=(happens, p))


def largest_miss(
    world: World, profile: Sequence[tuple[float, float]], reach: Floats, noise: float, beta: float, corner: float
) -> float:
    """max P(R > reach of its question) over channels with the profile whose answers R are accurate on the sample.

    Accurate means CVaR_beta(|R - q(S)|) <= noise. By Rockafellar and Uryasev this says that *some* corner t has
    t + E(|R - q(S)| - t)^+ / beta <= noise, and that is linear in the channel. An output that misses names its
    question and either the smallest answer that misses, or an exact one; a silent one answers a constant exactly.
    """
    above = reach * (1 + 1e-9) + 1e-12
    columns = list(enumerate(above))
    columns += [
        (q, float(r)) for q in range(len(above)) for r in np.unique(world.sample[:, q]) if r > above[q] and r <= 1
    ]
    which = np.array([q for q, _ in columns])
    answers = np.array([r for _, r in columns])
    weights = world.chances[:, None]
    off = weights * np.maximum(np.abs(answers - world.sample[:, which]) - corner, 0.0)
    return _solve(world, profile, np.broadcast_to(weights, off.shape), at_most=(off, max(0.0, beta * (noise - corner))))


def _solve(
    world: World,
    profile: Sequence[tuple[float, float]],
    gain: Floats,
    equal: tuple[Floats, float] | None = None,
    at_most: tuple[Floats, float] | None = None,
) -> float:
    """Maximise sum(gain * channel) over private channels; one more output, the last, is silent and gains nothing."""
    sets, outputs = gain.shape[0], gain.shape[1] + 1
    channel = np.arange(sets * outputs).reshape(sets, outputs)
    tests = [(s, t, *price) for s, t in world.neighbours for price in profile]
    excess = channel.size + np.arange(len(tests) * outputs).reshape(len(tests), outputs)
    size = channel.size + excess.size

    first, second = channel[[s for s, *_ in tests]], channel[[t for _, t, *_ in tests]]
    odds = np.repeat([math.exp(eps) for *_, eps, _ in tests], outputs)
    one = np.ones(excess.size)
    line = np.arange(excess.size)
    rows = [line, line, line, excess.size + np.repeat(np.arange(len(tests)), outputs)]
    columns = [first.ravel(), second.ravel(), excess.ravel(), excess.ravel()]
    values = [one, -odds, -one, one]
    limits = [np.zeros(excess.size), np.array([delta for *_, delta in tests])]
    if at_most is not None:
        rows.append(np.full(gain.size, excess.size + len(tests)))
        columns.append(channel[:, :-1].ravel())
        values.append(at_most[0].ravel())
        limits.append(np.array([at_most[1]]))
    bound = np.concatenate(limits)
    matrix = coo_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (len(bound), size))

    total = np.zeros((sets + (equal is not None), size))
    total[np.repeat(np.arange(sets), outputs), channel.ravel()] = 1.0
    right = [1.0] * sets
    if equal is not None:
        total[sets, channel[:, :-1].ravel()] = equal[0].ravel()
        right.append(equal[1])
    cost = np.zeros(size)
    cost[channel[:, :-1].ravel()] = -gain.ravel()
    found = linprog(cost, A_ub=matrix.tocsr(), b_ub=bound, A_eq=total, b_eq=right, bounds=(0, 1), method="highs")
    if found.status != 0:
        raise RuntimeError(f"the linear programme was not solved: {found.message}")
    return float(-found.fun)
