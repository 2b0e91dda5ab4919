"""What can be seen of a holdout: its terms, what was released, what it cost. Free, and the same for everybody."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from unworn.basics.display import show_html, show_line
from unworn.holdout.desk import Desk
from unworn.mechanisms import Mechanism
from unworn.queries.table_output import to_frame
from unworn.record.certificate import Certificate
from unworn.record.transcript import Terms

if TYPE_CHECKING:
    from pathlib import Path

    from unworn.record.meter import Meter
    from unworn.rows.held_rows import HeldRows


class HoldoutView:
    """The half of :class:`~unworn.holdout.Holdout` that asks nothing."""

    _desk: Desk
    _sample: HeldRows

    @property
    def id(self) -> str:
        """The holdout's name in its ledger, for good."""
        return self._desk.transcript.first.holdout

    @property
    def terms(self) -> Terms:
        """What entry 0 fixed."""
        return self._desk.transcript.terms

    @property
    def path(self) -> Path | None:
        """Where the rows were read from, if they were given by path."""
        return self._sample.path

    @property
    def ledger_url(self) -> str | None:
        """What opens the ledger again; none when it is this object's memory."""
        return self._desk.store.url

    @property
    def name(self) -> str:
        return self._desk.transcript.terms.name

    @property
    def mechanism(self) -> Mechanism:
        return self._desk.transcript.mechanism

    @property
    def confidence(self) -> float:
        return self._desk.transcript.terms.confidence

    @property
    def size(self) -> int:
        """The number of sampled units: rows, or groups; of this use's part, where several uses share the rows."""
        return self.terms.size

    @property
    def max_width(self) -> float | None:
        return self._desk.max_width

    @property
    def head(self) -> str:
        """The hash of the last entry: note it somewhere, and a cut-off ledger will be found out."""
        with self._desk.order():
            transcript = self._desk.released()
            return transcript.head

    @property
    def read_only(self) -> bool:
        """Whether the key is missing, so that nothing can be asked."""
        return self._desk.key is None

    @property
    def meter(self) -> Meter:
        """What has been asked and spent, and how wide the next answer would be."""
        from unworn.record.meter import Meter  # loaded by those who look

        with self._desk.order():
            transcript = self._desk.released()
            return Meter.of(transcript, self._desk.refused)

    @property
    def answers(self) -> Any:
        """Every answer so far, as a frame of the kind the rows came in; each tag is a column, such as ``tags.fold``."""
        from unworn.record.answers_table import answer_columns, answer_rows

        with self._desk.order():
            transcript = self._desk.released()
            columns = answer_columns(answer_rows(transcript))
        return to_frame(columns, like=self._sample.backend)

    def verify(self, card: Certificate | str | os.PathLike[str] | None = None) -> None:
        """Check the whole ledger by replaying it and, given a card, that the card belongs to it. Raises if not.

        A long ledger is checked by several processes, in memory that does not grow with it.
        """
        from unworn.record.replay.store_check import check_stored_chain  # loads what starts processes

        with self._desk.order():
            transcript = self._desk.released()
            first, length, head = transcript.first, transcript.length, transcript.head
        if card is not None:
            certificate = card if isinstance(card, Certificate) else Certificate.load(card)
            certificate.verify()
            certificate.check_holdout(first)
            head = certificate.head
        check_stored_chain(self._desk.store, first, length, public=self.terms.public, heads=[head]).require(head)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a report on what was asked, as ``.html`` or ``.md``: a function of the ledger alone; returns where.

        It has the best of each metric with intervals, surprises, the budget, figures (with the extra ``plot``), and
        says how to verify it.
        """
        from unworn.record.report.ledger_digest import LedgerDigest
        from unworn.record.report.ledger_report import check_report_path, write_report

        target = check_report_path(path)
        with self._desk.order():
            digest = LedgerDigest.of(self._desk.released())
        return write_report(digest, target, self.ledger_url)

    def __repr__(self) -> str:
        return f"Holdout({show_line(self._desk.summary())})"

    def _repr_html_(self) -> str:
        return f"<div><b>{show_html(self._desk.summary())}</b>{self.meter._repr_html_()}</div>"
