"""What can be seen of a holdout behind a wall: its terms, what was released, what it cost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from unworn.basics.display import show_html, show_line
from unworn.basics.output_files import write_output
from unworn.basics.typed_fields import read_fields
from unworn.client.reply_values import read_real, read_whole, read_word
from unworn.client.signed_answers import read_certificate
from unworn.client.transport.pinned_keys import PinnedKey
from unworn.client.transport.problem_errors import BadReply
from unworn.client.transport.server_address import ServerAddress
from unworn.client.transport.wire import Wire
from unworn.errors import LedgerError, Tampered, Unaskable
from unworn.ledger import Entry
from unworn.queries.table_output import to_frame
from unworn.record.answer import Answer
from unworn.record.answers_table import answer_columns
from unworn.record.certificate import Certificate, replay
from unworn.record.meter import Meter

_PAGE = 1_000


class ConnectedView:
    """The half of :class:`~unworn.client.connected_holdout.ConnectedHoldout` that asks nothing."""

    def __init__(self, wire: Wire, address: ServerAddress) -> None:
        self._wire, self._address = wire, address
        self._pin = PinnedKey(address)
        self._base = f"/api/holdouts/{quote(address.name or '')}"
        self._details: dict[str, Any] | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return self._address.url

    @property
    def details(self) -> dict[str, Any]:
        """What the server tells of it, anew at each look: schema, sizes, meter, whether it is closed."""
        told = self._wire.get(self._base)
        if not isinstance(told, dict):
            raise BadReply(f"{self.url} does not answer like a holdout")
        if isinstance(told.get("public_key"), str):
            self._pin.check(told["public_key"])
        self._details = told
        return told

    @property
    def name(self) -> str:
        return read_word(self._fixed, "name", self.url)

    @property
    def size(self) -> int:
        """The number of sealed units."""
        return read_whole(self._fixed, "size", self.url)

    @property
    def confidence(self) -> float:
        return read_real(self._fixed, "confidence", self.url)

    @property
    def practice_size(self) -> int:
        """The number of practice rows."""
        return read_whole(self._fixed, "practice_size", self.url)

    @property
    def schema(self) -> Any:
        """The columns, by name and kind: what questions can be about."""
        return self._fixed.get("schema")

    @property
    def closed(self) -> bool:
        """Whether final values were told, and nothing can be asked any more."""
        return self.details.get("closed") is True

    @property
    def meter(self) -> Meter:
        """What has been asked and spent, by everybody, and how wide the next answer would be."""
        try:
            return read_fields(Meter, self.details["meter"])
        except (KeyError, TypeError, ValueError):
            raise BadReply(f"{self.url} has no meter that can be read") from None

    @property
    def answers(self) -> Any:
        """Every answer so far, as a frame; each tag is a column, such as ``tags.fold``.

        Each is rebuilt here from its entry, whose signature is checked.
        """
        terms, *entries = list(self._pages("entries", 0)) or [{}]
        proofs = [read_certificate(terms, entry, self._pin) for entry in entries]
        if [proof.entry.index for proof in proofs] != list(range(1, len(proofs) + 1)):
            raise Tampered(f"{self.url} shows other entries than those of its ledger, one after the other")
        return to_frame(answer_columns([Answer.of(proof).row() for proof in proofs]))

    def card(self, index: int) -> Certificate:
        """The certificate of one answer, checked."""
        certificate = Certificate.from_json(self._wire.get(f"{self._base}/cards/{int(index)}"))
        certificate.verify()
        self._pin.check(certificate.terms.public)
        return certificate

    def entries(self) -> list[Entry]:
        """The whole ledger, as it was signed."""
        return [Entry.from_json(entry) for entry in self._pages("entries", 0)]

    def verify(self, card: Certificate | str | os.PathLike[str] | None = None) -> None:
        """Fetch the whole ledger and replay it here; with a card, check that it belongs to it. Raises if not."""
        entries = self.entries()
        if not entries:
            raise LedgerError(f"{self.url} shows no entry of its ledger")
        if card is not None:
            certificate = card if isinstance(card, Certificate) else Certificate.load(card)
            certificate.verify(entries[: certificate.entry.index + 1])
        self._pin.check(replay(entries).terms.public)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Save the server's report on what was asked, as HTML; returns where."""
        if Path(path).suffix.lower() not in (".html", ".htm"):
            raise Unaskable("the report of a server is HTML: name a file that ends in .html")
        page = self._wire.get_bytes(f"{self._base}/report.html")
        try:
            return write_output(path, page, "a report", lambda head: head.lstrip()[:9].lower() == b"<!doctype")
        except OSError as error:
            raise LedgerError(f"the report {show_line(path)[:200]} could not be written: {error.strerror}") from None

    def close(self) -> None:
        """Let go of the connection; what was asked stays asked."""
        self._wire.close()

    @property
    def _fixed(self) -> dict[str, Any]:
        """What entry 0 fixed, and needs to be fetched once only."""
        return self._details or self.details

    def _pages(self, what: str, start: int) -> Iterator[dict[str, Any]]:
        while True:
            page = self._wire.get(f"{self._base}/{what}", start=start, stop=start + _PAGE)
            if not isinstance(page, list) or len(page) > _PAGE or not all(isinstance(each, dict) for each in page):
                raise BadReply(f"{self.url} shows no {what} that can be read")
            yield from page
            if len(page) < _PAGE:
                return
            start += _PAGE

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def _repr_html_(self) -> str:
        return f"<div><b>{show_html(self.name)}</b> · {show_html(self.url)}{self.meter._repr_html_()}</div>"
