"""Plans: rows, asks, surprises and width determine each other; give all but one and get the last.

Everything is computed for a 0/1 question at one half, where intervals are widest, so a plan is a promise from above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import isfinite, log, log1p
from typing import Any

from unworn.bounds import best_rounding, clopper_pearson, code_length, offset_nats, splitting_exact
from unworn.mechanisms import Guess, GuessAndCheck, State
from unworn.queries.frames import to_frame
from unworn.queries.query import Facts

_MOST = 10**15
"""Past this many rows or asks a plan says "as many as you like"."""

_TYPICAL_OFFSET = 2
"""How many cells a wrong guess is taken to be off."""


@dataclass(frozen=True)
class Option:
    """What one mechanism would give for the same rows and asks; no width where it cannot serve at all."""

    mechanism: str
    theorem: str
    width: float | None
    reason: str


@dataclass(frozen=True)
class Plan:
    """What to expect: ``width`` is what an exact guess gets at the last ask, ``floor`` the confidence limits alone.

    Sharpening takes an answer from ``width`` towards ``floor``.
    """

    rows: int
    asks: int
    surprises: int
    width: float
    floor: float
    confidence: float
    best: str
    options: tuple[Option, ...]

    def frame(self) -> Any:
        """The options, as a frame."""
        names = ("mechanism", "theorem", "width", "reason")
        return to_frame({name: [getattr(option, name) for option in self.options] for name in names})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows, {self.asks:,} asks, {self.surprises:,} surprises, {100 * self.confidence:g} % "
            f"for all together:\n± {self.width:.4f} each, ± {self.floor:.4f} sharpened; best: {self.best}"
        )

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(option.mechanism)}</td><td>{escape(option.theorem)}</td>"
            f"<td>{'–' if option.width is None else f'± {option.width:.4f}'}</td><td>{escape(option.reason)}</td></tr>"
            for option in self.options
        )
        return f"<div><b>{escape(str(self))}</b><table>{rows}</table></div>"


def plan(
    rows: float | None = None,
    asks: float | None = None,
    width: float | None = None,
    surprises: float | None = 0,
    confidence: float = 0.95,
) -> Plan:
    """Solve for the one of rows, asks and width that is left out, or for ``surprises=None``.

    >>> from unworn import plan
    >>> print(plan(rows=10_000, asks=1_000))
    10,000 rows, 1,000 asks, 0 surprises, 95 % for all together:
    ± 0.0492 each, ± 0.0211 sharpened; best: GuessAndCheck
    >>> plan(rows=10_000, width=0.05).asks
    1980
    >>> plan(rows=10_000, asks=1_000, width=0.07, surprises=None).surprises
    2
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence lies between 0 and 1, as 0.95 does, not {confidence}")
    known = {"rows": rows, "asks": asks, "width": width, "surprises": surprises}
    left_out = [name for name, value in known.items() if value is None]
    if len(left_out) != 1:
        raise ValueError(
            "leave out exactly one of rows, asks and width (or give surprises=None): "
            + (f"these are left out: {', '.join(left_out)}" if left_out else "none is left out")
        )
    if width is not None and not 0 < width <= 0.5:
        raise ValueError(f"width is a half-width in (0, 0.5], not {width}")
    n, k, f = _whole("rows", rows, 1), _whole("asks", asks, 1), _whole("surprises", surprises, 0)
    if k is not None and f is not None and f >= k:
        raise ValueError(f"{f} surprises do not fit into {k} asks: the last one is never priced")
    beta = 1 - confidence
    if n is None:
        n = _least(lambda n: _width(n, k or 1, f or 0, beta) <= (width or 0), "rows", 1)
    elif k is None:
        k = _most(lambda k: _width(n, k, f or 0, beta) <= (width or 0), "asks", (f or 0) + 1, _MOST)
    elif f is None:
        f = _most(lambda f: _width(n, k, f, beta) <= (width or 0), "surprises", 0, k - 1)
    return _plan(n, k or 1, f or 0, confidence)


def _plan(rows: int, asks: int, surprises: int, confidence: float) -> Plan:
    beta = 1 - confidence
    width = _width(rows, asks, surprises, beta)
    options = [
        Option("GuessAndCheck", GuessAndCheck.theorem, width, f"guesses are right but for {surprises} of {asks}"),
        _splitting(rows, asks, beta),
        Option("Rounding", "code length, uniform code", best_rounding(rows, asks, beta)[1], "needs no guesses"),
    ]
    options = [option if option.width is None or option.width < 0.5 else _hopeless(option) for option in options]
    options.sort(key=lambda option: 1.0 if option.width is None else option.width)
    level = log1p(-confidence) - _length(asks, surprises)
    floor = _half(clopper_pearson(rows // 2, rows, level))
    return Plan(rows, asks, surprises, width, floor, confidence, options[0].mechanism, tuple(options))


def _splitting(rows: int, asks: int, beta: float) -> Option:
    theorem = "sample splitting, exact limits"
    if asks > rows:
        return Option("SampleSplitting", theorem, None, "there are fewer rows than asks")
    return Option("SampleSplitting", theorem, splitting_exact(rows, asks, beta), f"{rows // asks} rows an ask")


def _hopeless(option: Option) -> Option:
    return Option(option.mechanism, option.theorem, None, "the interval would be the whole range")


def _length(asks: int, surprises: int) -> float:
    return code_length(asks, surprises, surprises * offset_nats(_TYPICAL_OFFSET), asks)


def _width(rows: int, asks: int, surprises: int, beta: float) -> float:
    """What an exact guess of one half gets at the last planned ask."""
    nats = surprises * offset_nats(_TYPICAL_OFFSET)
    mechanism, state = GuessAndCheck(), State(rows, log(beta), asks, asks - 1, surprises, nats)
    offer = mechanism.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), Guess(0.5))
    return mechanism.publish_width(offer, 0)


def _half(limits: tuple[Any, Any]) -> float:
    return float(limits[1] - limits[0]) / 2


def _least(holds: Callable[[int], bool], what: str, start: int) -> int:
    """The smallest number from ``start`` on for which something holds, given that it then goes on holding."""
    high = start
    while not holds(high):
        if high >= _MOST:
            raise ValueError(f"no number of {what} up to {_MOST:.0e} is enough: ask for a larger width")
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _most(holds: Callable[[int], bool], what: str, start: int, most: int) -> int:
    """The largest number up to ``most`` for which something holds, given that it holds until then."""
    if not holds(start):
        raise ValueError(f"not even {start} {what} can be had at this width: ask for a larger width or bring more rows")
    if holds(most):
        return most
    low, high = start, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _whole(what: str, value: float | None, least: int) -> int | None:
    if value is None:
        return None
    if not isfinite(value) or value != int(value) or not least <= value <= _MOST:
        raise ValueError(f"{what} is a whole number from {least} to {_MOST:.0e}, not {value}")
    return int(value)
