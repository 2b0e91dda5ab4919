"""The largest probability with which an asker can make some interval miss: summed, by dynamic programming.

A mechanism that releases words is here what Theorem C' speaks of and nothing more, a :class:`Law`: at every node of the
conversation which words there are, what chance the law Q gives each, and which interval is published. The rows are so
few (2 to 8) that nothing is simulated. Two classes of askers are gone through:

- :func:`worst_fresh`: every question is about something that the rows were never asked of, so that counts are
  independent. The asker chooses, knowing all words so far, what to ask and how often it is true in the population.
- :func:`worst_same_rows`: questions about the same rows. Those asked so far part the population into kinds of rows,
  and the next question holds for each kind wholly, not at all, or for one common share of it: a repeat, its opposite,
  unions and intersections of earlier questions, fresh questions, and what lies between. (Of more than four kinds, one
  or all are held in part.) What the words have told of how many rows are of each kind is carried along, exactly. Not
  every question is of this form: ``all_shares`` tries last questions with a share of its own for each kind, which
  brought 5e-5 of the promise more.

Where a question's truth can be chosen, it is tried just outside the limits of each word, where missing is likeliest,
and at places between. The asker stops when it likes. Nothing here depends on the mechanisms:
:mod:`tests.theory.code_laws` has the theorem in its simplest form, :mod:`tests.theory.mechanism_law` real ones.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ask = Hashable
"""What an asker may send, besides the question itself: a guess, a grid, a request for the final number."""
Symbol = Hashable
Past = tuple[tuple[Ask, Symbol], ...]
"""The conversation so far: what was sent, and the word that came back."""

JUST = 1e-9
"""How far outside an interval a truth is put."""
SLIP = 1e-12
"""What sums of floats may be off by: a truth that is outside by less is not missed."""


class Node(NamedTuple):
    """A place of the conversation at which rows are about to be read."""

    past: Past
    ask: Ask


class Intervals(Protocol):
    """A mechanism, as the words it releases and the intervals it publishes: all that missing depends on."""

    @property
    def rows(self) -> int: ...

    @property
    def beta(self) -> float:
        """What is promised: some interval of a conversation misses with at most this probability."""

    def asks(self, past: Past) -> Sequence[Ask]:
        """What may be sent next; nothing, if the conversation is closed."""

    def symbol(self, node: Node, count: int) -> Symbol:
        """The word for so many rows of which the question is true."""

    def limits(self, node: Node, symbol: Symbol) -> tuple[float, float]:
        """What is published: an interval for the share of the population, ends included."""


class Law(Intervals, Protocol):
    """The same with the law Q on conversations that its levels are made of."""

    def words(self, node: Node) -> list[tuple[Symbol, float]]:
        """The words at a node, each with the chance that Q gives it there: at most 1 together."""


# ---------------------------------------------------------------------------------------- is Q a law in time?


def largest_antichain(law: Law, depth: int, past: Past = ()) -> float:
    """The largest sum of Q over nodes none of which comes after another, for any asker: at most 1, if Q is a law."""
    if depth == 0:
        return 0.0
    best = 0.0
    for ask in law.asks(past):
        total = 0.0
        for symbol, chance in law.words(Node(past, ask)):
            total += chance * max(1.0, largest_antichain(law, depth - 1, (*past, (ask, symbol))))
        best = max(best, total)
    return best


# ---------------------------------------------------------------------------------------- fresh questions


def worst_fresh(law: Intervals, depth: int, between: int = 9) -> float:
    """max P(some interval misses) / beta over all askers of at most ``depth`` questions that are new to the rows."""
    return _fresh(law, depth, (), between) / law.beta


def _fresh(law: Intervals, depth: int, past: Past, between: int) -> float:
    if depth == 0:
        return 0.0
    best = 0.0
    for ask in law.asks(past):
        table = _table(law, Node(past, ask))
        truths = np.array(_targets(table, between))
        chances = _binomials(law.rows, truths)  # one line a truth
        value = np.zeros(len(truths))
        for symbol, (low, high), counts in table:
            later = _fresh(law, depth - 1, (*past, (ask, symbol)), between)
            missed = _missed(truths, low, high)
            value += chances[:, counts].sum(axis=1) * np.where(missed, 1.0, later)
        best = max(best, float(value.max()))
    return best


# ---------------------------------------------------------------------------------------- questions about the same rows


def worst_same_rows(law: Intervals, depth: int, between: int = 3, all_shares: int = 0) -> float:
    """The same for questions about the same rows.

    ``all_shares``, if it is not 0, is into how many steps the share of *each* kind of rows is cut, each on its own, in
    the last question; all of these are then tried too.
    """
    known = Known(np.ones(1), np.array([[law.rows]]), np.ones(1))
    return _same_rows(law, depth, (), known, between, all_shares) / law.beta


@dataclass(frozen=True)
class Known:
    """Kinds of rows: how large each is in the population, and how many rows may be of each, with what chances.

    The chances are those of the conversation so far as well, so that they sum to its probability.
    """

    masses: Floats
    counts: NDArray[np.int64]
    chances: Floats

    def totals(self, shares: Floats) -> Floats:
        """P(the conversation, and a question true of so many rows): a line for each line of ``shares``, one a kind."""
        n = int(self.counts[0].sum())
        law = np.zeros((len(shares), len(self.counts), n + 1))
        law[:, :, 0] = 1.0
        for kind in range(len(self.masses)):
            ways = _binomials_of(n, shares[:, kind])[:, self.counts[:, kind]]
            longer = np.zeros_like(law)
            for more in range(n + 1):
                longer[:, :, more:] += ways[:, :, more : more + 1] * law[:, :, : n + 1 - more]
            law = longer
        found: Floats = np.einsum("qmc,m->qc", law, self.chances)
        return found

    def told(self, shares: Floats, counts: Sequence[int]) -> Known:
        """What is known once a question with these shares was true of one of these numbers of rows."""
        masses = [part for mass, share in zip(self.masses, shares, strict=True) for part in _parts(mass, share)]
        n = int(self.counts[0].sum())
        ways = _binomials_of(n, shares)
        found: dict[tuple[int, ...], float] = {}
        for line, chance in zip(self.counts, self.chances, strict=True):
            splits = [
                range(count + 1) if 0 < share < 1 else [round(count * share)]
                for count, share in zip(line, shares, strict=True)
            ]
            for held in product(*splits):
                if sum(held) in counts:
                    key: tuple[int, ...] = ()
                    likely = chance
                    for kind, (count, part) in enumerate(zip(line, held, strict=True)):
                        likely *= ways[kind, count, part]
                        key += (part, int(count) - part) if 0 < shares[kind] < 1 else (int(count),)
                    found[key] = found.get(key, 0.0) + likely
        return Known(np.array(masses), np.array(list(found)), np.array(list(found.values())))


def _parts(mass: float, share: float) -> tuple[float, ...]:
    return (mass * share, mass * (1 - share)) if 0 < share < 1 else (mass,)


def _same_rows(law: Intervals, depth: int, past: Past, known: Known, between: int, all_shares: int) -> float:
    if depth == 0 or known.chances.sum() <= 0:
        return 0.0
    best = 0.0
    for ask in law.asks(past):
        table = _table(law, Node(past, ask))
        shares = _questions(known.masses, _targets(table, between), past == ())
        if len(shares) == 0:
            continue
        last = depth == 1 or all(not law.asks((*past, (ask, symbol))) for symbol, _, _ in table)
        if last and all_shares:
            steps = np.linspace(0, 1, all_shares + 1)
            shares = np.concatenate([shares, np.array(list(product(steps, repeat=len(known.masses))))])
        truths, totals = shares @ known.masses, known.totals(shares)
        value = np.zeros(len(shares))
        for symbol, (low, high), counts in table:
            missed = _missed(truths, low, high)
            value += np.where(missed, totals[:, counts].sum(axis=1), 0.0)
            if not last:
                for place in np.flatnonzero(~missed & (totals[:, counts].sum(axis=1) > 0)):
                    told = known.told(shares[place], counts)
                    value[place] += _same_rows(law, depth - 1, (*past, (ask, symbol)), told, between, all_shares)
        best = max(best, float(value.max()))
    return best


def _questions(masses: Floats, targets: Sequence[float], first: bool) -> Floats:
    """For each kind of rows wholly, not at all, or a common share of it, so that the truth is one of the targets."""
    found = []
    for pattern in product((0.0, 1.0, math.nan), repeat=len(masses)):
        holds = np.array(pattern)
        free = np.isnan(holds)
        if len(masses) > 4 and 1 < free.sum() < len(masses):
            continue
        base, room = float(masses @ np.where(free, 0.0, holds)), float(masses[free].sum())
        if not free.any():
            if not first:  # the first question is one about everything or nothing, otherwise
                found.append(holds)
            continue
        for target in targets:
            share = (target - base) / room
            if 0 < share < 1:
                found.append(np.where(free, share, holds))
    return np.array(found)


# ---------------------------------------------------------------------------------------- what both need


@lru_cache(maxsize=100_000)
def _table(law: Intervals, node: Node) -> list[tuple[Symbol, tuple[float, float], list[int]]]:
    """Every word that can come, what it publishes, and the counts it stands for."""
    cells: dict[Symbol, list[int]] = {}
    for count in range(law.rows + 1):
        cells.setdefault(law.symbol(node, count), []).append(count)
    return [(symbol, law.limits(node, symbol), counts) for symbol, counts in cells.items()]


def _missed(truths: Floats, low: float, high: float) -> NDArray[np.bool_]:
    return (truths < low - SLIP) | (truths > high + SLIP)


def _targets(table: Sequence[tuple[Symbol, tuple[float, float], list[int]]], between: int) -> list[float]:
    """Truths to try: just outside every interval, and at even places."""
    ends = {low - JUST for _, (low, _), _ in table} | {high + JUST for _, (_, high), _ in table}
    evenly = {(place + 1) / (between + 1) for place in range(between)}
    return sorted(truth for truth in ends | evenly if 0 < truth < 1)


@lru_cache(maxsize=64)
def _choices(n: int) -> Floats:
    return np.array([[math.comb(k, j) for j in range(n + 1)] for k in range(n + 1)], dtype=np.float64)


def _binomials_of(n: int, shares: Floats) -> Floats:
    """P(j of k) for each share, k and j up to n."""
    j, k = np.arange(n + 1), np.arange(n + 1)
    held = shares[:, None] ** j  # 0^0 is 1
    not_held = (1 - shares)[:, None, None] ** np.maximum(k[:, None] - j, 0)
    found: Floats = _choices(n) * held[:, None, :] * not_held
    return found


def _binomials(n: int, truths: Floats) -> Floats:
    found: Floats = _binomials_of(n, truths)[:, n]
    return found


def each_node(law: Law, depth: int, past: Past = ()) -> Iterator[Node]:
    """Every node down to a depth, for checks of what a law says at each."""
    if depth:
        for ask in law.asks(past):
            node = Node(past, ask)
            yield node
            for symbol, _ in law.words(node):
                yield from each_node(law, depth - 1, (*past, (ask, symbol)))
