"""What a plan says, and how it prints."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from unworn.queries.frames import to_frame


def half(width: float | None) -> str:
    """A half-width as people read it, or a dash.

    >>> half(0.04917), half(0.0000223), half(None)
    ('± 0.0492', '± 2.2e-05', '–')
    """
    if width is None:
        return "–"
    return f"± {width:.4f}" if width >= 0.001 else f"± {width:.2g}"


@dataclass(frozen=True)
class Option:
    """What one mechanism would give for the same rows and asks, by one theorem.

    ``width`` is none where no interval shorter than the whole range can be promised. ``asks`` is told when the asks
    were solved for: how many this mechanism could answer within the plan's width. A ``comparison`` is another theorem
    about a mechanism that is already there: true as well, but wider.
    """

    mechanism: str
    theorem: str
    width: float | None
    reason: str
    asks: int | None = None
    comparison: bool = False


@dataclass(frozen=True)
class Plan:
    """What to expect: ``width`` is what an exact guess gets at the last ask, ``floor`` the confidence limits alone.

    Sharpening takes an answer from ``width`` towards ``floor``. ``best`` is the mechanism with the narrowest intervals
    if no more than ``surprises`` guesses are wrong, ``best_without_guesses`` the one to take if there are none to
    bring (none where no mechanism can serve), and ``reason`` says both in words. ``options`` has the mechanisms from
    the narrowest to the widest, then other theorems about them, for comparison.
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

    @property
    def mechanisms(self) -> tuple[Option, ...]:
        """What can be chosen, each by its sharpest theorem."""
        return tuple(option for option in self.options if not option.comparison)

    @property
    def comparisons(self) -> tuple[Option, ...]:
        """What other theorems, most of them published before, say of the same mechanisms."""
        return tuple(option for option in self.options if option.comparison)

    def frame(self) -> Any:
        """The options, as a frame."""
        names = [field.name for field in fields(Option)]
        return to_frame({name: [getattr(option, name) for option in self.options] for name in names})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows, {self.asks:,} asks, {self.surprises:,} surprises, {100 * self.confidence:g} % "
            f"for all together:\n{half(self.width)} for right guesses, {half(self.floor)} sharpened\n"
            f"best: {self.reason}"
        )

    def _repr_html_(self) -> str:
        from html import escape

        counted = any(option.asks is not None for option in self.options)
        heads = ["mechanism", "width", *(["asks within the width"] if counted else []), "because", "theorem"]

        def line(option: Option) -> str:
            asks = ["–" if option.asks is None else f"{option.asks:,}"] if counted else []
            cells = (option.mechanism, half(option.width), *asks, option.reason, option.theorem)
            return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"

        told = "<br>".join(escape(part) for part in str(self).split("\n"))
        head = "".join(f"<th>{name}</th>" for name in heads)
        between = f'<tr><th colspan="{len(heads)}">other theorems, for comparison</th></tr>'
        groups = ["".join(map(line, group)) for group in (self.mechanisms, self.comparisons)]
        return f"<div>{told}<table><tr>{head}</tr>{groups[0]}{between if groups[1] else ''}{groups[1]}</table></div>"
