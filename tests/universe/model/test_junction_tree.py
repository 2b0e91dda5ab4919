"""Junction trees: every factor has a clique, cliques of a column hang together, and sizes are right."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.universe.model import junction_tree
from unworn.universe.model.junction_tree import Scopes, Shape


@st.composite
def graphs(draw: st.DrawFn, columns: int = 9) -> tuple[Shape, Scopes]:
    shape = tuple(draw(st.lists(st.integers(2, 5), min_size=1, max_size=columns)))
    axes = st.frozensets(st.integers(0, len(shape) - 1), max_size=4).map(lambda some: tuple(sorted(some)))
    return shape, draw(st.frozensets(axes, max_size=12))


@given(graphs())
@settings(derandomize=True, deadline=None)
def test_a_tree_holds_every_factor_and_every_column(graph: tuple[Shape, Scopes]) -> None:
    shape, scopes = graph
    tree = junction_tree.tree(shape, scopes)
    assert all(tree.home(scope) is not None for scope in scopes)
    assert {axis for clique in tree.cliques for axis in clique} == set(range(len(shape)))
    assert all(list(clique) == sorted(set(clique)) for clique in tree.cliques)
    assert not any(set(one) <= set(other) for one, other in combinations(tree.cliques, 2))
    assert not any(set(other) <= set(one) for one, other in combinations(tree.cliques, 2))


@given(graphs())
@settings(derandomize=True, deadline=None)
def test_the_cliques_of_a_column_hang_together(graph: tuple[Shape, Scopes]) -> None:
    tree = junction_tree.tree(*graph)
    assert tree.parents[0] == -1
    assert all(0 <= parent < place for place, parent in enumerate(tree.parents) if place)
    for axis in range(len(graph[0])):
        # A column has exactly one topmost clique: every other one shares it with the clique it hangs on.
        tops = [p for p, clique in enumerate(tree.cliques) if axis in clique and axis not in tree.separators[p]]
        assert len(tops) == 1
        assert axis in tree.below[tops[0]]


@given(graphs())
@settings(derandomize=True, deadline=None)
def test_sizes_are_the_sums_of_the_cliques(graph: tuple[Shape, Scopes]) -> None:
    tree = junction_tree.tree(*graph)
    sizes = [junction_tree.cells(graph[0], clique) for clique in tree.cliques]
    assert (tree.cells, tree.largest) == (sum(sizes), max(sizes))


def test_a_graph_without_cycles_needs_no_more_than_its_factors() -> None:
    scopes = frozenset((place, place + 1) for place in range(19))
    tree = junction_tree.tree((6,) * 20, scopes)
    assert frozenset(tree.cliques) == scopes
    assert all(len(separator) == 1 for separator in tree.separators[1:])


def test_it_starts_in_the_middle() -> None:
    tree = junction_tree.tree((2,) * 20, frozenset((place, place + 1) for place in range(19)))
    depths = [0] * 19
    for place in range(1, 19):
        depths[place] = depths[tree.parents[place]] + 1
    assert max(depths) == 9


@pytest.mark.parametrize("length", [4, 5, 8])
def test_a_cycle_is_cut_into_triangles(length: int) -> None:
    """The best there is: one triangle less than two for each column."""
    scopes = frozenset(tuple(sorted((place, (place + 1) % length))) for place in range(length))
    found = junction_tree.cliques((3,) * length, scopes)
    assert len(found) == length - 2
    assert {len(clique) for clique in found} == {3}


def test_a_grid_of_four_by_four_has_cliques_of_five_at_most() -> None:
    grid = {(4 * i + j, 4 * i + j + 1) for i in range(4) for j in range(3)} | {
        (4 * i + j, 4 * i + j + 4) for i in range(3) for j in range(4)
    }
    assert max(map(len, junction_tree.cliques((2,) * 16, frozenset(grid)))) == 5  # its treewidth is 4


def test_a_large_column_is_kept_out_of_large_cliques() -> None:
    """A cycle of four with one column of 1,000 values: the chord goes around it."""
    cycle = frozenset({(0, 1), (1, 2), (2, 3), (0, 3)})
    assert sorted(junction_tree.cliques((1000, 2, 3, 2), cycle)) == [(0, 1, 3), (1, 2, 3)]
    assert sorted(junction_tree.cliques((2, 1000, 2, 1000), cycle)) == [(0, 1, 2), (0, 2, 3)]


def test_sizes_beyond_every_machine_word_are_exact() -> None:
    assert junction_tree.cells((10,) * 30, range(30)) == 10**30
