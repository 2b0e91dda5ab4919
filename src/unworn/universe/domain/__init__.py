"""Finite domains: every row that could be."""

from unworn.universe.domain.bins import Bins
from unworn.universe.domain.domain import Domain
from unworn.universe.domain.value_columns import OTHER

__all__ = ["OTHER", "Bins", "Domain"]
