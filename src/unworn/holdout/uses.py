"""The holdouts that share the same rows: one for each use that has been sealed so far.

The first of them made the key that says which rows each use gets, and the others name it. So all agree on the parts, a
restart repeats them, and whoever lacks that key can read what was told and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unworn.errors import ReadOnly, Tampered
from unworn.ledger import Entry, Key, Store, verify
from unworn.record.transcript import Terms
from unworn.rows import Sample
from unworn.rows.held_rows import HeldRows


@dataclass(frozen=True)
class Chain:
    """One holdout of a store: entry 0, what it fixes, and its key, if the right one is kept."""

    entry: Entry
    terms: Terms
    key: Key | None

    @property
    def use(self) -> str | None:
        return None if self.terms.uses is None else self.terms.uses.use


@dataclass(frozen=True)
class Family:
    """All holdouts of the same rows: one alone, or one for each use that was sealed."""

    id: str
    chains: tuple[Chain, ...]

    @property
    def name(self) -> str:
        """What the first of them is called."""
        return next((chain for chain in self.chains if chain.entry.holdout == self.id), self.chains[0]).terms.name

    @property
    def keyed(self) -> tuple[Terms, Key] | None:
        """The terms and the key of one of them that can recognise the rows."""
        return next(((chain.terms, chain.key) for chain in self.chains if chain.key is not None), None)

    @property
    def key(self) -> Key | None:
        """The first one's key, which says who gets which rows."""
        return next((chain.key for chain in self.chains if chain.entry.holdout == self.id), None)

    def chain(self, use: str | None) -> Chain | None:
        """The holdout of this use, if it has been sealed."""
        return next((chain for chain in self.chains if chain.use == use), None)

    def parts(self, sample: HeldRows, terms: Terms) -> tuple[HeldRows, Sample | None]:
        """The sealed rows of one use, and its practice rows, if it has any.

        None of the rows, and no practice, where the key that parts them is missing.
        """
        if terms.uses is None and not terms.practice:
            return sample, None
        if self.key is None:
            return sample.emptied(), None
        span = slice(0, sample.size) if terms.uses is None else terms.uses.span(sample.size)
        middle = span.start + terms.practice_size
        secret = self.key.derive("unworn/uses")
        practice = sample.restricted(secret, slice(span.start, middle), shown=True) if terms.practice else None
        return sample.restricted(secret, slice(middle, span.stop)), practice

    def joined(self) -> str:
        """The first one's id, for one more use; refused where it could not know its rows, or terms were changed."""
        if self.key is None:
            raise ReadOnly(
                f"the first use of these rows was sealed as holdout {self.id[:8]}…, and its key, which says which rows "
                "each use gets, is not beside the ledger.\n  Bring the key back (see docs/ledger.md).",
                holdout=self.id,
            )
        for chain in self.chains:
            verify([chain.entry], public=chain.terms.public)
        return self.id


def families(holdouts: Mapping[str, Entry], store: Store) -> list[Family]:
    """The holdouts of a store, those of the same rows together."""
    together: dict[str, list[Chain]] = {}
    for first in holdouts.values():
        terms, key = Terms.from_body(first.body), store.key(first.holdout)
        right = None if key is None or key.public != terms.public else key  # another key recognises no rows
        together.setdefault(terms.first or first.holdout, []).append(Chain(first, terms, right))
    return [Family(first, tuple(chains)) for first, chains in together.items()]


def check_uses(known: Mapping[str, Terms]) -> None:
    """That the holdouts of a ledger, by id, share rows as they were declared to, and no use was sealed twice."""
    sealed: dict[tuple[str, str], str] = {}
    for holdout, terms in known.items():
        if terms.uses is None:
            continue
        first = known.get(terms.first or holdout)
        if first is None or first.first is not None or _declared(first) != _declared(terms):
            raise Tampered(
                f"holdout {terms.name!r} is one of several uses of the same rows, and the first of them, "
                f"{str(terms.first)[:8]}…, is not in this ledger or declares others.\n"
                "  Bring the whole ledger back: without it nobody can tell that the uses share no rows.",
                holdout=holdout,
            )
        twin = sealed.setdefault((terms.first or holdout, terms.uses.use), holdout)
        if twin != holdout:
            raise Tampered(
                f"holdouts {twin[:8]}… and {holdout[:8]}… are both use {terms.uses.use!r} of the same rows: a second "
                "budget.\n  Keep the one that was sealed first, and retire the other.",
                holdout=holdout,
            )


def _declared(terms: Terms) -> tuple[object, ...]:
    return terms.units, terms.uses and terms.uses.shares
