"""One entry: what was recorded, chained to the entry before it and signed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

from unworn.basics.json_text import canonical, read_canonical
from unworn.errors import LedgerError, Tampered
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
    _unseen: bool = field(default=False, init=False, repr=False, compare=False)
    """Whether nobody has looked at the body yet, so that it says what the text says; it may not even be read yet."""

    @classmethod
    def seal(cls, holdout: str, index: int, previous: str, body: dict[str, Any], key: Key) -> Entry:
        """Make the entry that follows ``previous``, hashed and signed."""
        entry = cls.seal_text(holdout, index, previous, body_text(body), key)
        _BODY.__set__(entry, body)
        object.__setattr__(entry, "_unseen", False)
        return entry

    @classmethod
    def seal_text(cls, holdout: str, index: int, previous: str, text: str, key: Key) -> Entry:
        """The same, of a body's canonical text: it is read back when somebody wants to see it."""
        if not is_holdout(holdout):
            raise LedgerError(f"a holdout's id is 32 lower-case hex digits, not {holdout!r:.80}")
        if not _HASH(previous):
            raise LedgerError(f"the previous hash is 64 lower-case hex digits, not {previous!r:.80}")
        if not _is_index(index) or (index == 0) != (previous == GENESIS):
            raise LedgerError(f"entry {index!r:.40} cannot follow {previous[:12]}…: only entry 0 follows zeros")
        try:
            hashed = digest(holdout, index, previous, text)
        except UnicodeEncodeError as error:  # lone surrogates have no bytes, so no hash
            raise LedgerError(f"an entry's body must be valid Unicode: {error}") from None
        return cls._of_text(holdout, index, previous, None, hashed, key, text)

    @classmethod
    def from_text(cls, holdout: str, index: int, previous: str, text: str, hashed: str, signed: str | Key) -> Entry:
        """An entry that was sealed here, from its parts: they are taken at their word."""
        return cls._of_text(holdout, index, previous, None, hashed, signed, text)

    @classmethod
    def _of_text(
        cls,
        holdout: str,
        index: int,
        previous: str,
        body: dict[str, Any] | None,
        hashed: str,
        signed: str | Key,
        text: str,
    ) -> Entry:
        """With the very text that was hashed, so that a store writes that one, and nobody encodes it twice."""
        entry: Any = _Unfrozen()  # until all of it is there: to set a frozen entry's fields takes six times as long
        entry.holdout = holdout
        entry.index = index
        entry.previous = previous
        entry.body = body
        entry.hash = hashed
        entry.signed = signed
        entry._text = text
        entry._unseen = True
        entry.__class__ = cls
        made: Entry = entry
        return made

    @property
    def text(self) -> str:
        """The body as canonical JSON: what is hashed and what a store keeps."""
        return body_text(self.body) if self._text is None else self._text

    @property
    def text_to_verify(self) -> str:
        """The text of the body as it is now: it is what will be used, and whoever looked at it may have changed it."""
        return self._text if self._unseen and self._text is not None else body_text(self.body)

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
        """Its body in the order of its text, whether it was made just now or read."""
        return {
            "holdout": self.holdout,
            "index": self.index,
            "previous": self.previous,
            "body": json.loads(self.text_to_verify),
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
        fields = tuple(map(data.__getitem__, ("holdout", "index", "previous", "body", "hash", "signature")))
        _check_form(*fields)
        return cls(*fields)

    @classmethod
    def from_line(cls, line: str | bytes) -> Entry:
        """Read the JSON text of one entry, however hostile; it has one text only."""
        return cls.from_json(_parse(line.rstrip(b"\n") if isinstance(line, bytes) else line, "an entry"))

    @classmethod
    def from_row(cls, holdout: Any, index: Any, previous: Any, text: Any, hashed: Any, signature: Any) -> Entry:
        """Read an entry from a store's columns, whose body is text: the very text that was hashed."""
        body = _parse(text, f"the body of entry {index!r:.40}")
        _check_form(holdout, index, previous, body, hashed, signature)
        told = text.decode() if isinstance(text, bytes) else text
        return cls._of_text(holdout, index, previous, body, hashed, signature, told)


class _Unfrozen:
    """What an entry is while it is being made."""

    __slots__ = vars(Entry)["__slots__"]


class _Body:
    """How ``Entry.body`` is kept: what was sealed as text is read when somebody first looks at it."""

    def __init__(self, slot: Any) -> None:
        self._slot = slot

    def __get__(self, entry: Entry, owner: type[Entry]) -> dict[str, Any]:
        body: dict[str, Any] | None = self._slot.__get__(entry, owner)
        if body is None:
            body = json.loads(str(entry._text))
            self._slot.__set__(entry, body)
        if entry._unseen:
            object.__setattr__(entry, "_unseen", False)
        return body

    def __set__(self, entry: Entry, body: dict[str, Any] | None) -> None:
        self._slot.__set__(entry, body)


_BODY = _Body(vars(Entry)["body"])
type.__setattr__(Entry, "body", _BODY)  # in place of the slot, which it reads and sets


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


def _check_form(holdout: Any, index: Any, previous: Any, body: Any, hashed: Any, signature: Any) -> None:
    """Refuse fields that no entry has."""
    if not _is_index(index):
        raise Tampered("an entry's index is a whole number from 0")
    if not isinstance(body, dict):
        raise Tampered(f"the body of entry {index} is not a JSON object", index=index)
    for name, told, matches in (
        ("holdout", holdout, _HOLDOUT),
        ("previous", previous, _HASH),
        ("hash", hashed, _HASH),
        ("signature", signature, _SIGNATURE),
    ):
        if not isinstance(told, str) or not matches(told):
            raise Tampered(f"the {name} of entry {index} is not lower-case hex of its length", index=index)


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
    return isinstance(holdout, str) and _is_id(holdout)


@lru_cache(maxsize=256)
def _is_id(text: str) -> bool:
    """Asked of the same few names at every entry."""
    return _HOLDOUT(text) is not None


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
