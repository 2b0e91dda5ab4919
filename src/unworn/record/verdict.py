"""Verdicts: a hypothesis is rejected or it is not, together with all the others ever tested, and the proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from unworn.basics.display import show_fields, show_html, show_line
from unworn.basics.tags import Tags
from unworn.mechanisms.contract.capabilities import ChecksHypotheses
from unworn.mechanisms.contract.mechanism import has_failed
from unworn.queries.hypothesis import asked_at
from unworn.record.certificate import Certificate
from unworn.record.question_words import label_words


@dataclass(frozen=True)
class Verdict:
    """The result of a test. True when the hypothesis is rejected: ``if holdout.test(...)``.

    For any level fixed in advance: with probability 1 − level no true hypothesis is ever rejected by a test at that
    level or a smaller one, however the hypotheses were chosen. To that end this one was tested at ``corrected_level``,
    which follows from what was asked before. "Not rejected" says nothing: it may be false all the same.
    """

    rejected: bool
    hypothesis: str
    level: float
    log_corrected_level: float
    index: int
    certificate: Certificate = field(repr=False, compare=False)

    @classmethod
    def of(cls, certificate: Certificate) -> Verdict:
        """The verdict that a certificate proves."""
        record, null = certificate.record, certificate.record.offer.null
        if null is None or has_failed(record.symbol):
            raise ValueError(f"entry {certificate.entry.index} of the ledger is not the outcome of a test")
        words = show_line(record.label.removesuffix(asked_at(null[2])))
        mechanism = certificate.terms.mechanism
        if not isinstance(mechanism, ChecksHypotheses):
            raise ValueError(f"{type(mechanism).__name__} tests no hypotheses")
        level = mechanism.test_level(record.offer)
        return cls(
            mechanism.is_rejected(record.offer, record.symbol),
            words,
            null[2],
            level,
            certificate.entry.index,
            certificate,
        )

    @property
    def corrected_level(self) -> float:
        """The level of this one test; 0.0 where it is too small for a float, whose logarithm is still there."""
        return math.exp(self.log_corrected_level)

    @property
    def name(self) -> str | None:
        """The name that was kept with the verdict."""
        return self.certificate.record.name

    @property
    def tags(self) -> Tags:
        """The tags that were kept with it."""
        return dict(self.certificate.record.tags or {})

    def __bool__(self) -> bool:
        return self.rejected

    def __reduce__(self) -> tuple[Any, ...]:
        return Verdict.of, (self.certificate,)

    __repr__ = show_fields

    def __str__(self) -> str:
        return f"{self._word()} at level {self.level:g}: {self._words()}"

    def _repr_html_(self) -> str:
        corrected = f"{self.corrected_level:.3g}" if self.corrected_level else f"e^{self.log_corrected_level:.1f}"
        return (
            f"<div><b>{self._word()}</b> · {show_html(self._words())}<br>"
            f"<small>level {self.level:g} for all tests together, {corrected} for this one · "
            f"answer {self.index}</small></div>"
        )

    def _words(self) -> str:
        return label_words(self.hypothesis, self.name, self.tags)

    def _word(self) -> str:
        return "rejected" if self.rejected else "not rejected"
