"""What a holdout sees of its rows, wherever they lie: in memory, in a mapped file, or in an engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from unworn.queries.query import Query
from unworn.queries.row_protocol import SealedRows
from unworn.queries.schema import Schema

if TYPE_CHECKING:
    from unworn.rows.memory.sample import Sample


class HeldRows(SealedRows, Protocol):
    """Rows that were given to a holdout: with what is public about them, and how they are sealed and parted."""

    schema: Schema
    """What is public about their columns."""

    @property
    def columns(self) -> Mapping[str, Any]:
        """Their columns by name."""

    @property
    def rows(self) -> int:
        """How many rows there are here."""

    @property
    def length(self) -> int:
        """How many were given: what an array of predictions runs over, also where these are a part of them."""

    @property
    def groups(self) -> Any:
        """Which sampled unit each row belongs to, where that is not the row."""

    @property
    def has_features(self) -> bool:
        """Whether there is something to show a model."""

    @property
    def title(self) -> str:
        """What a holdout of these rows is called, if nobody names it."""

    @property
    def path(self) -> Path | None:
        """The file they came in, if they came in one."""

    @property
    def backend(self) -> str:
        """The library whose frames the asker uses."""

    def check(self, query: Query) -> None:
        """Refuse what rows that lie here cannot be asked, before any is read."""

    def seal(self, secret: bytes) -> None:
        """From now on parts of the rows follow from this secret."""

    def restricted(self, secret: bytes, span: slice, shown: bool = False) -> Sample:
        """Some of the units, in an order that follows from the secret; ``shown`` where the asker may see them."""

    def emptied(self) -> HeldRows:
        """None of the rows, for a holdout that can only be read."""

    def close(self) -> None:
        """Let go of files."""
