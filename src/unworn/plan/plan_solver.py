"""Solve for the one number that is left out, by the price of guess and check alone: noise is priced once, at the end.

Everything is computed for a 0/1 question at one half, where intervals are widest, so a plan is a promise from above.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

from unworn.basics.display import show_value
from unworn.basics.float_settings import with_usual_floats
from unworn.plan.guess_price import MOST, final_width, floor_width, guess_width, untouched_width
from unworn.plan.result import Plan


@with_usual_floats
def plan(
    rows: float | None = None,
    asks: float | None = None,
    width: float | None = None,
    surprises: float | None = 0,
    confidence: float = 0.95,
) -> Plan:
    """Solve for whichever of rows, asks and width is left out, or for ``surprises=None``; price every mechanism.

    A surprise is a guess that turns out wrong. What is solved for, and ``Plan.width``, are those of guess and check,
    the default; ``Plan.options`` has the other mechanisms.

    >>> from unworn import plan
    >>> found = plan(rows=10_000, asks=1_000)
    >>> print(found.advice.partition("Each")[0].strip())
    Ask freely: 10,000 rows, 1,000 asks, 95 % for all answers together.
    After them, if every guess is right, an answer that agrees with its guess is ± 0.0375.
    >>> round(found.final, 4), round(found.untouched, 4)
    (0.0108, 0.0098)
    >>> plan(asks=1_000, width=0.05).rows
    5635
    >>> plan(rows=10_000, asks=1_000, width=0.07, surprises=None).surprises
    3
    """
    n, k, f = _checked(rows, asks, width, surprises, confidence)
    goal, beta = width or 0.0, 1 - confidence
    within = None
    if n is None:
        n = rows_needed(k or 1, goal, f or 0, beta)
    elif k is None:
        k, within = _most(lambda k: guess_width(n, k, f or 0, beta) <= goal, "asks", (f or 0) + 1, MOST), goal
    elif f is None:
        f = _most(lambda f: guess_width(n, k, f, beta) <= goal, "surprises", 0, k - 1)
    return _plan(n, k or 1, f or 0, confidence, within)


def rows_needed(asks: int, width: float, surprises: int, beta: float) -> int:
    """The fewest rows from which a right guess gets this half-width at the last planned ask; no other way is priced.

    >>> rows_needed(1, 0.05, 0, 0.05)
    4457
    """
    return _least(lambda rows: guess_width(rows, asks, surprises, beta) <= width, "rows")


def _plan(rows: int, asks: int, surprises: int, confidence: float, within: float | None) -> Plan:
    from unworn.plan.option_choice import best_of, options  # prices every mechanism, and so loads them

    found = options(rows, asks, surprises, confidence, within)
    terms, beta = (rows, asks, surprises), 1 - confidence
    width, floor, final = (reach(*terms, beta) for reach in (guess_width, floor_width, final_width))
    best = best_of(found, asks, surprises)
    return Plan(*terms, width, floor, confidence, *best, found, final, untouched_width(rows, beta))


def _checked(
    rows: float | None, asks: float | None, width: float | None, surprises: float | None, confidence: float
) -> tuple[int | None, int | None, int | None]:
    known = {"rows": rows, "asks": asks, "width": width, "surprises": surprises}
    for name, value in (*known.items(), ("confidence", confidence)):
        if (name == "confidence" or value is not None) and (isinstance(value, bool) or not isinstance(value, Real)):
            raise ValueError(f"{name} is a number, not {show_value(value)}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is a number between 0 and 1, such as 0.95, not {show_value(confidence)}")
    left_out = [name for name, value in known.items() if value is None]
    if len(left_out) != 1:
        raise ValueError(
            "leave out exactly one of rows, asks and width (or give surprises=None): "
            + (f"these are left out: {', '.join(left_out)}" if left_out else "none is left out")
        )
    if width is not None and not 0 < width <= 0.5:
        raise ValueError(f"width is a half-width in (0, 0.5], not {show_value(width)}")
    n, k, f = _whole("rows", rows, 1), _whole("asks", asks, 1), _whole("surprises", surprises, 0)
    if k is not None and f is not None and f >= k:
        raise ValueError(f"{f} surprises do not fit into {k} asks: give fewer surprises than asks")
    return n, k, f


def _whole(what: str, value: float | None, least: int) -> int | None:
    if value is None:
        return None
    if not least <= value <= MOST or value != int(value):
        raise ValueError(f"{what} is a whole number from {least} to {MOST:.0e}, not {show_value(value)}")
    return int(value)


def _least(holds: Callable[[int], bool], what: str) -> int:
    """The smallest number for which something holds, given that it then goes on holding."""
    high = 1
    while not holds(high):
        if high >= MOST:
            raise ValueError(f"no number of {what} up to {MOST:.0e} is enough: ask for a larger width")
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
