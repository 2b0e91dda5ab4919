"""One entry: what was recorded, chained to the entry before it and signed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from unworn.errors import LedgerError, Tampered
from unworn.json_text import canonical, read_canonical
from unworn.ledger.keys import Key

GENESIS = "0" * 64
"""What entry 0 gives as the hash before it, and so the head of a holdout that has no entries yet."""

_FIELDS = frozenset({"body", "holdout", "index", "previous", "hash", "signature"})
_HOLDOUT = re.compile(r"[0-9a-f]{32}").fullmatch
_HASH = re.compile(r"[0-9a-f]{64}").fullmatch
_SIGNATURE = re.compile(r"[0-9a-f]{128}").fullmatch
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One link of the chain. ``body`` is plain JSON and is never changed after sealing.

    The hash covers body, holdout, index and previous hash, so an entry cannot be moved, and the
    signature covers the hash. It is made when it is first read, by whatever stores or shows the entry:
    it takes longer than all the rest, and a ledger in memory is read by nobody else. What the body means
    is not known here.

    >>> entry = Entry.seal("ab" * 16, 0, GENESIS, {"rows": 100}, Key(bytes(32)))
    >>> Entry.from_json(entry.to_json()) == entry
    True
    >>> entry.text
    '{"rows":100}'
    """

    holdout: str
    index: int
    previous: str
    body: dict[str, Any]
    hash: str
    signed: str | Key = field(repr=False)
    """The signature, or the key that will make it."""
    _text: str | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def seal(cls, holdout: str, index: int, previous: str, body: dict[str, Any], key: Key) -> Entry:
        """Make the entry that follows ``previous``, hashed and signed."""
        if not is_holdout(holdout):
            raise LedgerError(f"a holdout's id is 32 lower-case hex digits, not {holdout!r:.80}")
        if not _HASH(previous):
            raise LedgerError(f"the previous hash is 64 lower-case hex digits, not {previous!r:.80}")
        if not _is_index(index) or (index == 0) != (previous == GENESIS):
            raise LedgerError(f"entry {index!r:.40} cannot follow {previous[:12]}…: only entry 0 follows zeros")
        text = body_text(body)
        hashed = digest(holdout, index, previous, text)
        entry = cls(holdout, index, previous, body, hashed, key)
        # Kept so that a store writes the very text that was hashed, and does not encode it twice.
        object.__setattr__(entry, "_text", text)
        return entry

    @property
    def text(self) -> str:
        """The body as canonical JSON: what is hashed and what a store keeps."""
        return body_text(self.body) if self._text is None else self._text

    @property
    def signature(self) -> str:
        """The Ed25519 signature over the hash, as hex."""
        if isinstance(self.signed, str):
            return self.signed
        signature = self.signed.sign(self.hash)
        object.__setattr__(self, "signed", signature)
        return signature

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Entry) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.holdout, self.index, self.previous, self.body, self.hash, self.signature)
        return Entry, fields  # with the signature, because keys do not travel

    def to_json(self) -> dict[str, Any]:
        return {
            "holdout": self.holdout,
            "index": self.index,
            "previous": self.previous,
            "body": self.body,
            "hash": self.hash,
            "signature": self.signature,
        }

    @classmethod
    def from_json(cls, data: Any) -> Entry:
        """Read an entry somebody else wrote: anything but the six well-formed fields is ``Tampered``.

        The form is checked here, the truth of hash and signature by :func:`unworn.ledger.verify`.
        """
        if not isinstance(data, dict) or data.keys() != _FIELDS:
            raise Tampered(f"an entry has exactly the fields {', '.join(sorted(_FIELDS))}")
        index, body = data["index"], data["body"]
        if not _is_index(index):
            raise Tampered("an entry's index is a whole number from 0")
        if not isinstance(body, dict):
            raise Tampered(f"the body of entry {index} is not a JSON object", index=index)
        for name, matches in (
            ("holdout", _HOLDOUT),
            ("previous", _HASH),
            ("hash", _HASH),
            ("signature", _SIGNATURE),
        ):
            if not isinstance(data[name], str) or not matches(data[name]):
                raise Tampered(f"the {name} of entry {index} is not lower-case hex of its length", index=index)
        return cls(data["holdout"], index, data["previous"], body, data["hash"], data["signature"])

    @classmethod
    def from_line(cls, line: str | bytes) -> Entry:
        """Read the JSON text of one entry, however hostile; it has one text only."""
        return cls.from_json(_parse(line.rstrip(b"\n") if isinstance(line, bytes) else line, "an entry"))

    @classmethod
    def from_row(cls, holdout: Any, index: Any, previous: Any, text: Any, hashed: Any, signature: Any) -> Entry:
        """Read an entry from a store's columns, whose body is text: the very text that was hashed."""
        body = _parse(text, f"the body of entry {index!r:.40}")
        return cls.from_json(
            {
                "holdout": holdout,
                "index": index,
                "previous": previous,
                "body": body,
                "hash": hashed,
                "signature": signature,
            }
        )


def digest(holdout: str, index: int, previous: str, text: str) -> str:
    """The hash of an entry whose body has this canonical text.

    The text hashed is the canonical JSON of the four fields, joined by hand so that the body is encoded once.

    >>> body = {"b": 1, "a": "é"}
    >>> whole = canonical({"body": body, "holdout": "ab" * 16, "index": 7, "previous": GENESIS})
    >>> digest("ab" * 16, 7, GENESIS, canonical(body)) == sha256(whole.encode()).hexdigest()
    True
    """
    whole = f'{{"body":{text},"holdout":"{holdout}","index":{index},"previous":"{previous}"}}'
    return sha256(whole.encode()).hexdigest()


def body_text(body: Any) -> str:
    """The canonical text of a body, or an error that says why it has none."""
    if not isinstance(body, dict):
        raise LedgerError(f"an entry's body is a JSON object, not a {type(body).__name__}")
    try:
        text = canonical(body)
        text.encode()  # lone surrogates have no bytes, so no hash
    except (TypeError, ValueError, RecursionError) as error:
        raise LedgerError(
            f"an entry's body must be plain JSON (no NaN, no infinity, text keys, valid Unicode): {error}"
        ) from None
    return text


def is_holdout(holdout: Any) -> bool:
    """Whether this is a well-formed id; checked before an id becomes part of a file name."""
    return isinstance(holdout, str) and _HOLDOUT(holdout) is not None


def _is_index(index: Any) -> bool:
    return type(index) is int and 0 <= index <= _LARGEST


def _parse(text: Any, what: str) -> Any:
    if not isinstance(text, str | bytes):
        raise Tampered(f"{what} is not text")
    try:
        return read_canonical(text)
    except json.JSONDecodeError:
        raise Tampered(f"{what} is not JSON") from None
    except ValueError as why:
        raise Tampered(f"{what} is not JSON as it is entered: {why}") from None
