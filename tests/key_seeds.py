"""Keys of tests follow from what asks for them: what rests on a secret draw is the same in every run.

A holdout's key decides which rows are for practice and what noise is drawn. Where a test depends on more of that than
it should, it fails always or never, and ``UNWORN_TEST_SEEDS=3`` (:mod:`tests.two_sizes`) finds it on other keys.
Processes that a test starts draw keys from the operating system as everybody does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from unittest.mock import patch

from unworn.ledger.keys import Key


@contextmanager
def keys_for(name: str) -> Iterator[None]:
    """Every new key of this process is made of this name, and of how many came before it."""
    seeds, numbers, process = os.environ.get("UNWORN_TEST_SEEDS", "0"), count(), os.getpid()

    def new(cls: type[Key]) -> Key:
        if os.getpid() != process:  # a fork would make its parent's next key
            return cls(os.urandom(32))
        return cls(sha256(f"{seeds}/{name}/{next(numbers)}".encode()).digest())

    with patch.object(Key, "new", classmethod(new)):
        yield
