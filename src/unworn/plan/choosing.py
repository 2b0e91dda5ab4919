"""All options side by side, and which to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unworn.bounds import splitting_width
from unworn.bounds.transfer import registry
from unworn.plan.pricing import KINDS, certificate, most_asks, noise_width, option, price, right
from unworn.plan.result import Option

_GUESSING = "GuessAndCheck"

_ORIGINS = {
    "D1+": "an earlier proof of this package",
    "D1": "the first proof of this package",
    "JLNRSS20": "Jung, Ligett, Neel and others 2020",
    "Rogers20": "Rogers, Roth, Smith and others 2020",
    "BNSSSU16": "Bassily, Nissim, Smith and others 2016",
    "DFHPRR15": "Dwork, Feldman, Hardt and others 2015",
}
"""Where the theorems come from that no mechanism here rests on."""


def options(rows: int, asks: int, surprises: int, confidence: float, within: float | None = None) -> tuple[Option, ...]:
    """Mechanisms from the narrowest to the widest, then comparisons; how many asks they serve ``within`` a width."""
    chosen = [price(name, rows, asks, surprises, confidence) for name in KINDS]
    if within is not None:
        chosen = [replace(option, asks=_asks(option, rows, asks, within, 1 - confidence)) for option in chosen]
    return tuple(sorted(chosen, key=_narrow) + sorted(_comparisons(rows, asks, 1 - confidence), key=_narrow))


def best_of(found: Sequence[Option], asks: int, surprises: int) -> tuple[str, str | None, str]:
    """The best mechanism, the best one without guesses, and why.

    >>> best_of([Option("BoundedNoise", "D2", 0.05, ""), Option("GuessAndCheck", "C", 0.31, "")], 100_000, 5_000)[2]
    'BoundedNoise, ± 0.05 whatever the guesses; GuessAndCheck gives ± 0.31 if all but 5,000 of 100,000 guesses are right'
    """
    able = [option for option in found if option.width is not None and not option.comparison]
    free = [option for option in able if option.mechanism != _GUESSING]
    if not able:
        return _GUESSING, None, "none, for a share near one half: bring more rows or plan fewer asks"
    if able[0].mechanism != _GUESSING:
        best = able[0]
        widths = [f"± {option.width:.3g}" for option in able if option.mechanism == _GUESSING] or ["no interval"]
        beside = f"{_GUESSING} gives {widths[0]} if {right(asks, surprises)}"
        return best.mechanism, best.mechanism, f"{best.mechanism}, ± {best.width:.3g} whatever the guesses; {beside}"
    told = f"{_GUESSING}, if {right(asks, surprises)}; without guesses "
    if free:
        return _GUESSING, free[0].mechanism, f"{told}{free[0].mechanism}, ± {free[0].width:.3g}"
    counted = [option for option in found if option.asks and option.mechanism != _GUESSING]
    if not counted:
        return _GUESSING, None, f"{told}none can answer so many"
    most = max(counted, key=lambda option: option.asks or 0)
    return _GUESSING, most.mechanism, f"{told}{most.mechanism}, which answers {most.asks:,} within the same width"


def _narrow(option: Option) -> float:
    return 1.0 if option.width is None else option.width


def _asks(option: Option, rows: int, asks: int, within: float, beta: float) -> int | None:
    return asks if option.mechanism == _GUESSING else most_asks(option.mechanism, rows, within, beta)


def _comparisons(rows: int, asks: int, beta: float) -> list[Option]:
    """The registry's theorems on which no mechanism rests, under the name of the mechanism they are about."""
    noises = {mark.partition(" ")[2]: name for name in KINDS if (mark := certificate(name))}
    found = []
    for name in registry.THEOREMS:
        theorem, _, rest = name.partition(" ")
        noise, _, how = rest.partition(", ")
        if theorem in _ORIGINS:
            width = noise_width(name, rows, asks, beta)
            words = f"{theorem}, {how}" if how else theorem
            reason = _ORIGINS[theorem] if width is not None else "more than can be priced here"
            found.append(option(noises[noise], words, width, reason, comparison=True))
    if asks <= rows:
        width = splitting_width(rows, asks, beta)
        found.append(option("SampleSplitting", "sample splitting, Hoeffding", width, "without exact limits", True))
    return found
