"""A real mechanism as the exact trees ask about it: its own offers, symbols, charges and intervals, no copy of them.

What is asked for is how often something is true of the rows. The rows are a stand-in that knows only that count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from tests.theory.exact_trees import Ask, Node, Past, Symbol
from unworn.mechanisms import Guess, Mechanism, Offer, State
from unworn.mechanisms.contract.conversation import charge_symbol, follow_event, publish_symbol
from unworn.queries import Query
from unworn.queries.query import Facts
from unworn.queries.row_protocol import Rows

FACTS = Facts("binary", 0.0, 1.0, zero_one=True)


@dataclass(frozen=True)
class CountedRows:
    """Rows of which nothing is known but how many the question is true of."""

    count: int

    def statistics(self, queries: Sequence[Query], part: object = None) -> list[int]:
        return [self.count for _ in queries]


@dataclass(frozen=True)
class MechanismLaw:
    """A mechanism that releases symbols about counts, with guesses (shares; None is an ask without one)."""

    mechanism: Mechanism
    rows: int
    beta: float
    guesses: tuple[float | None, ...]
    planned: int | None = None

    def asks(self, past: Past) -> Sequence[Ask]:
        return self.guesses

    def symbol(self, node: Node, count: int) -> Symbol:
        state, offer = _offered(self, node)
        rows = cast(Rows, CountedRows(count))
        return cast(Symbol, self.mechanism.answer(state, offer, cast(Query, None), rows).symbol)

    def limits(self, node: Node, symbol: Symbol) -> tuple[float, float]:
        published = publish_symbol(self.mechanism, _offered(self, node)[1], cast(Any, symbol))
        return published.low, published.high


@lru_cache(maxsize=100_000)
def _offered(law: MechanismLaw, node: Node) -> tuple[State, Offer]:
    """The state at a node, and the offer that is made there."""
    if node.past:
        ask, symbol = node.past[-1]
        state, offer = _offered(law, Node(node.past[:-1], ask))
        state = follow_event(law.mechanism, state, charge_symbol(law.mechanism, offer, cast(Any, symbol)))
    else:
        state = law.mechanism.begin(law.rows, 1 - law.beta, law.planned)
    guess = None if node.ask is None else Guess(cast(float, node.ask))
    return state, law.mechanism.offer(state, FACTS, guess)
