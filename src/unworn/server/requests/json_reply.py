"""Replies as JSON, encoded once: an entry leaves in the very text that was hashed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from litestar import Response

from unworn.basics.json_text import canonical
from unworn.ledger import Entry
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.derived_answer import DerivedAnswer
from unworn.record.verdict import Verdict

Answered = Answer | DerivedAnswer | Verdict


class ReplyText(NamedTuple):
    """A reply's text, and where each of its answers came from: for the counters."""

    text: str
    sources: tuple[str, ...] = ()

    @classmethod
    def one(cls, answer: Answered) -> ReplyText:
        """One answer."""
        return cls(answer_text(answer), sources_of(answer))

    @classmethod
    def several(cls, answers: Iterable[Answered]) -> ReplyText:
        """A list of answers."""
        listed = list(answers)
        text = "[" + ",".join(map(answer_text, listed)) + "]"
        return cls(text, tuple(source for answer in listed for source in sources_of(answer)))


def sources_of(answer: Answered) -> tuple[str, ...]:
    """Where the value of an answer, or of each of its parts, comes from."""
    if isinstance(answer, DerivedAnswer):
        return tuple(part.source for part in answer.parts)
    return (answer.certificate.source,)


def reply_json(data: Any, status: int = 200) -> Response[bytes]:
    """Plain values as JSON."""
    return reply_text(canonical(data), status)


def reply_text(text: str, status: int = 200) -> Response[bytes]:
    """What is JSON already."""
    return Response(text.encode(), media_type="application/json", status_code=status)


def entry_text(entry: Entry) -> str:
    """An entry as canonical JSON, without reading its body and writing it again.

    >>> from unworn.ledger.entry import GENESIS
    >>> from unworn.ledger.keys import Key
    >>> entry = Entry.seal("ab" * 16, 0, GENESIS, {"rows": 100}, Key(bytes(32)))
    >>> entry_text(entry) == canonical(entry.to_json())
    True
    """
    return (
        f'{{"body":{entry.text},"hash":"{entry.hash}","holdout":"{entry.holdout}","index":{entry.index},'
        f'"previous":"{entry.previous}","signature":"{entry.signature}"}}'
    )


def answer_text(answer: Answered) -> str:
    """What a client rebuilds an answer from: entry 0, the answer's own entries, and how they are put together."""
    if isinstance(answer, DerivedAnswer):
        proofs = [part.certificate for part in answer.parts]
        return proof_text(proofs, canonical(answer.query.to_json()))
    return proof_text([answer.certificate])


def proof_text(proofs: Iterable[Certificate], derived: str = "null") -> str:
    """The same of certificates."""
    listed = list(proofs)
    entries = ",".join(entry_text(proof.entry) for proof in listed)
    return f'{{"derived":{derived},"entries":[{entries}],"terms":{entry_text(listed[0].first)}}}'
