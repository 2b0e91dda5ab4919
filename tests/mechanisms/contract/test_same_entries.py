"""What every mechanism writes into a ledger stays what it was, byte for byte.

Processors and mathematical libraries round differently in the last bit, so there is a set of hashes for each kind that
was met. ``python -m tests.mechanisms.contract.test_same_entries`` adds this machine's to the others; a change that is
meant to change entries drops them first (``--anew``).
"""

from __future__ import annotations

import json
import math
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from tests.mechanisms.contract.all_conversations import TALKS, hold
from unworn.basics.json_text import canonical
from unworn.bounds import clopper_pearson
from unworn.bounds.covers import cosine_nats
from unworn.mechanisms import kinds
from unworn.mechanisms.contract.declarations import theorem_of
from unworn.record.certificate import Certificate
from unworn.record.replay.store_check import check_stored_chain

FILE = Path(__file__).parent / "data" / "entry_hashes.json"


def rounding_of_this_machine() -> str:
    """A digest of numbers that another processor or mathematical library may round otherwise."""
    numbers = [math.log(place) * math.exp(-place / 7) for place in range(1, 50)]
    numbers += [float(limit) for count in range(0, 600, 37) for limit in clopper_pearson(float(count), 600.0, -9.0)]
    numbers += [cosine_nats(20_000, 0.3, radius) for radius in (90, 400)]
    return sha256(repr(numbers).encode()).hexdigest()[:16]


def hashes(name: str) -> list[str]:
    """The beginning of the hash of each entry, and of all their cards together; the chain is verified on the way.

    Cards are taken as they were before those of noisy answers among coded ones named Theorem U.
    """
    store = hold(name)
    ((holdout, first),) = store.holdouts().items()
    entries = store.read(holdout, 0)
    check_stored_chain(store, first, len(entries))
    cards = sha256()
    for entry in entries[1:]:
        card = Certificate.of(first, entry)
        card.verify()
        cards.update(canonical({**card.to_json(), "theorem": theorem_of(card.terms.mechanism)}).encode())
    return [*(entry.hash[:12] for entry in entries), cards.hexdigest()[:12]]


def test_each_mechanism_speaks() -> None:
    assert {type(mechanism).__name__ for mechanism, *_ in TALKS.values()} == set(kinds())


@pytest.mark.parametrize("name", TALKS)
def test_entries_are_what_they_were(name: str) -> None:
    sets = json.loads(FILE.read_text())
    ours, known = hashes(name), sets.get(rounding_of_this_machine())
    if ours in [each[name] for each in sets.values()]:
        return  # a machine may round the numbers of one mechanism as one of those does, and of another as another
    if known is None:
        pytest.skip("no hashes of a machine that rounds like this one: add them, from code that is known to be right")
    assert ours == known[name]


if __name__ == "__main__":
    sets = {} if "--anew" in sys.argv else json.loads(FILE.read_text())
    sets[rounding_of_this_machine()] = {name: hashes(name) for name in TALKS}
    FILE.write_text(json.dumps(sets, indent=1) + "\n")
