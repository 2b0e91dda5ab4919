"""Many questions put together from the same few tests: each test is made once a run of rows, and kept as bits.

Ten thousand questions ``a & b`` about a few hundred tests need those tests and ten thousand times a bitwise *and* of an
eighth of the memory, which then stays in cache. What is counted are bits, so that nothing here can depend on an order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from unworn.queries.language.evaluation import truth
from unworn.queries.language.expressions import Expression, Logic, Not
from unworn.queries.language.means import Share
from unworn.queries.language.shared_parts import ROOM, Keys
from unworn.queries.row_protocol import Bools, Frame

Words = NDArray[np.uint64]
Tree = int | tuple[str, tuple["Tree", ...]]
"""The number of a test, or what is made of others: ``and``, ``or``, ``not``."""

_JOIN = {"and": np.bitwise_and, "or": np.bitwise_or}
OFTEN = 2.0
"""How often a test is met on average before bits are worth making."""


@dataclass(frozen=True)
class Bits:
    """Questions as trees over numbered tests."""

    trees: Sequence[Tree]
    tests: Mapping[int, Expression]
    kept: frozenset[int]

    def add(self, counts: list[int], places: Sequence[int], frame: Frame, inside: Bools | None) -> None:
        """Count one more run of rows."""
        found: dict[int, Words] = {}

        def value(tree: Tree) -> Words:
            if isinstance(tree, int):
                words = found.get(tree)
                if words is None:
                    words = _packed(truth(self.tests[tree], frame))
                    if tree in self.kept:
                        found[tree] = words
                return words
            op, parts = tree
            if op == "not":
                return np.bitwise_not(value(parts[0]))
            return reduce(_JOIN[op], map(value, parts))

        # A negation also turns over the bits that stand for no row: where there are such, they have to fall away.
        full = inside is None and frame.size % 64 == 0
        whole = None if full else _packed(np.ones(frame.size, dtype=np.bool_) if inside is None else inside)
        for place, tree in zip(places, self.trees, strict=True):
            words = value(tree)
            counts[place] += int(np.bitwise_count(words if whole is None else words & whole).sum())


def bits(keys: Keys, asked: Iterable[Share]) -> Bits | None:
    """These questions as trees; None where too few tests are met more than once."""
    tests: dict[int, Expression] = {}
    times: Counter[int] = Counter()

    def tree(expression: Expression) -> Tree:
        if isinstance(expression, Logic):
            return expression.op, tuple(map(tree, expression.operands))
        if isinstance(expression, Not):
            return "not", (tree(expression.operand),)
        number = keys.of(expression)
        times[number] += 1
        tests.setdefault(number, expression)
        return number

    trees = [tree(query.where) for query in asked]
    if times.total() < OFTEN * len(tests) or not trees:
        return None
    return Bits(trees, tests, frozenset(number for number, often in times.most_common(8 * ROOM) if often > 1))


def _packed(truths: Bools) -> Words:
    """Eight rows a byte, and bits for no row up to a whole number of words."""
    packed = np.packbits(truths)
    if len(packed) % 8:
        packed = np.concatenate([packed, np.zeros(-len(packed) % 8, dtype=np.uint8)])
    return packed.view(np.uint64)
