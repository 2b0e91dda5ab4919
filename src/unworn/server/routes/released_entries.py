"""What a holdout has released, as the server shows it: a function of its ledger alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unworn.ledger import Entry
from unworn.mechanisms.contract.mechanism import has_failed
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.transcript import Transcript
from unworn.server.server_errors import NotThere

if TYPE_CHECKING:
    from unworn.holdout import Holdout

MOST_AT_ONCE = 1_000
"""Entries in one reply."""


def with_transcript(holdout: Holdout, look: Callable[[Transcript], Any]) -> Any:
    """What a look at the released part of the ledger gives, while nobody extends it."""
    desk = holdout._desk
    with desk.order():
        return look(desk.released())


def ledger_length(holdout: Holdout) -> int:
    """Entries so far, with entry 0."""
    return int(with_transcript(holdout, lambda transcript: transcript.length))


def read_entries(holdout: Holdout, start: int, stop: int | None) -> list[Entry]:
    """A run of entries, at most a thousand."""

    def look(transcript: Transcript) -> list[Entry]:
        end = min(transcript.length if stop is None else stop, transcript.length, start + MOST_AT_ONCE)
        return [transcript.entry(index) for index in range(start, end)]

    return list(with_transcript(holdout, look))


def read_certificate(holdout: Holdout, index: int) -> Certificate:
    """The certificate of one answer."""

    def look(transcript: Transcript) -> Certificate | None:
        if not 1 <= index < transcript.length:
            return None
        return Certificate.of(transcript.first, transcript.entry(index))

    found = with_transcript(holdout, look)
    if found is None:
        raise NotThere("there is no answer of that number")
    return found  # type: ignore[no-any-return]


def find_tagged(holdout: Holdout, start: int, tag: str, value: str) -> list[int]:
    """The places, from ``start`` on, of entries that carry a tag."""

    def look(transcript: Transcript) -> list[int]:
        places = range(max(start, 1), transcript.length)
        return [place for place in places if (transcript.record(place).tags or {}).get(tag) == value]

    return list(with_transcript(holdout, look))


def is_closed(holdout: Holdout) -> bool:
    """Whether nothing can be asked any more."""
    return bool(with_transcript(holdout, lambda transcript: transcript.state.closed or transcript.state.ended))


def has_no_answer(certificate: Certificate) -> bool:
    """Whether an entry says that no answer could be made."""
    return has_failed(certificate.record.symbol)


def list_answers(holdout: Holdout, start: int, stop: int | None) -> list[dict[str, Any]]:
    """Answers as plain rows, at most a thousand; the last ones where no start is named."""

    def look(transcript: Transcript) -> list[dict[str, Any]]:
        end = min(transcript.length if stop is None else stop, transcript.length)
        first = max(1, start if start > 0 else end - MOST_AT_ONCE)
        places = range(first, min(end, first + MOST_AT_ONCE))
        return [Answer.of(Certificate.of(transcript.first, transcript.entry(place))).row() for place in places]

    return list(with_transcript(holdout, look))
