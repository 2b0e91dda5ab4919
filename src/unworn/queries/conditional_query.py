"""Conditional shares: of the rows in a subset, how many say yes.

Precision, recall, the accuracy of a subgroup: which rows are in the subset depends on the rows, so the share is no mean
over all of them. Given how many rows the subset has, those that say yes are a plain binomial count of that many rows.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, NoReturn

from unworn.errors import Unaskable
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Bools, Frame
from unworn.queries.schema import Schema

if TYPE_CHECKING:
    from unworn.queries.language.means import Share


class ConditionalQuery(Query):
    """How often something holds among the rows where something else does: P(B | A)."""

    @abstractmethod
    def tallies(self, frame: Frame) -> tuple[Bools, Bools]:
        """For each row whether it is in the subset and says yes, and whether it is in the subset. Total."""

    def as_shares(self) -> tuple[Share, Share] | None:
        """The same two as questions about columns alone, where they are: what an engine can count."""
        return None

    def subset_share(self) -> float | None:
        """The share of all rows that lie in the subset, where the asker's own array decides it; else None."""
        return None

    def values(self, frame: Frame) -> NoReturn:
        """A row outside the subset has no value, so there is none to average."""
        raise TypeError(f"{self.label} is counted over a subset of the rows, and has no value for each row")


def conditional_facts(schema: Schema, what: str, runs_code: bool = False) -> Facts:
    """What is public about a conditional share, or why there is none of it."""
    if schema.grouped:
        raise Unaskable(
            f"{what} is a share of the rows in a subset, and here the sampled unit is a group of rows: how much a "
            "group weighs would depend on how many of its rows lie in the subset. Ask for two plain shares, whose "
            "ratio it is, or seal rows without groups="
        )
    return Facts("conditional", 0.0, 1.0, zero_one=True, runs_code=runs_code)
