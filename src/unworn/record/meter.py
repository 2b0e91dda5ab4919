"""What has been spent, and what the next ask would cost: public numbers, free to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from unworn.basics.display import show_fields, show_html, show_line, show_number, show_width
from unworn.basics.float_settings import with_usual_floats
from unworn.errors import Exhausted
from unworn.mechanisms import Guess
from unworn.mechanisms.contract.conversation import likely_width
from unworn.mechanisms.contract.declarations import currency_of, spending_of
from unworn.queries.query import Facts
from unworn.record.transcript import Transcript

_NOTHING = 1e-6
"""Less than this is no price that anybody pays."""


@dataclass(frozen=True, repr=False)
class Meter:
    """Where a holdout stands.

    ``spent`` is in the ``currency`` of the plan: nats, unless its theorem knows only privacy loss. One nat makes
    the conversation so far e times less likely under a law fixed before it. ``next_width`` is the half-width that the
    next 0/1 question gets if the rows agree with a guess of one half. ``use`` and ``share`` are given where
    several uses share the rows.
    """

    asked: int
    surprises: int
    refused: int
    currency: str
    spent: float
    planned: int | None
    next_width: float | None
    use: str | None = None
    share: float | None = None

    @classmethod
    @with_usual_floats
    def of(cls, transcript: Transcript, refused: int = 0) -> Meter:
        """Read a transcript's meter; refusals are free and not entered, so only the holdout itself knows them."""
        state, mechanism = transcript.state, transcript.mechanism
        try:
            offer = mechanism.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), Guess(0.5))
            width = likely_width(mechanism, offer)
        except Exhausted:
            width = None
        spent, currency, uses = spending_of(mechanism, state), currency_of(mechanism), transcript.terms.uses
        shared = (None, None) if uses is None else (uses.use, uses.share)
        return cls(state.asked, state.surprises, refused, currency, spent, state.planned, width, *shared)

    def to_json(self) -> dict[str, Any]:
        told = asdict(self)
        return told if self.use is not None else {name: told[name] for name in told if name not in ("use", "share")}

    __repr__ = show_fields

    def __str__(self) -> str:
        planned = "" if self.planned is None else f" of {self.planned}"
        width = "none left" if self.next_width is None else f"± {self.next_width:.4f}"
        return (
            f"asked {self.asked}{planned} · surprises {self.surprises} · refused {self.refused} · "
            f"{show_spent(self.spent)} {self.currency} · next {width}"
            + ("" if self.share is None else f" · use {show_line(self.use)}, share {100 * self.share:.6g} %")
        )

    def _repr_html_(self) -> str:
        shown: dict[str, Any] = {
            "asked": f"{self.asked:,}" + ("" if self.planned is None else f" of {self.planned:,}"),
            "surprises": self.surprises,
            "refused": self.refused,
            "spent": f"{show_spent(self.spent)} {self.currency}",
            "next answer": "none left" if self.next_width is None else f"± {self.next_width:.4f}",
        }
        if self.share is not None:
            shown["use"] = f"{self.use}, {100 * self.share:.6g} % of the rows"
        return html_table(shown)


def html_table(shown: Mapping[str, Any]) -> str:
    """Names on the left, what is shown on the right."""
    left = "style='text-align:left'"
    lines = (
        f"<tr><th {left}>{show_html(name)}</th><td {left}>{show_html(value)}</td></tr>" for name, value in shown.items()
    )
    return f"<table>{''.join(lines)}</table>"


def show_spent(spent: float) -> str:
    """To a tenth, or to two digits of what is less than one; what is set aside for failures alone is nothing.

    >>> show_spent(12.34), show_spent(0.0099), show_spent(9.3e-10)
    ('12.3', '0.0099', '0.0')
    """
    return f"{spent:.1f}" if spent < _NOTHING or spent >= 1 else f"{spent:.2g}"


def show_cost(cost: float) -> str:
    """To three digits.

    >>> show_cost(6.3531), show_cost(9.3e-10)
    ('6.35', '0')
    """
    return "0" if cost < _NOTHING else f"{cost:.3g}"


@dataclass(frozen=True, repr=False)
class Quote:
    """What a question would cost and how wide its answer would be, without asking it.

    ``width`` is the half-width if the rows agree with the guess (without a guess: that of any cell of the grid), and
    ``widest`` the largest that any answer could have; ``cost`` and ``surprise_cost`` are in ``currency``.
    ``repeat`` is true if the question was asked before, so that the recorded answer would come back for free. ``low``
    and ``high`` are the interval that belongs to ``width``.
    """

    index: int
    width: float
    widest: float
    cost: float
    surprise_cost: float
    guess: float | None
    repeat: bool
    low: float
    high: float
    currency: str = "nats"

    __repr__ = show_fields

    def __str__(self) -> str:
        if self.repeat:
            return f"asked before: answer {self.index} comes back, free"
        cost = f"{show_cost(self.cost)} {self.currency}"
        width, widest = show_width(self.width), show_width(self.widest)
        return f"ask {self.index}: {width} (at worst {widest}), costs {cost}"

    def _repr_html_(self) -> str:
        if self.repeat:
            return f"<div>{show_html(self)}</div>"
        shown = {
            "ask": self.index,
            "width": f"{show_width(self.width)}, at worst {show_width(self.widest)}",
            "interval": f"[{show_number(self.low)}, {show_number(self.high)}]",
            "cost": f"{show_cost(self.cost)} {self.currency}; a surprise {show_cost(self.surprise_cost)}",
            "guess": "none" if self.guess is None else show_number(self.guess),
        }
        return html_table(shown)
