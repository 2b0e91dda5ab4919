"""The weights of all nodes of an interaction tree sum to at most 1; each planted mistake makes them pass 1.

Two exact walkers, both given the code to be tried. ``enumerate_tree`` visits every node of a small tree.
``worst_case`` is a dynamic programme over (index, guessed so far, surprises so far) that takes the maximum
over *all* askers, who choose at each node whether to guess and how long a batch to send.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from unworn.bounds.compression import code_length, offset_nats, position_nats
from unworn.bounds.numerics import log_choose


@dataclass(frozen=True)
class Symbol:
    """A releasable symbol, or ``copies`` of them at one price."""

    surprise: bool
    nats: float
    copies: int = 1


# All offsets |o| >= 3 together weigh sum 2 / (2 o (o+1)) = 1/3: one symbol of that weight stands for them.
OFFSETS = [Symbol(True, offset_nats(o)) for o in (-2, -1, 1, 2)] + [Symbol(True, math.log(3))]
GUESSED = [Symbol(False, 0.0), *OFFSETS]
USER_CODE = [Symbol(False, 0.0), Symbol(True, math.log(2))] + [Symbol(True, s.nats + math.log(2)) for s in OFFSETS]
GRID = [Symbol(False, math.log(5), copies=5)]
SHARPEN = [Symbol(False, math.log(8), copies=8)]
KINDS = [GUESSED, USER_CODE, GRID, SHARPEN]

Length = Callable[[int, int, float], float]  # (index, surprises before the batch, nats before the batch)
Path = tuple[Symbol, ...]
Asker = Callable[[Path], list[list[Symbol]]]  # the kinds of the asks of the next batch


def mixed(path: Path) -> list[list[Symbol]]:
    """An asker whose kinds and batch sizes depend on the whole path."""
    turn = sum((k + 1) * (round(8 * s.nats) + 3 * s.surprise + 1) for k, s in enumerate(path))
    return [KINDS[(turn + k) % len(KINDS)] for k in range(1 + turn % 3)]


def plain(path: Path) -> list[list[Symbol]]:
    """An asker who guesses every time, one ask at a time."""
    return [GUESSED]


def enumerate_tree(length: Length, asker: Asker, depth: int, path: Path = ()) -> float:
    """The sum of the weights of all nodes at index 1..depth below ``path``."""
    f, nats = sum(s.surprise for s in path), math.fsum(s.nats for s in path)
    copies = math.prod(s.copies for s in path)
    start = len(path) + 1
    kinds = asker(path)[: depth + 1 - start]
    end = start + len(kinds)
    total = copies * math.fsum(math.exp(-length(t, f, nats)) for t in range(start, end))
    if end <= depth:
        total += math.fsum(enumerate_tree(length, asker, depth, path + s) for s in product(*kinds))
    return total


DEPTH = 6


@pytest.mark.parametrize("planned", [None, DEPTH])
def test_all_nodes_of_a_mixed_tree_weigh_at_most_one(planned: int | None) -> None:
    total = enumerate_tree(lambda i, f, nats: code_length(i, f, nats, planned), mixed, DEPTH)
    assert 0.3 < total <= 1.0


@pytest.mark.parametrize("planned", [None, DEPTH])
def test_the_code_wastes_nothing_but_counts_that_cannot_be(planned: int | None) -> None:
    """Guessed one by one, the sum is sum_i w_i (1 - 1/(i+1)): i - 1 asks cannot hold i surprises or more."""
    total = enumerate_tree(lambda i, f, nats: code_length(i, f, nats, planned), plain, DEPTH)
    known = math.fsum(math.exp(-position_nats(i, planned)) * (1 - 1 / (i + 1)) for i in range(1, DEPTH + 1))
    assert total == pytest.approx(known, rel=1e-12)


def test_mistake_no_code_at_all() -> None:
    assert enumerate_tree(lambda i, f, nats: 0.0, plain, DEPTH) > 1000


def test_mistake_where_the_surprises_fell_is_not_charged() -> None:
    def length(i: int, f: int, nats: float) -> float:
        return code_length(i, f, nats, DEPTH) - log_choose(i - 1, f)

    assert enumerate_tree(length, plain, DEPTH) > 1.3


def test_mistake_offsets_are_not_charged() -> None:
    assert enumerate_tree(lambda i, f, nats: code_length(i, f, 0.0, DEPTH), plain, DEPTH) > 10
    assert enumerate_tree(lambda i, f, nats: code_length(i, f, 0.0, DEPTH), mixed, DEPTH) > 10


def after_the_answer(depth: int, path: Path = ()) -> float:
    """The sum where the level of an ask is set from f and nats *after* its answer: one weight a symbol."""
    total = 0.0
    for symbol in GUESSED:
        longer = (*path, symbol)
        f, i = sum(s.surprise for s in longer), len(longer)
        nats = math.fsum(s.nats for s in longer)
        where = log_choose(i - 1, min(f, i - 1))
        total += math.exp(-(position_nats(i, depth) + math.log((f + 1) * (f + 2)) + where + nats))
        if i < depth:
            total += after_the_answer(depth, longer)
    return total


def test_mistake_counts_taken_after_the_answer() -> None:
    """C(i, f) ways share weights made for C(i-1, f): little, but the sum passes 1 from depth 6 on."""

    def closed(depth: int) -> float:
        terms = (
            math.comb(i, f) / math.comb(i - 1, min(f, i - 1)) / ((f + 1) * (f + 2)) / depth
            for i in range(1, depth + 1)
            for f in range(i + 1)
        )
        return math.fsum(terms)

    assert after_the_answer(DEPTH) == pytest.approx(closed(DEPTH), rel=1e-12)
    assert closed(DEPTH) > 1.01
    assert closed(30) > 1.14


def worst_case(asks: int, row: Callable[[np.ndarray, int, int], np.ndarray], longest: int) -> float:
    """The largest sum over all askers of ``asks`` planned asks, in batches of up to ``longest``.

    Agreement, or all cells of a grid, weigh 1 together; all surprises weigh 1 together. So after an ask
    without a guess the value is that at the same f, and after a guessed one the sum of those at f and f + 1. The
    weight is 1 / (asks (f+1)(f+2) C(row, f)), where ``row(guessed, start, t)`` is the length that the code
    puts in C(., f) for ask t of a batch that starts at index ``start`` after so many guessed asks.
    """
    guessed, f = np.meshgrid(np.arange(asks + 1), np.arange(asks + 1), indexing="ij")
    ways = np.array([[math.comb(n, k) for k in range(asks + 1)] for n in range(asks + 1)], dtype=float)
    prior = 1.0 / (asks * (f + 1.0) * (f + 2.0))
    after = {asks + 1: (np.zeros(f.shape), np.zeros(f.shape))}  # by end of the batch: if guessed, if not
    best = np.zeros(f.shape)
    for start in range(asks, 0, -1):
        for end, (value, unguessed) in after.items():
            grown = np.zeros(f.shape)
            grown[:-1, :-1] = value[1:, :-1] + value[1:, 1:]
            after[end] = (grown, unguessed)
        best, gain = np.zeros(f.shape), np.zeros(f.shape)
        possible = (f <= guessed) & (guessed < start)
        for t in range(start, min(asks, start + longest - 1) + 1):
            choices = ways[row(guessed, start, t), f]
            gain = gain + np.where(possible, prior / np.where(choices > 0, choices, np.inf), 0.0)
            best = np.maximum(best, gain + np.maximum(*after[t + 1]))
        after[start] = (best, best)
    return float(best[0, 0])


def true_index(guessed: np.ndarray, start: int, t: int) -> np.ndarray:
    return np.full(guessed.shape, t - 1)


def frozen_index(guessed: np.ndarray, start: int, t: int) -> np.ndarray:
    return np.full(guessed.shape, start - 1)


def only_guessed(guessed: np.ndarray, start: int, t: int) -> np.ndarray:
    return guessed


def test_no_asker_passes_one_whatever_it_guesses_and_batches() -> None:
    asks = 40
    all_guessed = math.fsum(1 - 1 / (i + 1) for i in range(1, asks + 1)) / asks
    assert worst_case(asks, true_index, longest=asks) == pytest.approx(all_guessed, rel=1e-9)
    assert all_guessed < 1.0


def test_mistake_the_count_frozen_at_the_start_of_a_batch() -> None:
    assert worst_case(60, frozen_index, longest=60) > 1.1


def test_mistake_only_guessed_asks_are_counted() -> None:
    """Asks without a guess do not lengthen C(., f), so they come at the price of shorter transcripts."""
    assert worst_case(60, only_guessed, longest=1) > 1.1
