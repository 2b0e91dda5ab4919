"""What entry 0 of a holdout's ledger fixes, for good."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from unworn.basics.float_settings import with_usual_floats
from unworn.basics.typed_fields import is_text, read_fields
from unworn.errors import LedgerError, Tampered, Unaskable
from unworn.events import Event
from unworn.ledger.entry import is_holdout
from unworn.mechanisms import from_json
from unworn.mechanisms.contract.conversation import follow_event
from unworn.mechanisms.contract.declarations import mechanism_json
from unworn.mechanisms.contract.mechanism import MOST_ASKS, MOST_ROWS, Mechanism, State
from unworn.queries.schema import Schema
from unworn.record.declared_uses import Uses
from unworn.record.practice_share import checked_share, practice_units

if TYPE_CHECKING:
    from unworn.mechanisms.sealed_release import Released

_PLAIN, _WITH_USES, _WITH_PRACTICE = 3, 4, 5
"""Formats of entry 0: whoever knows no uses, or no practice rows, would take all the rows for this use's sealed ones.
Under 1 and 2 keys drew otherwise, so that digests, secret parts and thresholds would be others."""


@dataclass(frozen=True)
class Terms:
    """What entry 0 fixes, for good.

    Where several uses share the rows, ``size`` counts the units of this use's part and ``units`` those of all parts;
    ``first`` is the holdout whose key says which rows lie in which part, unless it is this one. ``practice`` is the
    share of this use's units that is set aside, and not counted in ``size``. ``rows`` and the digests are always of all
    the rows.
    """

    name: str
    size: int
    rows: int
    schema: Schema
    digest: str
    grouping: str
    order: str
    columns: dict[str, tuple[str, str]]
    sealed_for: Mechanism | Released
    confidence: float
    asks: int | None
    public: str
    kept: str
    version: str
    uses: Uses | None = None
    units: int | None = None
    first: str | None = None
    veiled: bool = False
    """Whether the columns' digests are masked by the key, so that equal columns do not show."""
    practice: float = 0.0

    @cached_property
    def mechanism(self) -> Mechanism:
        """How questions are answered; refused where the rows are sealed for a release."""
        if not isinstance(self.sealed_for, Mechanism):
            raise Unaskable(
                "these rows are sealed for a release, and answer no questions one by one: ask the release, "
                "or declare both uses with their shares when sealing (see docs/ledger.md)"
            )
        return self.sealed_for

    @property
    def is_release(self) -> bool:
        """Whether the rows are sealed for a release, and not for questions."""
        return not isinstance(self.sealed_for, Mechanism)

    def sealed_json(self) -> dict[str, Any]:
        """What the rows are sealed for, as entry 0 records it."""
        sealed = self.sealed_for
        return mechanism_json(sealed) if isinstance(sealed, Mechanism) else sealed.to_json()

    @with_usual_floats
    def begin(self) -> State:
        """The state before the first ask (a release has none); ``ValueError`` for a plan that cannot be kept."""
        if self.is_release:
            return State(self.size, math.log1p(-self.confidence), self.asks)
        return self.mechanism.begin(self.size, self.confidence, self.asks)

    def follow(self, state: State, event: Event) -> State:
        """The state once an event is in the ledger."""
        if self.is_release:
            raise TypeError("rows that are sealed for a release have no asks")
        return follow_event(self.mechanism, state, event)

    @property
    def practice_size(self) -> int:
        """How many units are for practice."""
        return practice_units(self.practice, self._given) if self.practice else 0

    @property
    def _given(self) -> int:
        """The units that this use has been given, sealed or for practice."""
        return self.whole if self.uses is None else self.uses.size(self.whole)

    @property
    def whole(self) -> int:
        """The number of sampled units in all the rows, whatever part of them is this use's."""
        return self.size if self.units is None else self.units

    def to_body(self) -> dict[str, Any]:
        shared: dict[str, Any] = {}
        if self.uses is not None:
            shared = {"uses": {**self.uses.to_json(), "units": self.units, "first": self.first}}
        if self.practice:
            shared["practice"] = {"share": self.practice, "units": self.units}
        return {
            "type": "terms",
            "format": _WITH_PRACTICE if self.practice else _WITH_USES if shared else _PLAIN,
            "version": self.version,
            "name": self.name,
            "size": self.size,
            "rows": self.rows,
            "unit": "group" if self.schema.grouped else "row",
            "schema": self.schema.to_json(),
            "digest": self.digest,
            "grouping": self.grouping,
            "order": self.order,
            "columns": {name: list(pair) for name, pair in self.columns.items()},
            **({"veiled": True} if self.veiled else {}),
            "mechanism": self.sealed_json(),
            "confidence": self.confidence,
            "asks": self.asks,
            "public": self.public,
            "kept": self.kept,
            "spoiled": not self.sealed_for.promises,
            **shared,
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Terms:
        try:
            if body["type"] != "terms":
                raise Tampered("entry 0 of the ledger does not hold terms")
            if body["format"] not in (_PLAIN, _WITH_USES, _WITH_PRACTICE):
                raise LedgerError(
                    f"terms of {body.get('name')!r:.80} are of format {body['format']!r:.20}, but this version "
                    f"reads {_PLAIN} to {_WITH_PRACTICE}\n  Use the version that wrote them, or another ledger file."
                )
            return _checked(
                name=body["name"],
                size=body["size"],
                rows=body["rows"],
                schema=Schema.from_json(body["schema"]),
                digest=body["digest"],
                grouping=body["grouping"],
                order=body["order"],
                columns={name: (values, sequence) for name, (values, sequence) in body["columns"].items()},
                sealed_for=from_json(body["mechanism"]),
                confidence=body["confidence"],
                asks=body["asks"],
                public=body["public"],
                kept=body["kept"],
                version=body["version"],
                veiled=body.get("veiled") is True,
                **_parts_of(body),
            )
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            raise Tampered("entry 0 of the ledger does not have the form of terms") from error


def _checked(**told: Any) -> Terms:
    """Terms, each field of its type and of a size that can be: a stranger's card is signed by their own key."""
    terms = read_fields(Terms, told)
    digests = [digest for pair in terms.columns.values() for digest in pair]
    if not (
        1 <= terms.size <= terms.rows <= MOST_ROWS
        and (terms.asks is None or 1 <= terms.asks <= MOST_ASKS)
        and 0 < terms.confidence < 1
        and _KEY(terms.public)
        and all(map(is_text, digests))
    ):
        raise ValueError("no rows could be sealed on these terms")
    return terms


_KEY = re.compile("[0-9a-f]{64}").fullmatch


def _parts_of(body: dict[str, Any]) -> dict[str, Any]:
    """What entry 0 says of parts of the rows: this use's, and within it those that are sealed."""
    told: dict[str, Any] = {}
    units = given = body["size"]
    if body["format"] == _WITH_USES or (body["format"] == _WITH_PRACTICE and "uses" in body):
        uses, units, first = Uses.from_json(body["uses"]), body["uses"]["units"], body["uses"]["first"]
        if type(units) is not int or not (first is None or is_holdout(first)):
            raise ValueError("no uses are declared so")
        told, given = {"uses": uses, "units": units, "first": first}, uses.size(units)
    if body["format"] == _WITH_PRACTICE:
        share, units = body["practice"]["share"], body["practice"]["units"]
        possible = type(units) is int and units <= body["rows"] and units == told.get("units", units)
        if not possible or not 0 < share == checked_share(share):
            raise ValueError("no practice rows are set aside so")
        given = given if "uses" in told else units
        told, given = told | {"units": units, "practice": share}, given - practice_units(share, given)
    if given != body["size"]:
        raise ValueError("the part is not as large as its share")
    return told
