"""Finding the cell of a value ends, and ends in a cell that holds the value, also where the value lies on an edge."""

from __future__ import annotations

import pytest

from unworn.mechanisms import Guess, GuessAndCheck
from unworn.mechanisms.symbols.symbol_cells import edges, locate
from unworn.queries.query import Facts

FACTS = Facts("binary", 0.0, 1.0, zero_one=True)


@pytest.mark.parametrize(
    ("mechanism", "rows"),
    [(GuessAndCheck(z=0.1, cell=0.005), 200), (GuessAndCheck(cell=0.01), 450), (GuessAndCheck(cell=0.01), 392)],
)
def test_a_value_on_an_edge_finds_its_cell(mechanism: GuessAndCheck, rows: int) -> None:
    """Counts such as 12 of 450 lie where the rounded distance to the guess and the rounded edge disagree."""
    offer = mechanism.offer(mechanism.begin(rows, 0.95), FACTS, Guess(0.5))
    for count in range(rows + 1):
        low, high = edges(offer, locate(offer, count / rows))
        assert low <= count / rows <= high
