"""Numbers in bins between public edges, and which comparisons do not look inside a bin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.queries.language import literals
from unworn.queries.language.literals import Scalar
from unworn.queries.row_protocol import Column, Floats
from unworn.queries.schema import ColumnKind
from unworn.universe.domain.axes import MISSING, Axis, Places, unknown_in

FARTHEST = 1e300
"""How far out an edge may lie, so that there is always a number on either side of it."""


@dataclass(frozen=True, repr=False)
class Bins(Axis):
    """A number column cut at public edges: every bin holds its lower edge and not its upper one, the last bin too.

    So ``x < edge`` and ``x >= edge`` never split a bin. ``None`` (or an infinity) as the first or last edge leaves that
    end open; without it, a number beyond the edges lies outside the domain.

    Parameters
    ----------
    edges
        At least two, rising.
    missing
        Whether a missing value is a cell of its own. NaN and infinities are missing.
    whole
        Whether the column holds whole numbers only. Then ``x > 29`` is ``x >= 30``, values drawn from a bin are whole,
        and a row with any other number lies outside the domain.

    Examples
    --------
    >>> Bins([0, 18, 30, None]).labels
    ('[0, 18)', '[18, 30)', '[30, inf)')
    >>> Bins([0, 18, 30, None], missing=True).to_json()
    {'edges': [0, 18, 30, None], 'missing': True}
    """

    edges: tuple[float, ...]
    missing: bool = False
    whole: bool = False

    def __init__(self, edges: Iterable[float | None], missing: bool = False, whole: bool = False) -> None:
        for name, flag in (("missing", missing), ("whole", whole)):
            if not isinstance(flag, bool):
                raise ValueError(f"{name} is True or False, not {flag!r}")
        object.__setattr__(self, "edges", _read(edges, whole))
        object.__setattr__(self, "missing", missing)
        object.__setattr__(self, "whole", whole)

    @property
    def kind(self) -> ColumnKind:
        return "number"

    @property
    def bins(self) -> int:
        """How many bins, whether or not there is a cell for what is missing."""
        return len(self.edges) - 1

    def __len__(self) -> int:
        return self.bins + self.missing

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self._label(place) for place in range(self.bins)) + (MISSING,) * self.missing

    def _label(self, place: int) -> str:
        low, high = self.edges[place : place + 2]
        return f"{'(' if math.isinf(low) else '['}{_shown(low)}, {_shown(high)})"

    @property
    def ordered(self) -> bool:
        return not self.missing

    @property
    def coarse(self) -> bool:
        return True

    # ------------------------------------------------------------------ questions

    def unsettled(self, op: str, constants: Sequence[Scalar]) -> str | None:
        numbers = [cast(float, constant) for constant in constants]
        if op == "between":
            first, last = self._cut("ge", numbers[0]), self._cut("le", numbers[1])
            # Where nothing lies between the ends, no bin is split.
            splits = [] if first >= last else [("ge", numbers[0], first), ("le", numbers[1], last)]
        elif op in ("lt", "le", "gt", "ge"):
            splits = [(op, numbers[0], self._cut(op, numbers[0]))]
        else:
            return self._singled(numbers)
        for asked, constant, cut in splits:
            if not self._even(cut):
                return self._splitting(asked, constant, cut)
        return None

    def _cut(self, op: str, constant: float) -> float:
        """Where a comparison changes its mind: it is the same below this number, and the same from it on."""
        if op in ("lt", "ge"):
            return float(math.ceil(constant)) if self.whole else constant
        return float(math.floor(constant) + 1) if self.whole else math.nextafter(constant, math.inf)

    def _even(self, cut: float) -> bool:
        return cut in self.edges or not self.edges[0] < cut < self.edges[-1]

    def _splitting(self, op: str, constant: float, cut: float) -> str:
        place = int(np.searchsorted(self._edges, cut, side="right")) - 1
        low, high = self.edges[place : place + 2]
        edges = " and ".join(_shown(edge) for edge in (low, high) if math.isfinite(edge))
        ask = f"the nearest edges are {edges}; < and >= never split a bin there" if edges else "it has no edges"
        if constant == low and op in ("gt", "le"):
            ask += ". A bin holds its lower edge; where the column holds whole numbers, say whole=True"
        return f"{_shown(constant)} splits the bin {self._label(place)}: {ask}"

    def _singled(self, numbers: Sequence[float]) -> str | None:
        """Equality with some numbers is settled where a bin holds none of them, or nothing else."""
        asked = np.array(sorted(set(numbers)))
        if self.whole:
            asked = asked[asked == np.floor(asked)]
        met = np.diff(np.searchsorted(asked, self._edges))
        # From one edge to the next there are so many whole numbers, but too many floats to name.
        split = np.flatnonzero((met > 0) & ~((met == np.diff(self._edges)) & self.whole))
        if not len(split):
            return None
        return (
            f"the bin {self._label(int(split[0]))} holds more than the numbers asked for: "
            "ask whether it lies in the bin (>= its lower edge and < its upper one), or list the column's values"
        )

    # ------------------------------------------------------------------ values

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        """The smallest and the largest number to be drawn from each bin; of an open bin, what is next to its edge."""
        low, after = self._edges[:-1].copy(), self._edges[1:]
        high = after - 1.0 if self.whole else np.nextafter(after, -np.inf)
        if self.bins == 1 and np.isinf(self._edges).all():
            return np.zeros(1), np.zeros(1)
        low[0] = high[0] if math.isinf(low[0]) else low[0]
        high[-1] = low[-1] if math.isinf(after[-1]) else high[-1]
        return low, high

    @cached_property
    def _edges(self) -> Floats:
        return np.array(self.edges)

    def points(self) -> Column:
        cells = np.arange(len(self))
        return self._column(cells, self._ends[0].take(cells, mode="clip"))

    def drawn(self, places: NDArray[Any], stream: Stream) -> Column:
        low, high = (ends.take(places, mode="clip") for ends in self._ends)
        share = (stream.words(len(places)) >> np.uint64(11)) * 2.0**-53
        # Mixed rather than added, because the distance between two edges may overflow.
        values = low * (1.0 - share) + (high + (1.0 if self.whole else 0.0)) * share
        values = np.clip(np.floor(values) if self.whole else values, low, high)
        return self._column(places, values)

    def _column(self, places: NDArray[Any], values: Floats) -> Column:
        found = values.astype(np.int64) if self.whole else values
        return Column("number", found, np.equal(places, self.bins) if self.missing else None)

    def places(self, column: Column) -> Places:
        values = column.values.astype(np.float64, copy=False)
        places = np.searchsorted(self._edges, values, side="right") - 1
        places[places >= self.bins] = -1
        if self.whole and column.values.dtype.kind == "f":
            places[values != np.floor(values)] = -1
        return self._mark(places, unknown_in(column))

    def with_missing(self) -> Bins:
        return replace(self, missing=True)

    @property
    def remedy(self) -> str:
        closed = not (math.isinf(self.edges[0]) and math.isinf(self.edges[-1]))
        fixes = ["give Bins more edges, or open ends (None as the first and last edge)"] * closed
        fixes += ["leave out whole=True if not all numbers are whole"] * self.whole
        fixes += ["missing=True makes room for what is missing"] * (not self.missing)
        return "; ".join(fixes)

    def to_json(self) -> dict[str, Any]:
        edges = [literals.plain(edge) if math.isfinite(edge) else None for edge in self.edges]
        flags = {name: True for name in ("missing", "whole") if getattr(self, name)}
        return {"edges": edges, **flags}

    def __repr__(self) -> str:
        shown = [repr(edge) for edge in self.to_json()["edges"][:20]]
        more = f", … {len(self.edges)} edges" if len(self.edges) > 20 else ""
        flags = "".join(f", {name}=True" for name in ("missing", "whole") if getattr(self, name))
        return f"Bins([{', '.join(shown)}{more}]{flags})"


def _read(given: Iterable[float | None], whole: bool) -> tuple[float, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(
            f"bins are given by a list of edges, as Bins([0, 18, 30, 65]), not by a {type(given).__name__}"
        )
    edges = list(given)
    if len(edges) < 2:
        raise ValueError(f"bins need at least two edges, as Bins([0, 18, 30, 65]), not {len(edges)}")
    last = len(edges) - 1
    read = tuple(_edge(edge, place == 0, place == last) for place, edge in enumerate(edges))
    if any(high <= low for low, high in pairwise(read)):
        raise ValueError("the edges of bins must rise: each larger than the one before")
    finite = [edge for edge in read if math.isfinite(edge)]
    if any(abs(edge) > FARTHEST for edge in finite):
        raise ValueError(f"the edges of bins lie within ±{FARTHEST:g}: leave an end open with None")
    if whole and any(not edge.is_integer() or abs(edge) >= literals.MAX_EXACT for edge in finite):
        raise ValueError("whole=True is for a column of whole numbers: give it whole edges, within ±2**53")
    return read


def _edge(given: Any, first: bool, last: bool) -> float:
    for end, wild in ((first, -math.inf), (last, math.inf)):
        if end and (given is None or (isinstance(given, float | np.floating) and given == wild)):
            return wild
    if given is None:
        raise ValueError("None leaves an end open, so it can only be the first or the last edge of bins")
    return literals.number(given)


def _shown(edge: float) -> str:
    return str(literals.plain(edge)) if math.isfinite(edge) else f"{edge:g}"
