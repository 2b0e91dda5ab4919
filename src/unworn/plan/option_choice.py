"""All options side by side, and which to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unworn.bounds import splitting_width
from unworn.plan.option_prices import (
    GUESSED,
    KINDS,
    certificates,
    most_asks,
    noise_width,
    noisy_checks,
    option,
    price,
    right,
    theorem_of,
)
from unworn.plan.result import Option, half, is_of_values

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

_OURS = {
    "F": "with accounting='F'",
    "D2": "with accounting='D2', for statistics too",
}
"""How to have the theorem that is not the narrower one of a plan."""


def options(rows: int, asks: int, surprises: int, confidence: float, within: float | None = None) -> tuple[Option, ...]:
    """Mechanisms from the narrowest to the widest, then comparisons; how many asks they serve ``within`` a width."""
    chosen = [price(name, rows, asks, surprises, confidence) for name in KINDS]
    if within is not None:
        chosen = [replace(option, asks=_asks(option, rows, asks, within, 1 - confidence)) for option in chosen]
    if surprises:
        chosen.append(noisy_checks(rows, asks, surprises, confidence))
    chosen.sort(key=lambda option: (not is_of_values(option), _narrow(option)))
    return (*chosen, *sorted(_comparisons(rows, asks, 1 - confidence), key=_narrow))


def best_of(found: Sequence[Option], asks: int, surprises: int) -> tuple[str, str | None, str]:
    """The best mechanism, the best one without guesses, and why.

    >>> print(best_of([Option("BoundedNoise", "D2", 0.05, ""), Option("GuessAndCheck", "C", 0.3, "")], 10_000, 50)[2])
    BoundedNoise, ± 0.0500 whatever the guesses; GuessAndCheck gives ± 0.3000 if all but 50 of 10,000 guesses are right
    """
    able = [option for option in found if option.width is not None and _competes(option)]
    if not able:
        return _GUESSING, None, "none, for a share near one half: bring more rows or plan fewer asks"
    best, guesses = able[0], right(asks, surprises)
    other, told = _unguessed(found)
    if _is_guessed(best):
        return best.mechanism, other, f"{best.mechanism}, if {guesses}; without guesses {told}"
    guessed = next((option for option in able if option.mechanism.startswith(_GUESSING)), None)
    gives = f"{guessed.mechanism} gives {half(guessed.width)}" if guessed else f"{_GUESSING} gives no interval"
    beside = f"{gives} if {guesses}"
    return best.mechanism, best.mechanism, f"{best.mechanism}, {half(best.width)} whatever the guesses; {beside}"


def _unguessed(found: Sequence[Option]) -> tuple[str | None, str]:
    """What to take when there are no guesses: the most asks where those were sought, else the narrowest."""
    free = [option for option in found if _competes(option) and not _is_guessed(option)]
    if any(option.asks is not None for option in free):
        most = max(free, key=lambda option: option.asks or 0)
        if most.asks:
            return most.mechanism, f"{most.mechanism}, which answers {most.asks:,} within that width"
        return None, "none answers even one within that width"
    if free[0].width is None:
        return None, "none can answer so many"
    told = f"{free[0].mechanism}, {half(free[0].width)}"
    known = [option for option in found if option.tells == "domain values" and _narrow(option) < free[0].width]
    if known:
        told += f" ({known[0].mechanism}, {half(known[0].width)}, where all columns take few values)"
    return free[0].mechanism, told


def _competes(option: Option) -> bool:
    """Whether a mechanism answers any share with a value, as the others do."""
    return option.tells == "values" and not option.comparison


def _is_guessed(option: Option) -> bool:
    """Whether a mechanism holds guesses against the rows, with whatever parameters."""
    return option.mechanism.partition("(")[0] in GUESSED


def _narrow(option: Option) -> float:
    return 1.0 if option.width is None else option.width


def _asks(option: Option, rows: int, asks: int, within: float, beta: float) -> int | None:
    return asks if option.mechanism == _GUESSING else most_asks(option.mechanism, rows, within, beta)


def _comparisons(rows: int, asks: int, beta: float) -> list[Option]:
    """The registry's theorems on which no mechanism of this plan rests, by the mechanism that they are about."""
    from unworn.bounds.transfer import registry

    noises = {mark.partition(" ")[2]: name for name in KINDS for mark in certificates(name)}
    found = []
    for name in registry.THEOREMS:
        theorem, _, rest = name.partition(" ")
        noise, _, how = rest.partition(", ")
        width = noise_width(name, rows, asks, beta) if theorem in (*_ORIGINS, *_OURS) else None
        if theorem in _OURS and noise in noises and len(certificates(noises[noise])) > 1:
            other = theorem_of(noises[noise], rows, asks, beta)
            if not other.endswith(f"(Theorem {theorem})"):
                found.append(option(noises[noise], theorem, width, _OURS[theorem], comparison=True))
        if theorem in _ORIGINS:
            words = f"{theorem}, {how}" if how else theorem
            reason = _ORIGINS[theorem] if width is not None else "more than can be priced here"
            found.append(option(noises[noise], words, width, reason, comparison=True))
    if asks <= rows:
        width = splitting_width(rows, asks, beta)
        found.append(option("SampleSplitting", "sample splitting, Hoeffding", width, "without exact limits", True))
    return found
