"""What coded mechanisms add to an offer: what the answer's own symbol costs, and which values each symbol stands for.

A value may come with a *gauge*: another number that the rows give, of which a bound is declared (``discordance`` for
the mean absolute difference of a paired question, ``gauge`` for all others). A symbol then tells, besides a cell, that
the bound holds, or else the gauge's power of two (:mod:`unworn.mechanisms.symbols.gauges`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from unworn.basics.frozen_init import assign_fields
from unworn.mechanisms.contract.offer import Payload

Place = tuple[str, float, float, int, int]
"""What a symbol costs by where it falls: the origin of the guess, the nats of no surprise and of a surprise, and how
many surprises lay below and above their guesses. (Fields say it in full: a ledger is checked by their words.)"""


class CodedPayload(Payload):
    """``place`` is none where the symbol is not charged, and the two limits share the level: under Theorem C, and where
    nothing follows. Once noisy answers were given, ``kept`` is what Theorem U stretches nats by."""

    __slots__ = ()

    radius: int = 0

    def check(self, rows: int) -> None:
        if not 0 <= self.kept < 1 or self.radius < 0:
            raise ValueError("nothing is priced like this")
        if self.place is not None and min(self.place[1:]) < 0:
            raise ValueError("no symbol costs less than nothing")
        if self.gauge is not None and not 0 <= self.gauge <= rows:
            raise ValueError("no rows have such a gauge")

    def numbers(self) -> dict[str, Any]:
        return {
            **({} if self.place is None else {"place": list(self.place)}),
            **({} if not self.kept else {"kept": self.kept, "radius": self.radius}),
            **({} if self.gauge is None else {"gauge": self.gauge}),
        }


class GridPayload(CodedPayload):
    """One of ``cells`` equal cells is told, of the range or of what lies ``inside`` it."""

    __slots__ = ()

    cells: int = 0
    inside: tuple[float, float] | None = None
    within: tuple[float, float] | None = None
    discordance: float = 1.0


@assign_fields
@dataclass(frozen=True, slots=True)
class PlacePayload(CodedPayload):
    """Of an answer whose symbols follow from the mechanism's own parameters, and from the declared bound of a gauge."""

    place: tuple[str, float, float, int, int] | None = None
    kept: float = 0.0
    gauge: float | None = None


@assign_fields
@dataclass(frozen=True, slots=True)
class GuessPayload(CodedPayload):
    """The rows are compared with a guess: what is farther than ``slack`` from it is told in steps of ``cell``.

    ``discordance`` is the declared bound of a paired question's gauge, as a share of the span, and 1 for all others;
    ``gauge`` that of all others, where they have one.
    """

    guess: float = field()
    slack: float = 0.0
    cell: float = 0.0
    discordance: float = 1.0
    place: tuple[str, float, float, int, int] | None = None
    kept: float = 0.0
    gauge: float | None = None


@assign_fields
@dataclass(frozen=True, slots=True)
class CellsPayload(GridPayload):
    """One of equal cells of the whole range is named."""

    may_be_rounded = True

    cells: int = field()
    place: tuple[str, float, float, int, int] | None = None
    kept: float = 0.0


@assign_fields
@dataclass(frozen=True, slots=True)
class SharpenedPayload(GridPayload):
    """One of equal parts is named of the cell that was told before; what was published then holds still (``within``),
    and so does the bound of the gauge."""

    cells: int = field()
    inside: tuple[float, float] | None = None
    within: tuple[float, float] | None = None
    discordance: float = 1.0
    place: tuple[str, float, float, int, int] | None = None
    kept: float = 0.0
    gauge: float | None = None


@assign_fields
@dataclass(frozen=True, slots=True)
class HypothesisPayload(CodedPayload):
    """A hypothesis is tested: (side, value, level). Rounding has ``cells`` for its two symbols, as for others."""

    null: tuple[int, float, float] = field()
    cells: int = 0
    place: tuple[str, float, float, int, int] | None = None
    kept: float = 0.0

    def numbers(self) -> dict[str, Any]:
        return {**CodedPayload.numbers(self), **null_numbers(self.null)}


def null_numbers(null: tuple[int, float, float]) -> dict[str, Any]:
    """A hypothesis, for the certificate."""
    return dict(zip(("side", "null", "level"), null, strict=True))
