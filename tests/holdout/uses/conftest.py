"""A ledger for each test."""

import pytest

from unworn.ledger import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()
