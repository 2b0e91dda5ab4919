"""The summary of a closed board: final numbers and standings, signed with the key that signed every answer."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unworn.basics.json_text import canonical, read_document
from unworn.boards.standings import Standings
from unworn.errors import LedgerError, Tampered
from unworn.ledger import Entry, Key, check_signature, verify
from unworn.record.terms import Terms

FORMAT = "unworn board summary 1"
_LARGEST = 2**28


@dataclass(frozen=True)
class FinalScore:
    """The last word on a team's best submission: the exact value on the check rows, and its interval.

    Where a board compared rows, it is the difference to the best (``is_difference``).
    """

    team: str
    submission: str
    value: float
    low: float
    high: float
    indexes: tuple[int, ...]
    is_difference: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "team": self.team,
            "submission": self.submission,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "indexes": list(self.indexes),
            "is_difference": self.is_difference,
        }


@dataclass(frozen=True)
class BoardSummary:
    """What remains of a board. ``document`` is the signed JSON; ``folder`` has it with the page and all cards."""

    finals: tuple[FinalScore, ...]
    standings: Standings
    document: dict[str, Any]
    folder: Path

    @property
    def page(self) -> Path:
        return self.folder / "index.html"

    @property
    def path(self) -> Path:
        return self.folder / "summary.json"

    def to_json(self) -> dict[str, Any]:
        return self.document


def sign_summary(told: dict[str, Any], first: Entry, key: Key) -> dict[str, Any]:
    """A summary with the terms of the board's rows, and the signature over all of it."""
    whole = {"format": FORMAT, **told, "terms": first.to_json(), "public_key": key.public}
    return {**whole, "signature": key.sign(_digest(whole))}


def verify_summary(data: Any) -> dict[str, Any]:
    """Check that a summary is what was signed, by the key that entry 0 of the board's ledger names; returns it."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Tampered(f"this is not the summary of a board: its 'format' should be {FORMAT!r}")
    whole = {name: value for name, value in data.items() if name != "signature"}
    first = Entry.from_json(data.get("terms"))
    verify([first])
    public = Terms.from_body(first.body).public
    try:
        sound = data.get("public_key") == public and check_signature(public, _digest(whole), str(data.get("signature")))
    except (TypeError, ValueError, RecursionError):
        sound = False
    if not sound:
        raise Tampered("the summary does not say what was signed: it was changed, or signed with another key")
    return data


def load_summary(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a summary and check it."""
    try:
        with open(path, "rb") as file:
            data = read_document(file.read(_LARGEST + 1), _LARGEST)
    except OSError as error:
        raise LedgerError(f"the summary {os.fspath(path)} cannot be read: {error.strerror}") from None
    except ValueError:
        raise Tampered(f"{os.fspath(path)} is not a summary, or was changed after it was saved") from None
    return verify_summary(data)


def _digest(whole: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(whole).encode()).hexdigest()
