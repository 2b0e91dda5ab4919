"""Junction trees: which small tables stand for a distribution that is a product of factors of a few columns each.

Join any two columns that share a factor. Once every long cycle of that graph is cut by a chord, its cliques form a
tree in which the cliques that hold a column hang together, and the clique tables then determine the distribution
(Lauritzen and Spiegelhalter 1988). The best chords are hard to find; eliminating columns greedily does well.
Everything here is computed from public facts: how many values each column has, and which columns share a factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from unworn.universe.model.model import Axes

Shape = tuple[int, ...]
Scopes = frozenset[Axes]
"""The sets of columns that share a factor."""


@dataclass(frozen=True)
class JunctionTree:
    """Cliques of columns, each but the first after the one it hangs on, and what the two have in common.

    >>> found = tree((2, 3, 4), frozenset({(0, 1), (1, 2)}))
    >>> sorted(found.cliques), found.separators, found.parents, found.cells, found.largest
    ([(0, 1), (1, 2)], ((), (1,)), (-1, 0), 18, 12)
    """

    shape: Shape
    cliques: tuple[Axes, ...]
    parents: tuple[int, ...]

    @cached_property
    def separators(self) -> tuple[Axes, ...]:
        """The columns each clique shares with the one it hangs on: none for the first, perhaps none for others."""
        return tuple(
            () if parent < 0 else tuple(axis for axis in clique if axis in self.cliques[parent])
            for clique, parent in zip(self.cliques, self.parents, strict=True)
        )

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The cliques that hang on each."""
        return tuple(
            tuple(child for child, parent in enumerate(self.parents) if parent == place)
            for place in range(len(self.cliques))
        )

    @cached_property
    def below(self) -> tuple[frozenset[int], ...]:
        """The columns that appear at or under each clique and nowhere above it."""
        found = [set(clique) - set(sep) for clique, sep in zip(self.cliques, self.separators, strict=True)]
        for place in reversed(range(1, len(found))):
            found[self.parents[place]] |= found[place]
        return tuple(frozenset(some) for some in found)

    @cached_property
    def cells(self) -> int:
        """How many cells all cliques have together: what the tables need."""
        return sum(cells(self.shape, clique) for clique in self.cliques)

    @cached_property
    def largest(self) -> int:
        """How many cells the largest clique has."""
        return max(cells(self.shape, clique) for clique in self.cliques)

    @cached_property
    def _homes(self) -> dict[Axes, int | None]:
        return {}

    def home(self, axes: Axes) -> int | None:
        """The smallest clique that holds all of these columns, if one does."""
        if axes not in self._homes:
            holding = [place for place, clique in enumerate(self.cliques) if set(axes) <= set(clique)]
            self._homes[axes] = min(holding, key=lambda p: cells(self.shape, self.cliques[p])) if holding else None
        return self._homes[axes]


def cells(shape: Sequence[int], axes: Iterable[int]) -> int:
    """How many cells the table over these columns has: exact, however many."""
    return math.prod(shape[axis] for axis in axes)


@lru_cache(maxsize=4096)
def cliques(shape: Shape, scopes: Scopes) -> tuple[Axes, ...]:
    """The cliques of the graph in which columns that share a factor are joined, once it is triangulated.

    Two greedy orders are tried, fewest new edges first and smallest clique first (Kjaerulff 1990), and the one that
    needs fewer cells in all is kept. A cycle of four columns gets one chord:

    >>> sorted(cliques((2, 2, 2, 2), frozenset({(0, 1), (1, 2), (2, 3), (0, 3)})))
    [(0, 1, 3), (1, 2, 3)]
    """
    near = _near(len(shape), scopes)
    bits = tuple(math.log2(size) for size in shape)
    found = (tuple(_eliminated(list(near), bits, by_size)) for by_size in (False, True))
    masks = min(found, key=lambda some: sum(cells(shape, _axes(mask)) for mask in some))
    return tuple(_axes(mask) for mask in masks)


@lru_cache(maxsize=64)
def tree(shape: Shape, scopes: Scopes) -> JunctionTree:
    """The cliques, hung together by as many shared columns as possible from the one in the middle.

    A spanning tree of greatest total overlap keeps the cliques of every column together (Jensen and Jensen 1994);
    starting in the middle keeps the way from any clique to any other short.
    """
    members = cliques(shape, scopes)
    joined = _spanning([set(clique) for clique in members])
    first = min(range(len(members)), key=lambda place: max(_depths(joined, place).values()))
    order = list(_depths(joined, first))
    new = {old: place for place, old in enumerate(order)}
    parents = [-1] * len(order)
    for place, old in enumerate(order):
        for other in joined[old]:
            if new[other] > place:
                parents[new[other]] = place
    return JunctionTree(shape, tuple(members[old] for old in order), tuple(parents))


def _near(count: int, scopes: Scopes) -> list[int]:
    """For every column those it is joined to, as the bits of a number, so that sets are compared in one step."""
    near = [0] * count
    for scope in scopes:
        together = sum(1 << axis for axis in scope)
        for axis in scope:
            near[axis] |= together & ~(1 << axis)
    return near


def _eliminated(near: list[int], bits: Sequence[float], by_size: bool) -> Iterator[int]:
    """The cliques met as columns are eliminated, each joining its neighbours; those inside another are left out."""

    def cost(axis: int) -> tuple[float, float, int]:
        others = list(_each(near[axis]))
        new = sum((near[axis] & ~near[other]).bit_count() - 1 for other in others)
        size = bits[axis] + sum(bits[other] for other in others)
        return (size, new, axis) if by_size else (new, size, axis)

    costs = {axis: cost(axis) for axis in range(len(near))}
    found: list[int] = []
    while costs:
        axis = min(costs, key=costs.__getitem__)
        del costs[axis]
        around = near[axis]
        clique = around | 1 << axis
        if not any(clique & ~larger == 0 for larger in found):
            found.append(clique)
            yield clique
        changed = around
        for other in _each(around):
            near[other] = (near[other] | around) & ~(1 << other) & ~(1 << axis)
            changed |= near[other]
        costs.update((other, cost(other)) for other in _each(changed))


def _spanning(sets: list[set[int]]) -> list[list[int]]:
    """Prim's tree: the clique with most columns in common with one already there comes next."""
    joined: list[list[int]] = [[] for _ in sets]
    best = {place: (len(sets[place] & sets[0]), 0) for place in range(1, len(sets))}
    while best:
        place = max(best, key=lambda p: best[p][0])
        _, to = best.pop(place)
        joined[to].append(place)
        joined[place].append(to)
        for other, (shared, _) in best.items():
            if (now := len(sets[other] & sets[place])) > shared:
                best[other] = (now, place)
    return joined


def _depths(joined: list[list[int]], first: int) -> dict[int, int]:
    """Every clique in the order of its distance from the first, with that distance."""
    depths, queue = {first: 0}, [first]
    for place in queue:
        for other in joined[place]:
            if other not in depths:
                depths[other] = depths[place] + 1
                queue.append(other)
    return depths


def _each(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _axes(mask: int) -> Axes:
    return tuple(_each(mask))
