"""The least-squares estimate of every prefix from the noisy counts of a tree, by one pass up and one down."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.universe.prefixes.count_tree import CountTree, left_of


@dataclass(frozen=True)
class ConsistentTree(CountTree):
    """The measurements of :class:`CountTree`; every prefix is estimated from all of them and the number of rows.

    On the way up a node's count is the weighted mean of its own measurement and of its children's sum; on the way down
    children are made to sum to their parent, what is missing being shared by their variances (Hay, Rastogi, Miklau and
    Suciu 2010; Honaker 2015). By the theorem of Gauss and Markov no unbiased linear estimate has a smaller variance,
    so :class:`CountTree` is nowhere better.

    >>> tree, plain = ConsistentTree(1024), CountTree(1024)
    >>> bool((tree.spread <= plain.spread).all()), round(tree.l2 * float(tree.spread.max()), 2)
    (True, 5.53)

    A fan of all the values is the table of counts, made to sum to n: prefix k has the variance k(m - k)/m of a bridge.

    >>> ConsistentTree(4, fan=4).prefixes(np.array([3.0, 0.0, 2.0, 5.0]), rows=6).tolist()
    [2.0, 1.0, 2.0]
    """

    @cached_property
    def _variances(self) -> list[Floats]:
        """Of each node's estimate from its own subtree, in units of a measurement's: a line for each parent."""
        own = np.ones(self.fan**self.full)
        for at, size in self.groups:
            own[at] = size / (1.0 + size)
        found: list[Floats] = []
        for _ in range(self.full):
            found.append(own.reshape(-1, self.fan))
            below = found[-1].sum(axis=1)
            own = below / (1.0 + below)
        return found[::-1]

    def _upward(self, levels: list[Floats], last: list[Floats]) -> list[Floats]:
        """Each node's estimate from its own subtree."""
        found: list[Floats] = []
        for nodes, variance in zip(levels[::-1], self._variances[::-1], strict=True):
            own = nodes.reshape(-1).astype(np.float64)
            # The own measurement's weight in the mean is the variance of the mean: s / (1 + s), s the children's.
            if found:
                weight = variance.reshape(-1)
                own = weight * own + (1.0 - weight) * found[-1].sum(axis=1)
            else:
                for (at, size), inside in zip(self.groups, last, strict=True):
                    own[at] = (size * own[at] + inside.sum(axis=1)) / (1.0 + size)
            found.append(own.reshape(nodes.shape))
        return found[::-1]

    def prefixes(self, measured: Floats, rows: int) -> Floats:
        levels, last = self._parts(measured)
        before, own = np.zeros(1), np.array([float(rows)])
        for nodes, variance in zip(self._upward(levels, last), self._variances, strict=True):
            missing = (own - nodes.sum(axis=1)) / variance.sum(axis=1)
            fitted = nodes + variance * missing[:, None]
            before = (before[:, None] + left_of(fitted)).reshape(-1)
            own = fitted.reshape(-1)
        between = [
            before[at, None] + left_of(inside + (own[at] - inside.sum(axis=1))[:, None] / size)
            for (at, size), inside in zip(self.groups, last, strict=True)
        ]
        return self._placed(before, between)

    @property
    def spread(self) -> Floats:
        return self._errors[0]

    @property
    def heaviest(self) -> float:
        """The largest variance of a node.

        The variance of a fitted value is the weight of its own measurement in it. What a measurement adds to its node
        is taken from the siblings of the nodes on the way to the root, some from each and all of it in the end, and
        below a node it is spread by positive shares. So no sum from the left takes more than the node does.
        """
        return self._errors[1]

    @property
    def turns(self) -> float:
        return min(super().turns, 7.0 * self.cells / self.fan)  # half of all bridges pass 1.66 of their largest sd

    @cached_property
    def _errors(self) -> tuple[Floats, float]:
        """Given its parent's error a node's is independent of all to the left of the parent.

        Carried down: the variance of what lies before a node, its covariance with the node's own error, and the
        variance of that. With u the siblings' variances, U their sum and V the part of it to the left, a node's error
        is the share u/U of the parent's and a fresh one of variance u - u^2/U; those to the left have V - V^2/U
        together, and -V u/U with it.
        """
        carried = np.zeros((3, 1))
        heaviest = 0.0
        for variance in self._variances:
            carried = _down(carried, variance).reshape(3, -1)
            heaviest = max(heaviest, float(carried[2].max()))
        last = [_down(carried[:, at], np.ones((len(at), size))) for at, size in self.groups]
        heaviest = max([heaviest, *(float(inside[2].max()) for inside in last)])
        return np.sqrt(self._placed(carried[0], [inside[0] for inside in last])), heaviest

    @cached_property
    def reach(self) -> Floats:
        """The two passes with sizes in place of signed numbers, so that differences become sums.

        All to the left of a node is K own + (1 - K) left - K right: K the share of the parent that lies left, and left
        and right what the children's subtrees say.
        """
        levels, last = self._parts(np.ones(self._measured))
        before = own = np.zeros(1)
        for nodes, variance in zip(self._upward(levels, last), self._variances, strict=True):
            part = variance / variance.sum(axis=1, keepdims=True)
            before = (before[:, None] + _left_sizes(part, own, nodes)).reshape(-1)
            others = nodes.sum(axis=1, keepdims=True) - nodes
            own = (part * own[:, None] + (1.0 - part) * nodes + part * others).reshape(-1)
        between = [
            before[at, None] + _left_sizes(np.full(inside.shape, 1.0 / size), own[at], inside)
            for (at, size), inside in zip(self.groups, last, strict=True)
        ]
        return self._placed(before, between)


def _left_sizes(part: Floats, own: Floats, nodes: Floats) -> Floats:
    share, left = left_of(part), left_of(nodes)
    right = nodes.sum(axis=1, keepdims=True) - left
    return np.asarray(share * own[:, None] + (1.0 - share) * left + share * right)


def _down(carried: Floats, u: Floats) -> Floats:
    """Variance before, covariance and own variance of all children, from those of their parents."""
    before, cross, own = carried[:, :, None]
    total, left = u.sum(axis=1, keepdims=True), left_of(u)
    part, share = u / total, left / total
    return np.stack(
        [
            before + 2.0 * share * cross + share**2 * own + left * (1.0 - share),
            part * (cross + share * own - left),
            part**2 * own + u * (1.0 - part),
        ]
    )
