"""Chains that are read as they are needed: from a list, or from the store that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

if TYPE_CHECKING:
    from unworn.ledger import Entry, Store

_T = TypeVar("_T")
Source = Callable[[int, int | None], "list[Entry]"]
"""The durable entries from one index up to another, or up to the last there is."""
CHUNK = 1024
"""Entries that are read at once by whoever goes through all of them."""


def source_of(entries: Sequence[Entry]) -> Source:
    """A chain that is at hand."""
    return lambda start, stop: list(entries[start:stop])


def source_in(store: Store, holdout: str) -> Source:
    """A chain that a store keeps."""
    return lambda start, stop: store.read(holdout, start, stop)


class LazyView(Sequence[_T]):
    """A sequence that is read piece by piece, and keeps none of them."""

    def __init__(self, length: int, at: Callable[[int], _T], run: Callable[[int, int], list[_T]]) -> None:
        self._length, self._at, self._run = length, at, run

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> _T: ...
    @overload
    def __getitem__(self, place: slice) -> list[_T]: ...
    def __getitem__(self, place: int | slice) -> _T | list[_T]:
        if isinstance(place, slice):
            start, stop, step = place.indices(self._length)
            return self._run(start, stop) if step == 1 else [self[each] for each in range(start, stop, step)]
        if not -self._length <= place < self._length:
            raise IndexError(f"there are {self._length}, and none at {place}")
        return self._at(place % self._length)

    def __iter__(self) -> Iterator[_T]:
        for start in range(0, self._length, CHUNK):
            yield from self._run(start, min(start + CHUNK, self._length))

    def first(self, length: int) -> LazyView[_T]:
        """The first so many."""
        return LazyView(length, self._at, self._run)
