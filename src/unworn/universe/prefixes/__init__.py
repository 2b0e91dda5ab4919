"""Prefix sums from noisy measurements: what to measure, and how every prefix follows from it."""

from unworn.universe.prefixes.consistent import ConsistentTree
from unworn.universe.prefixes.direct import Direct
from unworn.universe.prefixes.lowest import lowest
from unworn.universe.prefixes.monotone import monotone
from unworn.universe.prefixes.square_root import SquareRoot
from unworn.universe.prefixes.strategy import Strategy
from unworn.universe.prefixes.tree import Tree

__all__ = ["ConsistentTree", "Direct", "SquareRoot", "Strategy", "Tree", "lowest", "monotone"]
