"""The coded mechanisms themselves against every asker of the exact trees: what they promise of a few rows, they keep.

Probabilities are summed, so nothing is left to chance. How much of the promise the worst asker gets is printed by
``python -m tests.theory.test_exact_mechanisms``: what is left is what a sharper theorem could still give away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest

from tests.theory.exact_trees import JUST, worst_fresh, worst_same_rows
from tests.theory.mechanism_law import MechanismLaw
from tests.two_sizes import in_two_sizes
from unworn.mechanisms import AboveThreshold, GuessAndCheck, Ladder, Mechanism, Offer, Published, Rounding
from unworn.mechanisms.contract.mechanism import Symbol

# name: (mechanism, rows, guesses)
MECHANISMS: dict[str, tuple[Mechanism, int, tuple[float | None, ...]]] = {
    "guess and check": (GuessAndCheck(), 8, (0.0, 0.5, None)),
    "guess and check, talkative": (GuessAndCheck(z=0.5, cell=1 / 6), 6, (0.0, 0.5)),
    "guess and check, every count a word": (GuessAndCheck(z=0.1, cell=0.25), 4, (0.0, 0.5)),
    "rounding": (Rounding(5), 6, (None,)),
    "above a half": (AboveThreshold(0.5, tops=None), 6, (None,)),
    "ladder": (Ladder(0.25), 6, (None,)),
}


@pytest.mark.parametrize("planned", [None, 4], ids=["anytime", "planned"])
@pytest.mark.parametrize("beta", [0.5, 0.05])
@pytest.mark.parametrize("name", MECHANISMS)
@in_two_sizes(short=(3, 2), full=(4, 3))
def test_no_asker_gets_more_than_is_promised(
    name: str, beta: float, planned: int | None, size: tuple[int, int]
) -> None:
    mechanism, rows, guesses = MECHANISMS[name]
    law = MechanismLaw(mechanism, rows, beta, guesses, planned)
    fresh, same = size
    assert 0 < worst_fresh(law, fresh) <= 1 + JUST
    assert 0 < worst_same_rows(law, same, between=1) <= 1 + JUST


@dataclass(frozen=True)
class NothingPaid(GuessAndCheck):
    """Planted: every interval at the whole level, whatever was told before."""

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        return super().reveal(replace(offer, log_level=math.log(0.5)), symbol)


def test_a_mechanism_that_forgets_what_was_told_is_caught() -> None:
    law = MechanismLaw(NothingPaid(z=0.5, cell=1 / 8), 8, 0.5, (0.0, 0.5))
    assert worst_fresh(law, 3) > 1.1
    assert worst_same_rows(law, 2) > 1.1


if __name__ == "__main__":
    for _name, (_mechanism, _rows, _guesses) in MECHANISMS.items():
        for _beta in (0.5, 0.05):
            _law = MechanismLaw(_mechanism, _rows, _beta, _guesses)
            print(f"{_name}, {_rows} rows, beta {_beta}: {worst_fresh(_law, 3):.3f} {worst_same_rows(_law, 2):.3f}")
