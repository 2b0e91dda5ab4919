"""Gauges: what the rows give beside a value, and what decides how much that value can tell.

Of a paired question the mean absolute difference, as a share of the span. Of a share of a subset how many rows the
subset has, of a ranking how many the rarer class has. Of a mean whose variance was declared, that variance, on the
scale of [0, 1]. A symbol tells that a bound holds which was known or declared before, or else the gauge's *octave*: the
power of two, of the largest gauge there can be, that it has reached. Octaves of rows count down from all the rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

from unworn.mechanisms.coded.coded_payloads import GridPayload
from unworn.mechanisms.contract.mechanism import Offer, Symbol


class Gauge(ABC):
    """How one kind of gauge is compared and told."""

    nothing: ClassVar[float]
    """The bound that every gauge keeps."""

    @abstractmethod
    def holds(self, gauge: float, bound: float) -> bool:
        """Whether the rows keep a bound."""

    @abstractmethod
    def octave(self, gauge: float, rows: int) -> int:
        """The octave of a gauge, from 0 to :func:`octaves`."""

    @abstractmethod
    def bound(self, octave: int, rows: int) -> float:
        """The bound that every gauge of an octave keeps."""


class _Size(Gauge):
    """A mean absolute difference, as a share of the span: the smaller, the narrower."""

    nothing = 1.0

    def holds(self, gauge: float, bound: float) -> bool:
        return gauge <= bound

    def octave(self, gauge: float, rows: int) -> int:
        most = octaves(rows)
        octave = most if gauge == 0 else math.floor(-math.log2(gauge))
        return min(max(octave, 0), most)

    def bound(self, octave: int, rows: int) -> float:
        return 2.0**-octave


class _Variance(Gauge):
    """A variance on the scale of [0, 1], where it is at most a quarter."""

    nothing = 0.25

    def holds(self, gauge: float, bound: float) -> bool:
        return gauge <= bound

    def octave(self, gauge: float, rows: int) -> int:
        mantissa, power = math.frexp(4.0 * gauge)  # exactly: 4·gauge = mantissa·2^power, mantissa in [1/2, 1)
        octave = octaves(rows) if gauge <= 0.0 else (1 if mantissa == 0.5 else 0) - power
        return min(max(octave, 0), octaves(rows))

    def bound(self, octave: int, rows: int) -> float:
        return 0.25 * 2.0**-octave


class _Rows(Gauge):
    """A number of rows: the more, the narrower."""

    nothing = 0.0

    def holds(self, gauge: float, bound: float) -> bool:
        return gauge >= bound

    def octave(self, gauge: float, rows: int) -> int:
        from unworn.bounds.questions import row_octave  # loaded by those who ask for subsets

        return row_octave(rows, int(gauge))

    def bound(self, octave: int, rows: int) -> float:
        from unworn.bounds.questions import octave_rows

        return float(octave_rows(rows, octave))


_ROWS, _VARIANCE = _Rows(), _Variance()
_GAUGES: dict[str, Gauge] = {"paired": _Size(), "conditional": _ROWS, "ranking": _ROWS}


def gauge_of(offer: Offer) -> Gauge | None:
    """The gauge that an offer's symbols speak of; a mean has one where its variance was declared.

    >>> from unworn.mechanisms.coded.coded_payloads import GuessPayload
    >>> gauge = gauge_of(Offer(1, 1000, "conditional", 0.0, 1.0, True, False, -3.0, GuessPayload(0.9, gauge=200.0)))
    >>> [(gauge.octave(rows, 1000), gauge.holds(rows, 200)) for rows in (600, 250, 0)]
    [(0, True), (2, True), (10, False)]
    >>> gauge = gauge_of(Offer(1, 1000, "unit", 0.0, 1.0, False, False, -3.0, GuessPayload(0.1, gauge=0.01)))
    >>> [(h, gauge.bound(h, 1000)) for h in map(gauge.octave, (0.25, 0.125, 0.03, 0.0), [1000] * 4)]
    [(0, 0.25), (1, 0.125), (3, 0.03125), (10, 0.000244140625)]
    """
    if offer.kind == "unit":
        return None if offer.payload.gauge is None else _VARIANCE
    return _GAUGES.get(offer.kind)


def known_bound(offer: Offer) -> float:
    """The bound of the gauge that was known or declared before, or the one that says nothing."""
    payload, gauge = offer.payload, gauge_of(offer)
    if gauge is None or offer.kind == "paired":
        return float(payload.discordance)
    return gauge.nothing if payload.gauge is None else payload.gauge


def told_bound(offer: Offer, symbol: Symbol) -> float:
    """The bound that a symbol tells, where it tells an octave; else the one that was known before."""
    if not isinstance(symbol, list):
        return known_bound(offer)
    gauge = gauge_of(offer)
    if gauge is None:
        raise ValueError(f"a symbol of this question has no octave: {symbol!r:.40}")
    return gauge.bound(symbol[0], offer.rows)


def pack(offer: Offer, gauge: float, offset: int) -> Symbol:
    """The symbol that tells an offset and, of a question with a gauge, that its bound holds, or else the octave.

    On a grid nothing was declared, and the octave is always told.
    """
    kind = gauge_of(offer)
    if kind is None:
        return offset
    if not isinstance(offer.payload, GridPayload) and offset == 0 and kind.holds(gauge, known_bound(offer)):
        return offset
    return [kind.octave(gauge, offer.rows), offset]


def unpack(offer: Offer, symbol: Symbol) -> tuple[float, int]:
    """The bound on the gauge, and the offset or cell, that a symbol tells."""
    offset = symbol[1] if isinstance(symbol, list) else symbol
    return told_bound(offer, symbol), int(offset)


def keeps_bound(offer: Offer, gauge: float) -> bool:
    """Whether the rows, asked again, keep the bound that was told of them (rounding of sums aside)."""
    kind = gauge_of(offer)
    if kind is None:
        return True
    return kind.holds(gauge, known_bound(offer)) or abs(gauge - known_bound(offer)) <= 1e-9


def octaves(rows: int) -> int:
    """The last octave."""
    return (rows - 1).bit_length()
