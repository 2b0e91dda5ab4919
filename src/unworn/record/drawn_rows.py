"""Which rows drawn ahead an answer was made from: of each pool, the numbers that were used, as spans."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from unworn.basics.typed_fields import is_whole

Draw = tuple[str, int]
"""The name of a pool, and which of its draws."""


@dataclass(frozen=True, slots=True)
class DrawnRows:
    """Draws are used nearly in order, so a span or two per pool says it all.

    >>> drawn = DrawnRows().with_draws([("a", 0), ("a", 2), ("a", 1), ("b", 7)])
    >>> drawn.spans
    {'a': [(0, 3)], 'b': [(7, 8)]}
    >>> ("a", 2) in drawn, ("a", 3) in drawn
    (True, False)
    """

    spans: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def __contains__(self, draw: Draw) -> bool:
        spans = self.spans.get(draw[0], [])
        place = bisect_right(spans, draw[1], key=lambda span: span[0]) - 1
        return place >= 0 and draw[1] < spans[place][1]

    def with_draws(self, draws: Iterable[Draw]) -> DrawnRows:
        """With more of them, which are new."""
        spans = {pool: list(known) for pool, known in self.spans.items()}
        for pool, number in sorted(draws):
            known = spans.setdefault(pool, [])
            place = bisect_right(known, number, key=lambda span: span[0])
            start, stop = number, number + 1
            if place and known[place - 1][1] == start:
                place, start = place - 1, known[place - 1][0]
                del known[place]
            if place < len(known) and known[place][0] == stop:
                stop = known[place][1]
                del known[place]
            known.insert(place, (start, stop))
        return DrawnRows(spans)

    def to_json(self) -> dict[str, Any]:
        return {pool: [list(span) for span in spans] for pool, spans in self.spans.items()}

    @classmethod
    def from_json(cls, told: Any) -> DrawnRows:
        spans = {pool: [(int(start), int(stop)) for start, stop in known] for pool, known in told.items()}
        if not all(is_whole(end, 0) for known in told.values() for span in known for end in span):
            raise ValueError("draws are numbered from 0")
        return cls(spans)
