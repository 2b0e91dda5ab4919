"""What followed from a chain up to one of its entries, signed: so that opening a long ledger need not read all of it.

A checkpoint is derived from the entries and adds nothing to them. It may be missing, and is made again. It counts only
where the holdout's key has signed it and the entry that it names stands in its place.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from unworn.basics.json_text import canonical, read_canonical
from unworn.errors import Tampered
from unworn.ledger.keys import Key, check_signature

CHECKPOINT_EVERY = 4096
"""Entries between two checkpoints: what opening a ledger reads at most, however long it is."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint as a store keeps it. ``questions`` says in which entries the questions since the last one stand.

    >>> kept = Checkpoint.seal("ab" * 16, 4096, {"head": "00" * 32}, b"", Key(bytes(32)))
    >>> kept.read(Key(bytes(32)).public)["head"] == "00" * 32
    True
    >>> kept.read(Key(bytes(31) + b"1").public)
    Traceback (most recent call last):
    unworn.errors.Tampered: checkpoint 4096 was not signed by the holdout's key
    """

    holdout: str
    index: int
    text: str
    questions: bytes
    signature: str

    @classmethod
    def seal(cls, holdout: str, index: int, told: dict[str, Any], questions: bytes, key: Key) -> Checkpoint:
        """Sign what is told of the chain up to entry ``index``."""
        text = canonical(
            {**told, "checkpoint": index, "holdout": holdout, "questions": hashlib.sha256(questions).hexdigest()}
        )
        return cls(holdout, index, text, questions, key.sign(_digest(text)))

    def read(self, public: str) -> dict[str, Any]:
        """What it tells, if this key has signed all of it; else ``Tampered``."""
        if not isinstance(self.text, str) or not check_signature(public, _digest(self.text), self.signature):
            raise Tampered(f"checkpoint {self.index} was not signed by the holdout's key", index=self.index)
        try:
            told = read_canonical(self.text)
            same = (told["checkpoint"], told["holdout"]) == (self.index, self.holdout)
            same = same and told["questions"] == hashlib.sha256(self.questions).hexdigest()
        except (KeyError, TypeError, ValueError) as error:
            raise Tampered(f"checkpoint {self.index} cannot be read", index=self.index) from error
        if not same:
            raise Tampered(f"checkpoint {self.index} was made for another place", index=self.index)
        return dict(told)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
