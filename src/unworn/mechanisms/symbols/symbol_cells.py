"""The geometry of symbols: which values of the rows a symbol stands for.

All the functions speak the question's own units and decide by comparing with edges that are computed once, from
the offer; a value and the cell published for it therefore agree to the last bit.
"""

from __future__ import annotations

import math
from numbers import Integral

from unworn.mechanisms.coded.coded_payloads import GridPayload, GuessPayload
from unworn.mechanisms.contract.mechanism import Offer

FINEST = 1e-9
"""The least share of a range that a cell or step may have: means are not known better (``limits.ROUNDING``)."""


def check_step(name: str, share: float) -> None:
    """Refuse a cell or step, as a share of the range, whose edges floats could not tell apart.

    >>> check_step("cell", 1e-310)
    Traceback (most recent call last):
    ...
    ValueError: cell must be a share of the range from 1e-09 to 1, not 1e-310
    """
    if isinstance(share, bool) or not FINEST <= share <= 1:
        raise ValueError(f"{name} must be a share of the range from {FINEST:g} to 1, not {share!r:.40}")


def check_cells(name: str, count: int) -> None:
    """The same for a number of equal cells."""
    if isinstance(count, bool) or not isinstance(count, Integral) or not 2 <= count <= 1 / FINEST:
        raise ValueError(f"{name} must be a whole number from 2 to {round(1 / FINEST):,}, not {count!r:.40}")


def locate(offer: Offer, value: float) -> int:
    """The symbol for a value: 0 on agreement with the guess, else how many cells beyond the slack it lies.

    >>> offer = Offer(1, 100, "unit", 0.0, 1.0, False, False, -3.0, GuessPayload(0.5, slack=0.1, cell=0.02))
    >>> [locate(offer, value) for value in (0.5, 0.6, 0.61, 0.63, 0.35)]
    [0, 0, 1, 2, -3]
    """
    payload = offer.payload
    if not isinstance(payload, GuessPayload):
        return _grid_cell(offer, value)
    below, above = payload.guess - payload.slack, payload.guess + payload.slack
    if below <= value <= above:
        return 0
    distance = value - above if value > above else below - value
    sign = 1 if value > above else -1
    cells = max(1, math.ceil(distance / payload.cell))
    while not _contains(cell := _offset_edges(payload, sign * cells), value):  # rounding moved it by at most one cell
        beyond = value > cell[1] if sign > 0 else value < cell[0]  # by the edges: a rounded distance may disagree
        cells += 1 if beyond else -1
    return sign * cells


def edges(offer: Offer, symbol: int) -> tuple[float, float]:
    """The cell a symbol stands for, before it is cut to the range.

    >>> from unworn.mechanisms.coded.coded_payloads import CellsPayload
    >>> offer = Offer(1, 100, "unit", 0.0, 1.0, False, False, -3.0, CellsPayload(8))
    >>> edges(offer, 3)
    (0.375, 0.5)
    """
    if isinstance(offer.payload, GuessPayload):
        return _offset_edges(offer.payload, symbol)
    return _grid_edges(*grid_of(offer), symbol)


def grid_of(offer: Offer) -> tuple[float, float, int]:
    """Between which ends lie how many equal cells, of an offer that has some."""
    payload = offer.payload
    if not isinstance(payload, GridPayload) or payload.cells < 1:
        raise ValueError("there are no equal cells in this offer")
    low, high = payload.inside or (offer.low, offer.high)
    return low, high, payload.cells


def is_inside(offer: Offer, value: float) -> bool:
    """Whether a value lies where a sharpened question last said it did (rounding of sums aside)."""
    low, high, _ = grid_of(offer)
    fuzz = 1e-9 * offer.span
    return low - fuzz <= value <= high + fuzz


def _offset_edges(payload: GuessPayload, symbol: int) -> tuple[float, float]:
    below, above = payload.guess - payload.slack, payload.guess + payload.slack
    if symbol == 0:
        return below, above
    if symbol > 0:
        return above + (symbol - 1) * payload.cell, above + symbol * payload.cell
    return below + symbol * payload.cell, below + (symbol + 1) * payload.cell


def _grid_edges(low: float, high: float, cells: int, symbol: int) -> tuple[float, float]:
    step = (high - low) / cells
    return low + symbol * step, high if symbol == cells - 1 else low + (symbol + 1) * step


def _grid_cell(offer: Offer, value: float) -> int:
    low, high, cells = grid_of(offer)
    symbol = min(max(int((value - low) / (high - low) * cells), 0), cells - 1) if high > low else 0
    while symbol > 0 and value < _grid_edges(low, high, cells, symbol)[0]:
        symbol -= 1
    while symbol < cells - 1 and value > _grid_edges(low, high, cells, symbol)[1]:
        symbol += 1
    return symbol


def _contains(cell: tuple[float, float], value: float) -> bool:
    return cell[0] <= value <= cell[1]
