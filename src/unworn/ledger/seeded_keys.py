"""Keys from a seed, so that what was asked can be asked again to the same numbers.

Only the lab and fits with a ``random_state`` do this: whoever knows the seed knows the key, and certificates say so.
"""

from __future__ import annotations

import numpy as np

from unworn.ledger.keys import Key
from unworn.ledger.stores.memory_store import MemoryStore


class SeededStore(MemoryStore):
    """A ledger in memory whose holdouts get their keys from a generator instead of the operating system.

    >>> store = SeededStore(np.random.default_rng(7))
    >>> store.new_key() == SeededStore(np.random.default_rng(7)).new_key()
    True
    """

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        self._rng = rng

    def clock(self) -> float:
        """The time of every entry: noise depends on the ledger's head, and so on all that is entered."""
        return 0.0

    def new_key(self) -> Key:
        """What sealing asks a store for, if it has it."""
        return Key(self._rng.bytes(32))
