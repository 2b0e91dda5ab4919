"""Prefix sums from noisy measurements: what to measure, and how every prefix follows from it."""

from unworn.universe.prefixes.consistent_tree import ConsistentTree
from unworn.universe.prefixes.count_tree import CountTree
from unworn.universe.prefixes.direct_sums import Direct
from unworn.universe.prefixes.lowest_error import lowest
from unworn.universe.prefixes.monotone_prefixes import monotone
from unworn.universe.prefixes.prefix_strategy import PrefixStrategy
from unworn.universe.prefixes.square_root import SquareRoot

__all__ = ["ConsistentTree", "CountTree", "Direct", "PrefixStrategy", "SquareRoot", "lowest", "monotone"]
