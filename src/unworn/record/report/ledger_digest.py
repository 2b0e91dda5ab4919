"""What a report tells of a ledger: read in one pass, and no more of it kept than is told."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from unworn.mechanisms.contract.mechanism import has_failed
from unworn.mechanisms.contract.record import Record
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.meter import Meter
from unworn.record.question_words import better_when
from unworn.record.transcript import Terms, Transcript

Row = dict[str, Any]

SHOWN = 12
"""Rows of a table of the best or the latest."""
LISTED = 500
"""Answers that are listed one by one; of a longer ledger, the last so many."""
DRAWN = 300
METRICS = 10
"""Metrics with a section of their own: those asked most."""
_KEPT = 20 * SHOWN


@dataclass
class MetricDigest:
    """The answers to one metric."""

    metric: str
    direction: int
    asked: int = 0
    surprises: int = 0
    rows: dict[str, Row] = field(default_factory=dict)

    def add(self, row: Row, fingerprint: str) -> None:
        """Keep the narrowest answer to each question; of questions the best or, where none is better, the latest."""
        self.asked += 1
        self.surprises += row["source"] == "surprise"
        known = self.rows.pop(fingerprint, None)
        self.rows[fingerprint] = known if known is not None and known["width"] < row["width"] else row
        if len(self.rows) > _KEPT:
            self.rows = dict(self._ranked()[: _KEPT // 2])

    @property
    def best(self) -> list[Row]:
        """The best answers, or the latest where no value is better than another."""
        return [row for _, row in self._ranked()[:SHOWN]]

    def _ranked(self) -> list[tuple[str, Row]]:
        if self.direction:
            return sorted(self.rows.items(), key=lambda item: (-self.direction * item[1]["value"], item[1]["width"]))
        return sorted(self.rows.items(), key=lambda item: -item[1]["index"])


@dataclass
class LedgerDigest:
    """All that a report says."""

    terms: Terms
    meter: Meter
    head: str
    asked: int = 0
    theorem: str = ""
    assumptions: tuple[str, ...] = ()
    metrics: list[MetricDigest] = field(default_factory=list)
    surprises: deque[Row] = field(default_factory=lambda: deque(maxlen=SHOWN))
    tests: deque[Row] = field(default_factory=lambda: deque(maxlen=LISTED))
    failures: deque[Row] = field(default_factory=lambda: deque(maxlen=SHOWN))
    listed: deque[Row] = field(default_factory=lambda: deque(maxlen=LISTED))
    drawn: list[Row] = field(default_factory=list)

    @classmethod
    def of(cls, transcript: Transcript) -> LedgerDigest:
        """Read a transcript once, from its beginning."""
        digest = cls(transcript.terms, Meter.of(transcript), transcript.head)
        groups: dict[str, MetricDigest] = {}
        assumed: dict[str, None] = {}
        stride = max(1, -(-(transcript.length - 1) // DRAWN))
        asked = () if transcript.terms.is_release else islice(transcript.entries, 1, None)
        for place, (entry, record) in enumerate(zip(asked, transcript.records, strict=True)):
            certificate = Certificate(transcript.first, entry, transcript.terms, record)
            assumed |= dict.fromkeys(certificate.assumptions)
            digest.theorem = certificate.theorem
            digest._add(Answer.of(certificate).row(), record, place % stride == 0, groups)
        digest.assumptions = tuple(assumed)
        digest.metrics = sorted(groups.values(), key=lambda group: -group.asked)
        return digest

    def _add(self, row: Row, record: Record, draw: bool, groups: dict[str, MetricDigest]) -> None:
        self.asked += 1
        self.listed.append(row)
        if has_failed(record.symbol):
            self.failures.append(row)
        elif record.offer.null is not None:
            self.tests.append(row)
        else:
            if row["source"] == "surprise":
                self.surprises.append(row)
            if draw:
                self.drawn.append(row)
            metric = row["metric"]
            group = groups.setdefault(metric, MetricDigest(metric, better_when(record)))
            group.add(row, record.fingerprint)
