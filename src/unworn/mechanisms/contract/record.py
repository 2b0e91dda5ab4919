"""What one ledger entry says: the question, the offer, the symbol, and what was published from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

from unworn import events
from unworn.basics.frozen_init import assign_fields
from unworn.basics.json_text import canonical, canonical_number, canonical_string
from unworn.basics.tags import read_tags
from unworn.basics.typed_fields import read_listed
from unworn.errors import Tampered
from unworn.events import Event
from unworn.mechanisms.contract.mechanism import Guess, Offer, Published, Symbol
from unworn.mechanisms.contract.offer_codec import IN_UNITS, offer_list
from unworn.queries.hypothesis import null_of
from unworn.queries.query import Facts

FINAL, OPEN_FINAL = -1, -2
"""Stand for the answer that a final value sharpens: of a question there is one that closes, and one that does not."""


def final_name(final: tuple[int, int, bool]) -> int:
    """Which of the two."""
    return FINAL if final[2] else OPEN_FINAL


@assign_fields
@dataclass(frozen=True, slots=True)
class Record:
    """One ask, as it is entered. ``batch`` is (position, size); ``parent`` the index of a sharpened answer; ``draw``
    says which rows drawn ahead it was made from, by the name of their pool and a number: no two asks share them.
    ``name`` and ``tags`` are the asker's notes; ``code`` the digests of what the question knows by a name only. These
    three are not written where they are not given.

    Everything here was supplied by the asker, follows from public numbers, or is the released symbol: the value on
    the rows is not among it.
    """

    question: dict[str, Any]
    label: str
    fingerprint: str
    family: str | None
    guess: Guess | None
    offer: Offer
    symbol: Symbol
    event: Event
    published: Published
    at: float
    by: str | None = None
    parent: int | None = None
    batch: tuple[int, int] = (0, 1)
    draw: tuple[str, int] | None = None
    name: str | None = None
    tags: dict[str, Any] | None = None
    code: str | None = None

    @property
    def asked_of(self) -> int | None:
        """What a repeat of the question has in common with it: nothing, the answer it sharpens, or that it is final."""
        final = self.offer.payload.final
        return self.parent if final is None else final_name(final)

    @property
    def facts(self) -> Facts:
        """What was public about the question."""
        return self.offer.facts

    def to_text(self, question: str) -> str:
        """The canonical text of the body that :meth:`from_body` reads; ``question`` is the question's own.

        Put together here, names in their order, because it is done at every ask: a dictionary of the same, which only
        the encoder would see, takes as long to make as its text.
        """
        published, symbol = self.published, self.symbol
        return (
            f'{{"at":{canonical_number(self.at)},"batch":[{self.batch[0]},{self.batch[1]}],'
            f'"by":{"null" if self.by is None else canonical_string(self.by)},'
            f'{"" if self.code is None else f""""code":{canonical_string(self.code)},"""}'
            f'{"" if self.draw is None else f""""draw":{canonical(self.draw)},"""}'
            f'"event":{events.to_text(self.event)},'
            f'"family":{"null" if self.family is None else canonical_string(self.family)},'
            f'"fingerprint":{canonical_string(self.fingerprint)},'
            f'"guess":{"null" if self.guess is None else canonical(self.guess.to_json())},'
            f'"label":{canonical_string(self.label)},'
            f'{"" if self.name is None else f""""name":{canonical_string(self.name)},"""}'
            f'"offer":{canonical(offer_list(self.offer))},'
            f'"parent":{"null" if self.parent is None else self.parent},'
            f'"published":[{canonical_number(published.value)},{canonical_number(published.low)},'
            f"{canonical_number(published.high)},{canonical_string(published.source)}],"
            f'"question":{question},"symbol":{symbol if type(symbol) is int else canonical(symbol)},'
            f'{"" if self.tags is None else f""""tags":{canonical(self.tags)},"""}"type":"ask"}}'
        )

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Record:
        try:
            return _typed(
                body["question"],
                body["label"],
                body["fingerprint"],
                body["family"],
                None if body["guess"] is None else read_listed(Guess, body["guess"]),
                Offer.from_json(body["offer"]),
                body["symbol"],
                events.from_json(body["event"]),
                read_listed(Published, body["published"]),
                body["at"],
                body["by"],
                body["parent"],
                body["batch"],
                body.get("draw"),
                body.get("name"),
                body.get("tags"),
                body.get("code"),
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
            raise Tampered("an entry of the ledger does not have the form of an ask") from error

    def matches(self, offer: Offer, event: Event, published: Published) -> bool:
        """Whether replaying gives these numbers (up to the last bits of a float, which machines may differ in)."""
        if self.offer.payload.null != null_of(self.question):
            return False
        if self.offer == offer and self.event == event and self.published == published:
            return True  # nearly always, and found out in a tenth of the time
        told, replayed = offer_list(self.offer), offer_list(offer)
        return (
            len(told) == len(replayed)
            and all(
                _close(a, b, offer.span if in_units else 1.0)
                for a, b, in_units in zip(told, replayed, IN_UNITS, strict=False)
            )
            and type(self.event) is type(event)
            and _close(astuple(self.event), astuple(event), 1.0)
            and _close(astuple(self.published), astuple(published), offer.span)
        )


def _typed(*told: Any) -> Record:
    """An ask, its fields of their types; and no time at which no calendar has a day."""
    record = read_listed(Record, told)
    if not 0 <= record.at < LAST_DAY or not 0 <= record.batch[0] < record.batch[1]:
        raise ValueError("no ask is entered at such a time or place")
    if record.tags is not None and list(read_tags(record.tags).items()) != list(record.tags.items()):
        raise ValueError("no ask is entered with such tags")
    return record


LAST_DAY = 253_370_764_800.0
"""The first second of the year 9999: no clock has shown it."""


def _close(told: Any, replayed: Any, span: float) -> bool:
    """Equal up to rounding, on the scale of the question's own units."""
    if isinstance(told, int | float) and isinstance(replayed, int | float):
        return abs(told - replayed) <= 1e-9 * span + 1e-12 * abs(told)
    if isinstance(told, list | tuple) and isinstance(replayed, list | tuple):
        return len(told) == len(replayed) and all(_close(a, b, span) for a, b in zip(told, replayed, strict=True))
    if isinstance(told, Mapping) and isinstance(replayed, Mapping):
        return told.keys() == replayed.keys() and all(_close(told[name], replayed[name], span) for name in told)
    return bool(told == replayed)
