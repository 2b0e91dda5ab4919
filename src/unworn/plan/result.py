"""What a plan says, and how it prints: advice first, then the mechanisms, then the theorems for who asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from unworn.basics.display import show_html
from unworn.plan.guess_price import MOST, code_nats, guess_width, noisy_check_final
from unworn.queries.table_output import to_frame

Tells = Literal["values", "domain values", "sides", "bests", "coins"]
"""What a mechanism answers with: any share; shares over a domain that is known; on which side of a threshold a value
lies; whether it is a new best; a coin."""

_MANY = 10**6
"""A wrong guess costs more the longer all were right; past this many asks nobody goes."""


def half(width: float | None) -> str:
    """A half-width as people read it, or a dash.

    >>> half(0.04917), half(0.0000223), half(None)
    ('± 0.0492', '± 2.2e-05', '–')
    """
    if width is None:
        return "–"
    return f"± {width:.4f}" if width >= 0.001 else f"± {width:.2g}"


def count_of(asks: int) -> str:
    """A number of asks in words, where there are more than anybody asks.

    >>> count_of(1_000), count_of(10**15)
    ('1,000 asks', 'as many asks as you like')
    """
    return "as many asks as you like" if asks >= MOST else f"{asks:,} {'ask' if asks == 1 else 'asks'}"


@dataclass(frozen=True)
class Option:
    """What one mechanism would give for the same rows and asks, by one theorem.

    ``mechanism`` is its name, with the parameter that makes it another option than the defaults are.

    ``width`` is None where no interval shorter than the whole range can be promised. ``asks`` is given when the plan
    was solved for asks: how many this mechanism could answer within the plan's width. A ``comparison`` is another
    theorem about a mechanism that is already listed: also true, but wider. ``tells`` is what the mechanism answers
    with: only widths of the same kind can be compared.
    """

    mechanism: str
    theorem: str
    width: float | None
    reason: str
    asks: int | None = None
    comparison: bool = False
    tells: Tells = "values"


@dataclass(frozen=True)
class Plan:
    """What to expect: ``width`` is the half-width for a right guess at the last ask, ``final`` that of a final number.

    ``floor`` is that of the confidence limits alone at the last ask, which sharpening approaches; ``untouched`` is that
    of one number if nothing had been asked of these rows before. ``best`` is the mechanism with the narrowest intervals
    if no more than ``surprises`` guesses are wrong, as one would write it (``GuessAndCheck(surprises=20)``),
    ``best_without_guesses`` the one to take if you have no guesses (None where no mechanism can serve), and ``reason``
    says both in words. ``options`` has the mechanisms from the narrowest to the widest, then those that answer
    something other than a share, then other theorems for comparison.
    """

    rows: int
    asks: int
    surprises: int
    width: float
    floor: float
    confidence: float
    best: str
    best_without_guesses: str | None
    reason: str
    options: tuple[Option, ...]
    final: float
    untouched: float

    @property
    def mechanisms(self) -> tuple[Option, ...]:
        """What can be chosen, each by its sharpest theorem."""
        return tuple(option for option in self.options if not option.comparison)

    @property
    def comparisons(self) -> tuple[Option, ...]:
        """What other theorems, most of them published before, say of the same mechanisms."""
        return tuple(option for option in self.options if option.comparison)

    @property
    def surprise_nats(self) -> float:
        """What one more wrong guess would cost, in nats, among at most a million asks.

        One nat makes the conversation e times less likely under the law that was fixed before it.
        """
        asks = min(self.asks, _MANY)
        wrong = min(self.surprises, asks - 1)
        return code_nats(asks, wrong + 1) - code_nats(asks, wrong)

    @property
    def noisy_check_width(self) -> float | None:
        """What ``width`` would be with ``GuessAndCheck(surprises=...)``, which tells agreement with noise."""
        name = f"GuessAndCheck(surprises={self.surprises})"
        return next((option.width for option in self.options if option.mechanism == name), None)

    @property
    def advice(self) -> str:
        """What to do, in sentences."""
        some = f"{self.surprises:,} {'guess is' if self.surprises == 1 else 'guesses are'} wrong"
        wrong = some if self.surprises else "every guess is right"
        asks = min(self.asks, _MANY)
        more = guess_width(self.rows, asks, min(self.surprises + 1, asks - 1), 1 - self.confidence)
        within = " in a million asks" if self.asks > _MANY else ""
        free = "Ask freely" if self.best == "GuessAndCheck" and self.width < 0.5 else "Ask with care"
        return "\n".join(
            [
                f"{free}: {self.rows:,} rows, {count_of(self.asks)}, {100 * self.confidence:g} % for all answers "
                "together.",
                f"After them, if {wrong}, an answer that agrees with its guess is {half(self.width)}.",
                f"Each wrong guess (a surprise) costs about {self.surprise_nats:.0f} nats{within}: one more would make "
                f"it {half(more)}. Right ones cost next to nothing.",
                f"Your final number will be {half(self.final)}; that of an untouched test set would be "
                f"{half(self.untouched)}.",
                *self._noisy_checks(),
                "The number of asks need not be planned: for GuessAndCheck asks= is a cap that changes no price.",
                f"Best: {self.reason}.",
            ]
        )

    def _noisy_checks(self) -> Iterator[str]:
        """What many wrong guesses would cost if agreement were told with noise, where that is less."""
        noisy = self.noisy_check_width
        if noisy is None or not noisy < self.width:
            return
        final = noisy_check_final(self.rows, self.asks, self.surprises, 1 - self.confidence)
        yield (
            f"That many wrong guesses cost less when guesses are checked with noise: GuessAndCheck("
            f"surprises={self.surprises}) gives {half(noisy)}, and a final number of {half(final)}."
        )

    def frame(self, theorems: bool = False) -> Any:
        """The mechanisms, as a frame; with ``theorems`` also what other theorems say of them."""
        shown = self.options if theorems else self.mechanisms
        names = [field.name for field in fields(Option)]
        return to_frame({name: [getattr(option, name) for option in shown] for name in names})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return self.advice

    def _repr_html_(self) -> str:
        told = "<br>".join(show_html(part) for part in self.advice.split("\n"))
        first = [option for option in self.mechanisms if is_of_values(option)]
        others = [option for option in self.mechanisms if not is_of_values(option)]
        tables = self._table(first) + "<small>Other kinds of answer</small>" + self._table(others)
        if self.comparisons:
            hidden = f"<summary>Other theorems, for comparison</summary>{self._table(self.comparisons)}"
            tables += f"<details>{hidden}</details>"
        return f"<div>{told}{tables}</div>"

    def _table(self, options: Sequence[Option]) -> str:
        counted = any(option.asks is not None for option in self.options)
        heads = ["mechanism", "width", *(["asks within the width"] if counted else []), "because", "theorem"]

        def line(option: Option) -> str:
            asks = ["–" if option.asks is None else f"{option.asks:,}"] if counted else []
            cells = (option.mechanism, half(option.width), *asks, option.reason, option.theorem)
            return f"<tr>{''.join(f'<td>{show_html(cell)}</td>' for cell in cells)}</tr>"

        head = "".join(f"<th>{name}</th>" for name in heads)
        return f"<table><tr>{head}</tr>{''.join(map(line, options))}</table>"


def is_of_values(option: Option) -> bool:
    """Whether a mechanism answers any share with a value."""
    return option.tells in ("values", "domain values")
