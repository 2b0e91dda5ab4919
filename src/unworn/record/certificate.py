"""Certificates: which theorem makes an interval true, under which assumptions, checkable by anyone later.

A card carries entry 0 (the terms) and the answer's own entry, both signed. Alone it shows that the holder of the key
recorded this symbol at this level and that the interval follows from them; together with the ledger it also shows
that the level is the one the whole transcript before it allows.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unworn.basics.display import show_html, show_line
from unworn.basics.frozen_init import assign_fields
from unworn.basics.json_text import canonical, read_document, write_json
from unworn.basics.output_files import IsOwn, check_output, write_output
from unworn.errors import LedgerError, Mismatch, Tampered, Unaskable
from unworn.ledger import Entry, verify
from unworn.mechanisms.contract.conversation import charge_symbol, publish_symbol
from unworn.mechanisms.contract.declarations import numbers_of, theorem_of
from unworn.mechanisms.contract.mechanism import NO_ANSWER, has_failed
from unworn.mechanisms.contract.record import Record
from unworn.record.chain_views import source_of
from unworn.record.practice_estimate import PracticeEstimate
from unworn.record.question_words import full_label
from unworn.record.replay.chunk_check import check_complete, replaying
from unworn.record.transcript import Terms, Transcript

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "unworn certificate 1"
MOST_OF_A_CARD = 2**26

ASSUMPTIONS = (
    "The rows (groups, where rows are grouped) are independent draws from the population the answer speaks of.",
    "The rows are seen only through this ledger: nobody chose questions, guesses, ranges or schema by looking at them.",
    "Predictions are made row by row by a rule that was fixed without the holdout's rows.",
    "Time series and other dependent rows are outside the promise.",
)
NO_PROMISE = "Nothing is promised: this mechanism shows exact values, and its intervals fail under adaptive questions."
SECRET = "Whoever asks does not have the holdout's key: with it the noise could be taken off again."
SENSITIVE = "Replacing one row (group) changes the statistic by no more than the sensitivity declared for it."
FROM_SEED = "The key was made from a seed, for a simulation: whoever knows the seed knows every random draw."
IN_MEMORY = (
    "The ledger is kept in one program's memory, and the promise ends with it: whatever is asked of the same rows "
    "elsewhere, or after a restart, is not counted."
)
BESIDE = "The same rows have another ledger, which this one does not count: whoever asked has seen none of its answers."
BESIDE_A_LEDGER = "memory beside a ledger"
"""What entry 0 says of a ledger in memory that was spelled out for rows that have another."""
FORMER_WORDS = {
    IN_MEMORY: "The ledger is kept in one program's memory: what that program asked elsewhere is not in it."
}
"""The same, as cards of earlier versions say it."""


@assign_fields
@dataclass(frozen=True)
class Certificate:
    """The proof of one answer. ``save`` it as a card; ``unworn verify card.json`` checks the card."""

    first: Entry
    entry: Entry
    terms: Terms
    record: Record

    @classmethod
    def of(cls, first: Entry, entry: Entry) -> Certificate:
        """The certificate of one entry under the terms of entry 0."""
        return cls(first, entry, Terms.from_body(first.body), Record.from_body(entry.body))

    @property
    def theorem(self) -> str:
        return theorem_of(self.terms.mechanism, self.record.offer)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must be true of the world for the interval to hold, in words."""
        promise = ASSUMPTIONS if self.terms.mechanism.promises else (NO_PROMISE, *ASSUMPTIONS)
        special = {
            SECRET: self.terms.mechanism.reads != "values" or self.record.offer.payload.kept > 0,
            SENSITIVE: self.record.offer.payload.sensitivity is not None,
            IN_MEMORY: in_memory(self.terms),
            BESIDE: self.terms.kept == BESIDE_A_LEDGER,
            FROM_SEED: self.terms.kept == "seed",
        }
        return (*promise, *(words for words, holds in special.items() if holds))

    @property
    def source(self) -> str:
        """Where the value comes from, by name: a guess may be the last answer again, and some asks have no value."""
        published, guess = self.record.published, self.record.guess
        if has_failed(self.record.symbol):
            return NO_ANSWER[str(self.record.symbol)]
        echoed = published.source == "guess" and guess is not None and guess.origin == "ledger"
        return "last answer" if echoed else published.source

    @property
    def practice(self) -> PracticeEstimate | None:
        """What the practice rows said, where that was the guess."""
        guess = self.record.guess
        if guess is None or guess.origin != "practice" or guess.error is None:
            return None
        unit = "groups" if self.terms.schema.grouped else "rows"
        return PracticeEstimate(guess.value, guess.error, self.terms.practice_size, self.record.label, unit)

    @property
    def numbers(self) -> dict[str, Any]:
        """The public numbers that fix the interval."""
        offer = self.record.offer
        return {
            "rows": self.terms.size,
            **({} if self.terms.uses is None else {"use": self.terms.uses.use, "share": self.terms.uses.share}),
            **self._practice_numbers,
            "confidence": self.terms.confidence,
            "planned": self.terms.asks,
            "index": offer.index,
            "log_level": offer.log_level,
            "symbol": self.record.symbol,
            **({} if self.record.draw is None else {"drawn_ahead": list(self.record.draw)}),
            **numbers_of(self.terms.mechanism, offer),
        }

    @property
    def _practice_numbers(self) -> dict[str, Any]:
        """``rows`` counts the sealed ones only, and so does every bound: beside it, what was set aside."""
        share = self.terms.practice
        return {"practice_share": share, "practice_rows": self.terms.practice_size} if share else {}

    @property
    def head(self) -> str:
        """The ledger's head right after this answer: noting it makes a later cut visible."""
        return self.entry.hash

    def to_json(self) -> dict[str, Any]:
        published = self.record.published
        return {
            "format": FORMAT,
            "holdout": self.terms.name,
            "question": self.record.label,
            **({} if self.record.name is None else {"name": self.record.name}),
            **({} if self.record.tags is None else {"tags": self.record.tags}),
            "answer": {
                "value": published.value,
                "low": published.low,
                "high": published.high,
                "confidence": self.terms.confidence,
                "source": self.source,
            },
            "theorem": self.theorem,
            "assumptions": list(self.assumptions),
            "numbers": self.numbers,
            "head": self.head,
            "public_key": self.terms.public,
            "terms": self.first.to_json(),
            "entry": self.entry.to_json(),
        }

    @classmethod
    def from_json(cls, data: Any) -> Certificate:
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise Tampered(f"this is not a card: its 'format' should be {FORMAT!r}")
        certificate = cls.of(Entry.from_json(data.get("terms")), Entry.from_json(data.get("entry")))
        try:
            told = certificate.to_json()
            same = canonical(data) in map(canonical, (told, *certificate._former(told)))
        except (TypeError, ValueError, RecursionError):
            same = False
        if not same:
            raise Tampered("the card's readable part does not say what its signed entries say")
        return certificate

    def _former(self, told: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What a card says, in the words of earlier versions. They named the theorem of the plan, also after noise."""
        words = [FORMER_WORDS.get(sentence, sentence) for sentence in told["assumptions"]]
        answer = {**told["answer"], "source": self.record.published.source}
        planned = {**told, "theorem": theorem_of(self.terms.mechanism)}
        yield planned
        yield {**planned, "assumptions": words, "answer": answer}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the card; returns where."""
        return write_card(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a card back, however it came here."""
        return cls.from_json(read_card(path))

    def verify(self, entries: Sequence[Entry] | None = None) -> None:
        """Check the card alone or, given the ledger's entries, the whole transcript up to it.

        Raises :class:`~unworn.errors.Tampered`, or :class:`~unworn.errors.Mismatch` for another holdout's ledger.
        """
        verify([self.first])
        verify([self.entry], public=self.terms.public, after=_before(self.first, self.entry))
        offer, symbol, mechanism = self.record.offer, self.record.symbol, self.terms.mechanism
        with replaying():
            check_complete(self.terms)
            self.terms.begin()  # a plan that could not be kept
            event, published = charge_symbol(mechanism, offer, symbol), publish_symbol(mechanism, offer, symbol)
            follows = self.record.matches(offer, event, published)
        if not follows or offer.rows > self.terms.size:
            raise Tampered("the interval on the card does not follow from its symbol and level")
        if entries is not None:
            self._verify_against(entries)

    def check_holdout(self, first: Entry | None) -> None:
        """Refuse the ledger of another holdout, whose entry 0 this is."""
        if first is None or first.holdout != self.first.holdout:
            known = "an empty one" if first is None else f"{first.body.get('name')!r} ({first.holdout[:12]}…)"
            raise Mismatch(
                f"this card is of holdout {self.terms.name!r} ({self.first.holdout[:12]}…), the ledger is of {known}"
            )

    def _verify_against(self, entries: Sequence[Entry]) -> None:
        self.check_holdout(entries[0] if entries else None)
        verify(entries, public=self.terms.public, head=self.head, signatures="last")
        replay(entries)

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{show_html(assumption)}</li>" for assumption in self.assumptions)
        return (
            f"<div><b>Certificate</b> · {show_html(self.terms.name)} · answer {self.entry.index}<br>"
            f"{show_html(full_label(self.record))}<br>theorem: {show_html(self.theorem)}<ul>{items}</ul>"
            f"<small>head <code>{self.head[:16]}…</code> · key <code>{self.terms.public[:16]}…</code></small></div>"
        )


def in_memory(terms: Terms) -> bool:
    """Whether a ledger is gone with the program that keeps it."""
    return terms.kept in ("memory", "seed", BESIDE_A_LEDGER)


def write_card(path: str | os.PathLike[str], data: dict[str, Any]) -> Path:
    """Write what a card says, for people too; returns where. Nothing but a card of the same sort is replaced."""
    try:
        return write_output(path, write_json(data).encode(), "a card", _is_card(data["format"]))
    except OSError as error:
        raise _unwritten(path, error) from None


def check_card_path(path: str | os.PathLike[str]) -> None:
    """Refuse a place where the card of an answer could not be written, before the answer is paid for."""
    try:
        check_output(path, "a card", _is_card(FORMAT))
    except OSError as error:
        raise _unwritten(path, error) from None


def _is_card(format: str) -> IsOwn:
    start = re.compile(rb'\s*\{\s*"format":\s*"' + re.escape(format.encode()) + b'"')
    return lambda head: start.match(head) is not None


def _unwritten(path: object, error: OSError) -> LedgerError:
    return LedgerError(f"the card {show_line(path)[:200]} could not be written: {error.strerror}")


def read_card(path: str | os.PathLike[str]) -> Any:
    """What a file says, if it can be a card: as it was saved, and in one way only."""
    if not isinstance(path, str | os.PathLike):
        raise Unaskable(f"a card is named by its path, not by a {type(path).__name__}")
    from unworn.ledger.open_ledgers import check_not_live

    check_not_live(path)
    try:
        with open(path, "rb") as card:
            return read_document(card.read(MOST_OF_A_CARD + 1), MOST_OF_A_CARD)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise Tampered(f"{show_line(path)} is not JSON, so it is not a card") from None
    except OSError as error:
        raise LedgerError(f"the card {show_line(path)[:200]} cannot be read: {error.strerror}") from None
    except ValueError as why:
        raise Tampered(f"{show_line(path)[:200]} is not a card, or was changed after it was saved: {why}") from None


def replay(entries: Sequence[Entry]) -> Transcript:
    """Fold a chain and check that every answer was priced by what came before it."""
    from unworn.record.replay.chain_check import check_chain  # loaded by those who check

    with replaying():
        transcript = Transcript.of(entries)
        check_chain(entries[0], source_of(entries), signatures=False)
    return transcript


def _before(first: Entry, entry: Entry) -> Entry:
    """The entry before; a stand-in where a card alone knows only its hash."""
    return first if entry.index <= 1 else Entry(first.holdout, entry.index - 1, "", {}, entry.previous, "")
