"""Answers: a value, an interval that holds together with all the others, and the proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from unworn.basics.display import show_fields, show_html, show_line, show_number
from unworn.basics.frozen_init import assign_fields
from unworn.basics.tags import Tags
from unworn.mechanisms.contract.offer import NO_GUESS
from unworn.queries.query import Query
from unworn.record.certificate import Certificate, in_memory
from unworn.record.practice_estimate import PracticeEstimate
from unworn.record.question_words import full_label, metric_of


@assign_fields
@dataclass(frozen=True, repr=False)
class Answer:
    """The answer to a question: ``low`` to ``high`` covers the truth, with ``confidence`` for all answers together.

    ``source`` says where the value comes from: the ``guess`` that the rows agreed with (or the ``last answer`` to the
    same metric, where nobody guessed), the cell of a ``surprise`` or of a ``grid``, the rows with ``noise``, a
    ``synthetic`` distribution that the rows agreed with, a ``draw`` of one row, or ``exact`` where a mechanism shows
    it. A cell is a small range of values; a surprise is a cell that the guess did not lead one to expect. ``index`` is
    the answer's place in the ledger. A ledger's answers also include the outcomes of tests (1 for rejected, 0 for not;
    nothing is told about the value itself), and asks that ``failed`` or were ``interrupted``, whose interval is the
    whole range. ``practice`` is what the practice rows said, where there are any: a guess that came from them is shown
    as agreeing. ``name`` and ``tags`` are what the asker wrote beside the question.

    ``f"{answer:.3f}"`` is the value, and ``float(answer)`` too.
    """

    value: float
    low: float
    high: float
    confidence: float
    source: str
    index: int
    label: str
    certificate: Certificate = field(repr=False, compare=False)
    query: Query | None = field(default=None, repr=False, compare=False)
    practice: PracticeEstimate | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls, certificate: Certificate, query: Query | None = None, practice: PracticeEstimate | None = None
    ) -> Answer:
        """The answer that a certificate proves; with the question, where the asker still has it."""
        record, published = certificate.record, certificate.record.published
        return cls(
            published.value,
            published.low,
            published.high,
            certificate.terms.confidence,
            certificate.source,
            certificate.entry.index,
            show_line(record.label),
            certificate,
            query,
            practice or certificate.practice,
        )

    @property
    def width(self) -> float:
        """Half the length of the interval; the value need not be its middle."""
        return (self.high - self.low) / 2

    @property
    def name(self) -> str | None:
        """The name that was kept with the answer."""
        return self.certificate.record.name

    @property
    def tags(self) -> Tags:
        """The tags that were kept with it."""
        return dict(self.certificate.record.tags or {})

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    __repr__ = show_fields

    def __reduce__(self) -> tuple[Any, ...]:
        return Answer.of, (self.certificate, None, self.practice)  # without the question, which may hold a model

    def __str__(self) -> str:
        if self.source == "test":
            return f"{self.full_label} {'yes' if self.value else 'no'}"
        said = f"{self.explained}{self._ending}"
        low, high = show_number(self.low), show_number(self.high)
        return f"{self.full_label}: {show_number(self.value)} in [{low}, {high}] ({said})"

    @property
    def full_label(self) -> str:
        """The question, with the name and the tags that were kept with it."""
        return full_label(self.certificate.record)

    @property
    def explained(self) -> str:
        """The source in words, with what the practice rows said."""
        if self.practice is None:
            return self.source
        if self.source == "guess" and self.certificate.practice is not None:
            return "agrees with practice"
        return f"{self.source}; practice {self.practice.short}"

    @property
    def _ending(self) -> str:
        """Said of answers from a ledger in memory: elsewhere and later nobody counts them."""
        return "; the promise ends with this object" if in_memory(self.certificate.terms) else ""

    def row(self) -> dict[str, Any]:
        """One row of ``holdout.answers``."""
        record = self.certificate.record
        return {
            "index": self.index,
            "question": self.label,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "width": self.width,
            "source": self.source,
            "guess": None if record.guess is None or record.guess.origin == NO_GUESS else record.guess.value,
            "by": None if record.by is None else show_line(record.by),
            "at": datetime.fromtimestamp(record.at, UTC).isoformat(timespec="milliseconds"),
            "metric": metric_of(record),
            "name": None if record.name is None else show_line(record.name),
            "tags": self.tags,
        }

    def _repr_html_(self) -> str:
        if self.source == "test":
            outcome = "rejected" if self.value else "not rejected"
            return f"<div><b>{outcome}</b> · {show_html(self.full_label)}<br><small>answer {self.index}</small></div>"
        left, span = self.certificate.record.facts.low, self.certificate.record.facts.high
        scale = 100 / (span - left)
        bar = (
            f"<div style='position:relative;width:18em;height:.6em;background:#8882;border-radius:.3em'>"
            f"<div style='position:absolute;left:{(self.low - left) * scale:.2f}%;"
            f"width:{(self.high - self.low) * scale:.2f}%;height:100%;background:#4c78a8;border-radius:.3em'></div>"
            f"<div style='position:absolute;left:{(self.value - left) * scale:.2f}%;width:2px;height:100%;"
            f"background:#f58518'></div></div>"
        )
        return (
            f"<div><b>{show_number(self.value)}</b> in [{show_number(self.low)}, {show_number(self.high)}] · "
            f"{show_html(self.full_label)}{bar}"
            f"<small>{100 * self.confidence:.6g} % for all answers together · {show_html(self.explained)}{self._ending}"
            f" · answer {self.index}</small></div>"
        )
