"""The terms that a caller asks for, and whether they are those of entry 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unworn.errors import Mismatch
from unworn.mechanisms import Mechanism
from unworn.mechanisms.contract.declarations import accepts_sealed, settle_parameters
from unworn.queries.schema import Schema
from unworn.record.declared_uses import Uses
from unworn.record.terms import Terms
from unworn.rows.held_rows import HeldRows

if TYPE_CHECKING:
    from unworn.mechanisms.sealed_release import Released


@dataclass(frozen=True)
class WantedTerms:
    """The terms a caller asks for; with ``uses``, those of one of several uses of the same rows."""

    name: str | None
    sealed_for: Mechanism | Released
    confidence: float
    asks: int | None
    uses: Uses | None = None
    beside: bool = False
    """Whether this is memory, spelled out for rows that have a ledger."""
    declares_schema: bool = True
    """Whether the schema is the caller's word: one that follows from dtypes and ``train`` yields to a sealed one."""
    practice: float | None = 0.0
    """The share of practice rows; None for what known rows were sealed with, and for others ``usual_practice``."""
    usual_practice: float = 0.0

    @property
    def use(self) -> str | None:
        return None if self.uses is None else self.uses.use

    def settle(self, size: int) -> Mechanism | Released:
        """What rows are sealed for, with nothing left open."""
        sealed = self.sealed_for
        if not isinstance(sealed, Mechanism):
            return sealed
        return settle_parameters(sealed, size, self.confidence, self.asks)


def check_terms(terms: Terms, sample: HeldRows, wanted: WantedTerms) -> None:
    """Entry 0 has the last word; whoever opens the rows on other terms is told both."""
    if not wanted.declares_schema and terms.schema.is_but_for_missing(sample.schema):
        sample.schema = terms.schema
    pairs: list[tuple[str, Any, Any]] = [
        ("uses", shares_of(terms.uses), shares_of(wanted.uses)),
        ("use", None if terms.uses is None else terms.uses.use, wanted.use),
        ("mechanism", *_unlike(terms.sealed_for, wanted.sealed_for)),
        ("confidence", terms.confidence, wanted.confidence),
        ("asks", terms.asks, wanted.asks),
        ("practice", terms.practice, terms.practice if wanted.practice is None else wanted.practice),
        ("schema", terms.schema, sample.schema),
        ("name", terms.name, wanted.name if wanted.name is not None else terms.name),
    ]
    if pairs[0][1] != pairs[0][2]:
        del pairs[1:]  # of other uses the rest means nothing
    elif _accepts(wanted.sealed_for, terms.sealed_for):
        del pairs[2]
    differing = [(what, sealed, now) for what, sealed, now in pairs if sealed != now]
    if differing:
        lines = "\n".join(
            f"  {what}: sealed with {_short(sealed, now)}, opened with {_short(now, sealed)}"
            for what, sealed, now in differing
        )
        if terms.schema != sample.schema:
            lines += (
                "\n  The schema follows from dtypes, train= and schema=: give those that the rows were sealed with."
            )
        raise Mismatch(
            f"these rows were sealed as {terms.name!r} on other terms:\n{lines}\n"
            "  Terms are fixed for good, or the promise would not hold. Open the rows on the sealed terms.",
            holdout=terms.name,
            differing=[what for what, _, _ in differing],
        )


def _accepts(wanted: Mechanism | Released, sealed: Mechanism | Released) -> bool:
    """Whether rows that were sealed for one thing may be opened for another: the same, as far as it says."""
    return accepts_sealed(wanted, sealed) if isinstance(wanted, Mechanism) else wanted.accepts(sealed)


def _unlike(sealed: Mechanism | Released, wanted: Mechanism | Released) -> tuple[object, object]:
    """Both, as far as they differ."""
    return (sealed, wanted) if isinstance(wanted, Mechanism) else wanted.unlike(sealed)


def shares_of(uses: Uses | None) -> dict[str, float] | None:
    """Each use's share of the rows, as it is compared."""
    return None if uses is None else dict(uses.shares)


def _short(value: object, other: object) -> str:
    text = value.words(unlike=other) if isinstance(value, Schema) and isinstance(other, Schema) else repr(value)
    return text if len(text) <= 160 else text[:157] + "…"
