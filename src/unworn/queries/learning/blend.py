"""A blend: a weighted sum of shares and means that is itself one question, answered once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.language.means import Mean, Share
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Floats, Frame
from unworn.queries.schema import Schema

MAX_PARTS = 2_000
MAX_WEIGHT = 1e6


@dataclass(frozen=True, eq=False)
class Blend(Query):
    """The mean over rows of Σ weight × value, for shares and means of columns.

    The sum of separate answers would have the sum of their errors; this is one answer, and costs what one costs.
    Weights that sum to 1 make it the value of a mixture.

    >>> from unworn.queries import col, share
    >>> both = Blend((0.5, -0.25), (share(col("age") > 65), share(col("plan") == "basic")))
    >>> both.label, both.bounds
    ("0.5 × share of age > 65 + -0.25 × share of plan == 'basic'", (-0.25, 0.5))
    """

    weights: tuple[float, ...]
    parts: tuple[Share | Mean, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.parts, tuple) or not 1 <= len(self.parts) <= MAX_PARTS:
            raise Unaskable(f"a blend has from 1 to {MAX_PARTS} parts")
        if not all(isinstance(part, Share | Mean) for part in self.parts):
            raise Unaskable(
                "the parts of a blend are questions about columns: share(predicate) or mean(..., range=...)"
            )
        if not isinstance(self.weights, tuple) or len(self.weights) != len(self.parts):
            raise Unaskable(f"a blend of {len(self.parts)} questions needs {len(self.parts)} weights")
        weights = tuple(literals.number(weight) + 0.0 for weight in self.weights)
        if not all(abs(weight) <= MAX_WEIGHT for weight in weights) or not any(weights):
            raise Unaskable(f"weights are numbers of at most {MAX_WEIGHT:g} either way, and not all of them 0")
        object.__setattr__(self, "weights", weights)

    @property
    def label(self) -> str:
        terms = [f"{weight:.4g} × {part.label}" for weight, part in zip(self.weights, self.parts, strict=True)]
        return " + ".join(terms) if len(terms) <= 3 else f"{terms[0]} + {terms[1]} + … ({len(terms)} questions)"

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the values, from the declared ranges of the parts."""
        low = high = 0.0
        for weight, part in zip(self.weights, self.parts, strict=True):
            ends = (0.0, 1.0) if isinstance(part, Share) else (part.low, part.high)
            least, most = sorted(weight * end for end in ends)
            low, high = low + least, high + most
        return low, high

    def to_json(self) -> dict[str, Any]:
        return {"ask": "blend", "weights": list(self.weights), "parts": [part.to_json() for part in self.parts]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Blend:
        """Read the question back; anything else is refused."""
        if set(data) != {"ask", "weights", "parts"} or not all(isinstance(data[k], list) for k in ("weights", "parts")):
            raise Unaskable('this question has the fields "ask": "blend", weights, parts, and no others')
        if len(data["parts"]) > MAX_PARTS:
            raise Unaskable(f"a blend has at most {MAX_PARTS} parts")
        return cls(tuple(data["weights"]), tuple(map(_part, data["parts"])))

    def _facts(self, schema: Schema, size: int) -> Facts:
        for part in self.parts:
            part.facts(schema, size)
        return Facts("unit", *self.bounds)

    def values(self, frame: Frame) -> Floats:
        total = np.zeros(frame.size)
        for weight, part in zip(self.weights, self.parts, strict=True):
            if weight:
                total += weight * part.values(frame)
        return np.clip(total, *self.bounds)

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Blend) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def _part(data: object) -> Share | Mean:
    return (Share if isinstance(data, Mapping) and data.get("ask") == "share" else Mean).from_json(data)
