"""Keys from a seed, so that an experiment can be run again to the same numbers."""

from unworn.ledger.seeded import SeededStore

__all__ = ["SeededStore"]
