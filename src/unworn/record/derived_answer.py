"""Answers made of answers: F1, RMSE, a difference of two shares. They hold because all their parts hold together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unworn.basics.display import show_fields, show_html, show_line, show_number, show_width
from unworn.basics.tags import Tags
from unworn.queries.composite import Composite
from unworn.record.answer import Answer
from unworn.record.meter import show_cost
from unworn.record.question_words import label_words


@dataclass(frozen=True, repr=False)
class DerivedAnswer:
    """An answer computed from several others: ``low`` to ``high`` holds wherever the intervals of all ``parts`` do.

    So it holds with the same ``confidence``, together with everything else that was asked, and costs nothing beyond its
    parts. It has no entry of its own in the ledger: each part has one, with a certificate and what the asker wrote
    beside the question. ``name`` and ``tags`` are what all parts have in common.
    """

    value: float
    low: float
    high: float
    confidence: float
    label: str
    parts: tuple[Answer, ...] = field(repr=False)
    query: Composite = field(repr=False, compare=False)

    @classmethod
    def of(cls, composite: Composite, answers: Sequence[Answer]) -> DerivedAnswer:
        """What the answers to ``composite.questions``, in their order, say about it."""
        low, high = composite.interval([(answer.low, answer.high) for answer in answers])
        value = min(max(composite.value([answer.value for answer in answers]), low), high)
        return cls(value, low, high, answers[0].confidence, show_line(composite.label), tuple(answers), composite)

    @property
    def width(self) -> float:
        """Half the length of the interval; the value need not be its middle."""
        return (self.high - self.low) / 2

    @property
    def name(self) -> str | None:
        """The name that was kept with all of its parts."""
        names = {answer.name for answer in self.parts}
        return names.pop() if len(names) == 1 else None

    @property
    def tags(self) -> Tags:
        """The tags that were kept with all of its parts."""
        first, *others = (answer.tags for answer in self.parts)
        return {key: value for key, value in first.items() if all(own.get(key) == value for own in others)}

    @property
    def source(self) -> str:
        """Where the values of its parts come from: one word where it is the same for all."""
        sources = {answer.source for answer in self.parts}
        return sources.pop() if len(sources) == 1 else "derived"

    @property
    def short(self) -> str:
        """The value and its interval."""
        return _show_interval(self)

    @property
    def full_label(self) -> str:
        """What was asked, with the name and the tags that were kept with it."""
        return label_words(self.label, self.name, self.tags)

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    __repr__ = show_fields

    def __str__(self) -> str:
        asks = ", ".join(str(answer.index) for answer in self.parts)
        made = f"made of answer {asks}" if len(self.parts) == 1 else f"made of answers {asks}"
        return f"{self.full_label}: {self.short} ({made})"

    def __reduce__(self) -> tuple[Any, ...]:
        from unworn.queries import parse_composite

        return _derived_again, (parse_composite(self.query.to_json()), self.parts)  # without models and arrays

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{show_html(part.label)}</td><td>{_show_interval(part)}</td><td>answer {part.index}</td></tr>"
            for part in self.parts
        )
        return (
            f"<div><b>{show_number(self.value)}</b> in [{show_number(self.low)}, {show_number(self.high)}] · "
            f"{show_html(self.full_label)}"
            f"<br><small>{100 * self.confidence:.6g} % for all answers together · made of</small>"
            f"<table>{rows}</table></div>"
        )


def _show_interval(answer: Answer | DerivedAnswer) -> str:
    return f"{show_number(answer.value)} in [{show_number(answer.low)}, {show_number(answer.high)}]"


def _derived_again(composite: Composite, parts: tuple[Answer, ...]) -> DerivedAnswer:
    return DerivedAnswer.of(composite, parts)


@dataclass(frozen=True, repr=False)
class DerivedQuote:
    """What a composite would cost and how wide it would be if the rows agree with all guesses of its parts."""

    low: float
    high: float
    cost: float
    label: str
    currency: str = "nats"

    @property
    def width(self) -> float:
        return (self.high - self.low) / 2

    __repr__ = show_fields

    def __str__(self) -> str:
        width = show_width(self.width) if math.isfinite(self.width) else "without a bound"
        return f"{show_line(self.label)}: {width}, costs {show_cost(self.cost)} {self.currency}"

    def _repr_html_(self) -> str:
        return (
            f"<div><b>{show_width(self.width) if math.isfinite(self.width) else 'without a bound'}</b> · "
            f"{show_html(self.label)}<br><small>in [{show_number(self.low)}, {show_number(self.high)}] if the rows "
            f"agree with all guesses · costs {show_cost(self.cost)} {self.currency}</small></div>"
        )
