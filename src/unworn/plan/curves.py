"""A plan's surroundings, for a figure: widths at other numbers of asks, and asks at other numbers of rows.

Beside the mechanisms that most people would choose from stand the best published theorem, and what nothing passes: an
untouched test set, and the strongest attack on noise. Noise takes a while to price, so its lines have few points and
end where they leave the picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from unworn.bounds.transfer import registry
from unworn.plan.guess_price import MOST, final_width, guess_width, noisy_check_width, untouched_width
from unworn.plan.option_prices import asks_within, most_asks, noise_width, width_and_reason
from unworn.plan.result import Plan
from unworn.plan.strongest_attack import attack_width, attacked_asks

Tick = Callable[[], object]

FINAL, FRESH, ATTACK = "final number", "fresh test set", "attack on noise"
"""The names of lines that are no mechanism's."""
_DRAWN = ("GuessAndCheck", "BoundedNoise", "Gaussian", "SampleSplitting")
"""More lines than these cannot be told apart; the table has the others."""
_POINTS = {"GuessAndCheck": 16, "SampleSplitting": 8, FINAL: 8, FRESH: 1, ATTACK: 8}
"""Points to a decade, by how quick a line is to price; others have two or three."""
_ATTACKED = 10
"""Asks that an attack needs to learn anything."""
_FULL = 0.49
"""A line that is so wide goes no further: sample splitting comes near one half and stays there."""
_CLOSE = 0.02
"""How near, as a share, the asks of a point in a figure are to the most that can be had."""
_FAR = 10**7
"""How many asks with Gaussian noise, which is quick to price, the largest number of rows shows."""

Widths = Callable[[int], float | None]
Asks = Callable[[int], int | None]


def ticks(plan: Plan) -> int:
    """How often the two functions below tick in all."""
    return 2 * len(_DRAWN) + 2 + bool(plan.surprises)


def width_curves(plan: Plan, tick: Tick = lambda: None) -> list[dict[str, Any]]:
    """The width of each mechanism, and of the best published theorem, as the number of asks grows.

    Those of a final number, of an untouched test set and of the attack's limit are ``reference``.
    """
    first, last, beta = plan.surprises + 1, 10 * max(plan.asks, 10), 1 - plan.confidence
    if plan.asks > 10**9:  # solved for, and as many as one likes: show where the others end
        last = 100 * max([100, *(option.asks for option in plan.options if option.asks and option.asks < plan.asks)])

    def width(name: str, asks: int) -> float | None:
        return width_and_reason(name, plan.rows, asks, plan.surprises, beta)[0]

    theorem = best_published_theorem(plan)
    fresh = untouched_width(plan.rows, beta)
    lines: dict[str, Widths] = {name: partial(width, name) for name in _DRAWN}
    if plan.surprises:
        checked = f"GuessAndCheck(surprises={plan.surprises})"
        lines[checked] = lambda asks: noisy_check_width(plan.rows, asks, plan.surprises, beta)
    lines[_label(theorem)] = lambda asks: noise_width(theorem, plan.rows, asks, beta)
    references: dict[str, Widths] = {
        FINAL: lambda asks: final_width(plan.rows, asks, plan.surprises, beta),
        FRESH: lambda asks: fresh,
        ATTACK: lambda asks: attack_width(plan.rows, asks, beta) if asks >= _ATTACKED else None,
    }
    found: list[dict[str, Any]] = []
    for name, line in (lines | references).items():
        for asks in _between(first, last, _POINTS.get(name, 3)):
            now = line(asks)
            marks = {"published": name == _label(theorem), "reference": name in references}
            found.append({"mechanism": name, "asks": asks, "width": now, **marks})
            if now is not None and now >= _FULL:
                break
        if name in lines:
            tick()
    return found


def ask_curves(plan: Plan, width: float, tick: Tick = lambda: None) -> list[dict[str, Any]]:
    """How many asks each mechanism, and the best published theorem, can answer within a width, as the rows grow.

    Lines begin about where the first ask can be answered.
    """
    beta, theorem = 1 - plan.confidence, best_published_theorem(plan)

    def most(name: str, rows: int) -> int | None:
        return most_asks(name, rows, width, beta, _CLOSE)

    lines: dict[str, Asks] = {name: partial(most, name) for name in _DRAWN}
    guessed = lines["GuessAndCheck"] = lambda rows: _guessed(rows, plan.surprises, width, beta)
    lines[_label(theorem)] = lambda rows: asks_within(theorem, rows, width, beta, _CLOSE)
    first, last = max(1, plan.rows // 10), min(MOST, 100 * plan.rows)
    while first > 10 and guessed(first):
        first //= 2
    while last > 4 * plan.rows and (most("Gaussian", last) or 0) > _FAR:
        last //= 2
    found: list[dict[str, Any]] = []
    references: dict[str, Asks] = {ATTACK: lambda rows: _attacked(rows, width, beta)}
    for name, line in (lines | references).items():
        path = {rows: line(rows) for rows in _between(first, last, _POINTS.get(name, 2))}
        _begin(path, line)
        marks = {"published": name == _label(theorem), "reference": name in references}
        found += [{"mechanism": name, "rows": rows, "asks": asks, **marks} for rows, asks in sorted(path.items())]
        if name in lines:
            tick()
    return found


def _begin(path: dict[int, int | None], most: Asks) -> None:
    """Add points between the last number of rows that can answer nothing and the first that can answer something."""
    high = min((rows for rows, asks in path.items() if asks), default=None)
    if high is None:
        return
    low = max((rows for rows, asks in path.items() if not asks and rows < high), default=high)
    for _ in range(3):
        if high - low < 2:
            return
        middle = math.isqrt(low * high)
        path[middle] = most(middle)
        low, high = (low, middle) if path[middle] else (middle, high)


def best_published_theorem(plan: Plan) -> str:
    """The published theorem with the narrowest intervals, by its name in the registry."""
    names = [name for name in registry.THEOREMS if not name.startswith(("F ", "D2", "D1", "splitting", "rounding"))]
    asks, beta = min(plan.asks, plan.rows), 1 - plan.confidence
    return min(names, key=lambda name: noise_width(name, plan.rows, asks, beta) or math.inf)


def _label(theorem: str) -> str:
    return f"published ({theorem.partition(' ')[0]})"


def _between(first: int, last: int, points: float) -> list[int]:
    """Whole numbers evenly spaced in logarithms, both ends among them."""
    count = max(1, math.ceil(points * math.log10(last / first)))
    return sorted({round(first * math.exp(math.log(last / first) * place / count)) for place in range(count + 1)})


def _attacked(rows: int, width: float, beta: float) -> int | None:
    asks = attacked_asks(rows, width, beta)
    return asks if asks >= _ATTACKED else None


def _guessed(rows: int, surprises: int, width: float, beta: float) -> int:
    """How many asks guess and check answers within a width, near enough for a figure; 0 if not one."""
    low, high = math.log(surprises + 1), math.log(MOST)
    if guess_width(rows, surprises + 1, surprises, beta) > width:
        return 0
    while high - low > _CLOSE:
        middle = (low + high) / 2
        fits = guess_width(rows, round(math.exp(middle)), surprises, beta) <= width
        low, high = (middle, high) if fits else (low, middle)
    return round(math.exp(low))
