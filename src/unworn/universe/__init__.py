"""Finite universes: domains, workloads of many questions, and distributions over every row that could be."""

from __future__ import annotations

from unworn.universe.domain.bins import Bins
from unworn.universe.domain.domain import Domain
from unworn.universe.domain.value_columns import OTHER
from unworn.universe.workload import Conjunctions, Marginals, Ranges, Shares, Thresholds, Workload

__all__ = ["OTHER", "Bins", "Conjunctions", "Domain", "Marginals", "Ranges", "Shares", "Thresholds", "Workload"]
