"""Finding the rows' own ledger, or sealing them for the first time.

Rows are recognised by keyed digests of their values, so that the same rows meet the same ledger whatever they are
called, in whatever order they come; and rows that borrow a column from a known holdout are turned away, because a
fresh ledger for old rows would be a second budget for the same sample.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

from unworn.errors import Conflict, LedgerError, Mismatch
from unworn.holdout.uses import Family, check_uses, families
from unworn.ledger import GENESIS, Entry, Key, Store, verify
from unworn.ledger.store import KeyFinder, RepeatableStore
from unworn.mechanisms import Mechanism
from unworn.mechanisms.contract.declarations import accepts_sealed, settle_parameters
from unworn.noise import Stream
from unworn.queries.schema import Schema
from unworn.record.certificate import BESIDE_A_LEDGER
from unworn.record.chain_views import source_in
from unworn.record.declared_uses import Uses
from unworn.record.practice_share import practice_units
from unworn.record.replay.chunk_check import replaying
from unworn.record.transcript import Terms, Transcript
from unworn.rows import Sample
from unworn.rows.fingerprints.stored_digests import digests, known_as

if TYPE_CHECKING:
    from unworn.mechanisms.sealed_release import Released

_TRIES = 100
"""How often others may seal rows of theirs at the very moment when we seal ours."""


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


class OpenedHoldout(NamedTuple):
    """What opening rows gives.

    ``key`` is None where the holdout can only be read, and ``reordered`` says whether the rows come in another order
    than they were sealed in, as far as that can be known. ``rows`` are those that may be read on these terms: all of
    them, or the part that is this use's. ``anew`` says whether these terms were entered just now. ``practice`` are the
    rows that were set aside and may be looked at.
    """

    transcript: Transcript
    key: Key | None
    reordered: bool
    rows: Sample
    anew: bool = False
    practice: Sample | None = None


def open_rows(sample: Sample, store: Store, wanted: WantedTerms) -> OpenedHoldout:
    """The transcript of these rows, sealed now if they are unknown, and what of the rows belongs to it."""
    anew = False
    for _ in range(_TRIES):
        holdouts = store.holdouts()
        family = _find(sample, holdouts, store, wanted)
        chain = None if family is None else family.chain(wanted.use)
        if family is not None and chain is not None:
            break
        # Another process may have sealed the same rows meanwhile: then this is refused, and they are found.
        with suppress(Conflict):
            _seal(sample, holdouts, store, wanted, family)
            anew = True
    else:
        raise LedgerError(
            f"these rows could not be sealed: {_TRIES} times another holdout was there first, and is not found now.\n"
            "  Check the ledger: unworn verify --ledger FILE."
        )
    holdout, key = chain.entry.holdout, None if family.key is None else chain.key
    if chain.key is not None:
        verify([chain.entry], public=chain.key.public)
    with replaying():
        source, kept, length = source_in(store, holdout), store.checkpoints(holdout), store.length(holdout)
        transcript = Transcript.load(chain.entry, source, kept, key, length)
    reordered = key is None or digests(sample, rows_secret(key)).order != transcript.terms.order
    sealed, practice = family.parts(sample, transcript.terms)
    return OpenedHoldout(transcript, key, reordered, sealed, anew, practice)


def _find(sample: Sample, holdouts: Mapping[str, Entry], store: Store, wanted: WantedTerms) -> Family | None:
    """The holdouts that have these rows, if any; a refusal where the wanted one can neither be found nor sealed."""
    found: Family | None = None
    keyless: list[tuple[Terms, str]] = []
    known = families(holdouts, store)
    shared = any(family.chains[0].terms.uses is not None for family in known)
    for family in known:
        if family.keyed is not None:
            if not _same_rows(sample, *family.keyed):
                continue
            if found is not None:
                raise _twice(found, family)
            found = family
            if not shared:
                break
        elif found is None:  # without a key no rows are recognised, and they must not be sealed again
            for terms, holdout in ((sealed.terms, sealed.entry.holdout) for sealed in family.chains):
                if wanted.name == terms.name and sample.size == terms.whole:
                    _check_terms(terms, sample, wanted)
                    return family
                keyless.append((terms, holdout))
    if found is not None:
        _check_family(found, sample, wanted)
        keyless = []
    if (found is None or found.chain(wanted.use) is None) and wanted.name in _names(holdouts):
        raise Mismatch(
            f"the name {wanted.name!r} belongs to other rows in this ledger, or to another use of these.\n"
            "  Choose another name=, or open the rows it was sealed with."
        )
    for terms, holdout in keyless:
        if terms.whole == sample.size:
            hint = store.explain_missing_key(holdout) if isinstance(store, KeyFinder) else ""
            raise Mismatch(
                f"the key of holdout {terms.name!r} is missing, and these {terms.whole} rows may be its rows.\n"
                f"{hint}  Bring the key back (see docs/ledger.md), read it with name={terms.name!r}, "
                "or use another ledger if these are other rows.",
                holdout=terms.name,
            )
    return found


def _check_family(family: Family, sample: Sample, wanted: WantedTerms) -> None:
    """These are the family's rows: are they opened as they were sealed?"""
    for known in family.chains:
        if _shares(known.terms.uses) != _shares(wanted.uses):
            _check_terms(known.terms, sample, wanted)
    if family.key is not None:
        check_uses({known.entry.holdout: known.terms for known in family.chains})
    sealed = family.chain(wanted.use)
    if sealed is not None:
        _check_terms(sealed.terms, sample, wanted)
    if family.keyed is not None:
        terms, key = family.keyed
        here = digests(sample, rows_secret(key))
        if here.grouping != terms.grouping and (sample.groups is not None or terms.schema.grouped):
            raise Mismatch(f"these rows were sealed as {terms.name!r} in other groups: open them with those groups")


