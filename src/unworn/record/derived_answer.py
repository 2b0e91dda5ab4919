"""Answers made of answers: F1, RMSE, a difference of two shares. They hold because all their parts hold together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unworn.basics.display import show_html, show_line
from unworn.queries.composite import Composite
from unworn.record.answer import Answer


@dataclass(frozen=True)
class DerivedAnswer:
    """What is made of several answers: ``low`` to ``high`` holds wherever the intervals of all ``parts`` do.

    So it holds with the same ``confidence``, together with everything else that was asked, and costs nothing beyond its
    parts. It has no entry of its own in the ledger: each part has one, with a certificate.
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
    def source(self) -> str:
        """Where the values of its parts come from: one word where it is the same for all."""
        sources = {answer.source for answer in self.parts}
        return sources.pop() if len(sources) == 1 else "derived"

    @property
    def short(self) -> str:
        """The value and its interval."""
        return f"{self.value:.4g} in [{self.low:.4g}, {self.high:.4g}]"

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __str__(self) -> str:
        asks = ", ".join(str(answer.index) for answer in self.parts)
        made = f"made of answer {asks}" if len(self.parts) == 1 else f"made of answers {asks}"
        return f"{show_line(self.label)}: {self.short} ({made})"

    def __reduce__(self) -> tuple[Any, ...]:
        from unworn.queries import parse_composite

        return _derived_again, (parse_composite(self.query.to_json()), self.parts)  # without models and arrays

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{show_html(answer.label)}</td><td>{answer.value:.4g} in [{answer.low:.4g}, {answer.high:.4g}]"
            f"</td><td>answer {answer.index}</td></tr>"
            for answer in self.parts
        )
        return (
            f"<div><b>{self.value:.4g}</b> in [{self.low:.4g}, {self.high:.4g}] · {show_html(self.label)}"
            f"<br><small>{100 * self.confidence:.6g} % for all answers together · made of</small>"
            f"<table>{rows}</table></div>"
        )


def _derived_again(composite: Composite, parts: tuple[Answer, ...]) -> DerivedAnswer:
    return DerivedAnswer.of(composite, parts)


@dataclass(frozen=True)
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

    def __str__(self) -> str:
        width = f"± {self.width:.4f}" if math.isfinite(self.width) else "without a bound"
        return f"{show_line(self.label)}: {width}, costs {self.cost:.3g} {self.currency}"
