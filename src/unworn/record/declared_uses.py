"""Several uses of the same rows, declared when they are first sealed, each with its share of the rows.

A share is a share of the rows and not of a budget: the uses get disjoint random parts, so each is a sample of its own
and every theorem holds for it by itself. What one use reveals tells nothing about the rows of another, and a row
is told about by the one use it falls into (parallel composition: McSherry, "Privacy integrated queries", 2009).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from numbers import Real
from typing import Any

from unworn.basics.display import show_line
from unworn.errors import Unaskable

FEWEST = 2
"""How many sampled units a use has at least."""
_WHOLE = 10**9
"""Shares are kept to nine decimals, so that 1 - 0.7 and 0.3 are the same share, and sizes are whole-number work."""


@dataclass(frozen=True)
class Uses:
    """The shares of all uses, by name, and which of the uses is meant.

    >>> uses = Uses.of({"release": 0.3, "asks": 0.7}, "asks")
    >>> print(uses, uses.sizes(1001))
    use asks, share 70 % {'asks': 700, 'release': 301}
    >>> uses.span(1001)
    slice(0, 700, None)
    """

    shares: tuple[tuple[str, float], ...]
    use: str

    @classmethod
    def of(cls, shares: Mapping[str, float], use: str, slack: float = 1 / _WHOLE) -> Uses:
        """The uses a caller declares, checked; their shares sum to 1 within ``slack``."""
        if not isinstance(shares, Mapping) or len(shares) < 2:
            raise ValueError(f"uses= declares two or more, such as {{'asks': 0.7, 'release': 0.3}}, not {shares!r:.80}")
        for name, share in shares.items():
            if not isinstance(name, str) or not name.strip() or name != name.encode(errors="ignore").decode():
                raise ValueError(f"a use is named by text, not {name!r:.80}")
            if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:
                raise ValueError(f"the share of use {name!r} is a number above 0 and below 1, not {share!r:.40}")
        total = math.fsum(map(float, shares.values()))
        if abs(total - 1) > slack:
            raise ValueError(f"the shares of all uses must sum to 1, not to {total:.10g}")
        if use not in shares:
            raise ValueError(f"use={use!r:.80} is not one of the declared uses: {', '.join(sorted(shares))}")
        return cls(tuple(sorted((name, round(float(share), 9)) for name, share in shares.items())), use)

    @property
    def share(self) -> float:
        """The share of the use that is meant."""
        return dict(self.shares)[self.use]

    def sizes(self, units: int) -> dict[str, int]:
        """How many of so many sampled units each use gets: public, and together all of them.

        Within one of its share each; :class:`~unworn.errors.Unaskable` where a use would get fewer than two.
        """
        edges = pairwise(self._edges(units))
        sizes = {name: stop - start for (name, _), (start, stop) in zip(self.shares, edges, strict=True)}
        name = min(sizes, key=sizes.__getitem__)
        if sizes[name] < FEWEST:
            raise Unaskable(
                f"use {name!r} would get {sizes[name]} of {units} units, and needs at least {FEWEST}.\n"
                "  Give it a larger share, or seal more rows.",
                use=name,
                size=sizes[name],
                units=units,
            )
        return sizes

    def size(self, units: int) -> int:
        """The same, of the use that is meant."""
        return self.sizes(units)[self.use]

    def span(self, units: int) -> slice:
        """Where the units of the use that is meant lie, once all units are in the order the key gives them."""
        edges = self._edges(units)
        place = [name for name, _ in self.shares].index(self.use)
        return slice(edges[place], edges[place + 1])

    def _edges(self, units: int) -> list[int]:
        parts = [round(share * _WHOLE) for _, share in self.shares]
        return [units * part // sum(parts) for part in accumulate(parts, initial=0)]

    def to_json(self) -> dict[str, Any]:
        return {"shares": dict(self.shares), "use": self.use}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Uses:
        """Read :meth:`to_json` back; ``ValueError`` where it could not have been declared."""
        return cls.of(data["shares"], data["use"], slack=len(data["shares"]) / _WHOLE)  # what rounding leaves

    def __str__(self) -> str:
        return f"use {show_line(self.use)}, share {100 * self.share:.6g} %"