def _twice(one: Family, other: Family) -> Mismatch:
    return Mismatch(
        f"these rows were sealed twice in this ledger, as {one.name!r} and as {other.name!r}, and the parts of one "
        "overlap with the other.\n  Keep the ledger in which they were first sealed, and retire the other.",
        holdouts=[one.name, other.name],
    )


def _same_rows(sample: Sample, terms: Terms, key: Key) -> bool:
    secret = rows_secret(key)
    known, here = set(terms.columns), set(sample.columns)
    told = digests(sample, secret)
    if known <= here and terms.rows == sample.rows and known_as(sample, secret, known, terms.digest):
        if known == here:
            return True
        raise _borrowed(terms, f"they are its rows with the column(s) {_list(here - known)} added")
    kept = veiled(terms.columns, key) if terms.veiled else terms.columns
    known_digests = {digest for pair in kept.values() for digest in pair}
    shared = {name for digest, name in told.telling.items() if digest in known_digests}
    if shared:
        raise _borrowed(terms, f"they share its column(s) {_list(shared)}")
    return False


def knows(sample: Sample, store: Store) -> bool:
    """Whether a ledger has these rows already; ``Mismatch`` where it has them with other columns."""
    return bool(known_terms(sample, store))


def known_terms(sample: Sample, store: Store) -> list[Terms]:
    """The terms on which a ledger has these rows, one for each use; ``Mismatch`` where it has them otherwise."""
    found = (family for family in families(store.holdouts(), store) if family.keyed is not None)
    same = next((family for family in found if family.keyed and _same_rows(sample, *family.keyed)), None)
    return [] if same is None else [chain.terms for chain in same.chains]


def veiled(columns: Mapping[str, tuple[str, str]], key: Key) -> dict[str, tuple[str, str]]:
    """Columns' digests under a mask that only the key can make, or, veiled twice, as they are.

    Without it whoever reads entry 0, which every card and every release shows, could see that two columns are equal.
    """

    derive = key.derive_many()

    def mask(digest: str, name: str, place: int) -> str:
        size = len(digest) // 2
        veil = derive(f"unworn/veil/{place}/{name}")[:size]
        return (int(digest, 16) ^ int.from_bytes(veil)).to_bytes(size).hex()

    return {name: (mask(pair[0], name, 0), mask(pair[1], name, 1)) for name, pair in columns.items()}


def _borrowed(terms: Terms, how: str) -> Mismatch:
    return Mismatch(
        f"these rows belong to holdout {terms.name!r} of this ledger: {how}.\n"
        "  A second ledger for the same rows would be a second budget. Open the rows as they were sealed, and pass "
        "predictions to score() or ask() instead of adding columns.",
        holdout=terms.name,
    )


def _check_terms(terms: Terms, sample: Sample, wanted: WantedTerms) -> None:
    """Entry 0 has the last word; whoever opens the rows on other terms is told both."""
    if not wanted.declares_schema and terms.schema.is_but_for_missing(sample.schema):
        sample.schema = terms.schema
    pairs: list[tuple[str, Any, Any]] = [
        ("uses", _shares(terms.uses), _shares(wanted.uses)),
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


def _settled(wanted: WantedTerms, size: int) -> Mechanism | Released:
    """What rows are sealed for, with nothing left open."""
    sealed = wanted.sealed_for
    if not isinstance(sealed, Mechanism):
        return sealed
    return settle_parameters(sealed, size, wanted.confidence, wanted.asks)


def _seal(
    sample: Sample, holdouts: Mapping[str, Entry], store: Store, wanted: WantedTerms, family: Family | None = None
) -> None:
    """Enter the terms: of unknown rows or, beside the family that has them, of one more use of its rows."""
    from importlib.metadata import version

    if isinstance(store, RepeatableStore):
        key = store.new_key()
        name = Stream(key.derive("unworn/name")).words(2).tobytes().hex()
    else:
        key, name = Key.new(), secrets.token_hex(16)
    told = digests(sample, rows_secret(key))
    practice = wanted.usual_practice if wanted.practice is None else wanted.practice
    size = sample.size if wanted.uses is None else wanted.uses.size(sample.size)
    size -= practice_units(practice, size)
    terms = Terms(
        name=wanted.name or _free_name(_default_name(sample, wanted, family), _names(holdouts)),
        size=size,
        rows=sample.rows,
        schema=sample.schema,
        digest=told.rows,
        grouping=told.grouping,
        order=told.order,
        columns=veiled(told.columns, key),
        veiled=True,
        sealed_for=_settled(wanted, size),
        confidence=wanted.confidence,
        asks=wanted.asks,
        public=key.public,
        kept="seed" if isinstance(store, RepeatableStore) else _kept(store, wanted),
        version=version("unworn"),
        uses=wanted.uses,
        units=None if wanted.uses is None and not practice else sample.size,
        practice=practice,
        first=None if family is None else family.joined(),
    )
    terms.begin()  # refuses a plan that cannot be kept
    store.create(Entry.seal(name, 0, GENESIS, terms.to_body(), key), key, among=holdouts.keys())


def _kept(store: Store, wanted: WantedTerms) -> str:
    """Where the ledger is, for certificates to say."""
    if store.url is not None:
        return store.url.split(":", 1)[0]
    return BESIDE_A_LEDGER if wanted.beside else "memory"


def _default_name(sample: Sample, wanted: WantedTerms, family: Family | None) -> str:
    if family is not None:
        return f"{family.name}-{wanted.use}"
    return sample.title


def _names(holdouts: Mapping[str, Entry]) -> set[str]:
    return {first.body["name"] for first in holdouts.values()}


def _free_name(name: str, taken: set[str]) -> str:
    """A name nobody in this store has: people, people-2, people-3, …"""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def _shares(uses: Uses | None) -> dict[str, float] | None:
    return None if uses is None else dict(uses.shares)


def rows_secret(key: Key) -> bytes:
    """The key under which rows are fingerprinted."""
    return key.derive("unworn/rows")


def _list(names: Sequence[str] | set[str]) -> str:
    shown = sorted(names)[:5]
    return ", ".join(map(repr, shown)) + (", …" if len(names) > len(shown) else "")


def _short(value: object, other: object) -> str:
    text = value.words(unlike=other) if isinstance(value, Schema) and isinstance(other, Schema) else repr(value)
    return text if len(text) <= 160 else text[:157] + "…"
