"""Finding the rows' own ledger, or sealing them for the first time.

Rows are recognised by keyed digests of their values, so that the same rows meet the same ledger whatever they are
called, in whatever order they come; and rows that borrow a column from a known holdout are turned away, because a
fresh ledger for old rows would be a second budget for the same sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import chain, count
from typing import NamedTuple

from unworn.basics.version import __version__
from unworn.errors import Conflict, LedgerError, Mismatch
from unworn.holdout.row_recognition import has_same_rows, rows_secret, veil_columns
from unworn.holdout.uses import Family, check_uses, families
from unworn.holdout.wanted_terms import WantedTerms, check_terms, shares_of
from unworn.ledger import GENESIS, Entry, Key, Store, verify
from unworn.ledger.store import KeyFinder, RepeatableStore
from unworn.noise import Stream
from unworn.record.certificate import BESIDE_A_LEDGER
from unworn.record.chain_views import source_in
from unworn.record.practice_share import practice_units
from unworn.record.replay.chunk_check import replaying
from unworn.record.transcript import Terms, Transcript
from unworn.rows import Sample
from unworn.rows.fingerprints.stored_digests import digests
from unworn.rows.held_rows import HeldRows

_TRIES = 100
"""How often others may seal rows of theirs at the very moment when we seal ours."""


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
    rows: HeldRows
    anew: bool = False
    practice: Sample | None = None


def open_rows(sample: HeldRows, store: Store, wanted: WantedTerms) -> OpenedHoldout:
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


def _find(sample: HeldRows, holdouts: Mapping[str, Entry], store: Store, wanted: WantedTerms) -> Family | None:
    """The holdouts that have these rows, if any; a refusal where the wanted one can neither be found nor sealed."""
    found: Family | None = None
    keyless: list[tuple[Terms, str]] = []
    known = families(holdouts, store)
    shared = any(family.chains[0].terms.uses is not None for family in known)
    for family in known:
        if family.keyed is not None:
            if not has_same_rows(sample, *family.keyed):
                continue
            if found is not None:
                raise _twice(found, family)
            found = family
            if not shared:
                break
        elif found is None:  # without a key no rows are recognised, and they must not be sealed again
            for terms, holdout in ((sealed.terms, sealed.entry.holdout) for sealed in family.chains):
                if wanted.name == terms.name and sample.size == terms.whole:
                    check_terms(terms, sample, wanted)
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


def _check_family(family: Family, sample: HeldRows, wanted: WantedTerms) -> None:
    """These are the family's rows: are they opened as they were sealed?"""
    for known in family.chains:
        if shares_of(known.terms.uses) != shares_of(wanted.uses):
            check_terms(known.terms, sample, wanted)
    if family.key is not None:
        check_uses({known.entry.holdout: known.terms for known in family.chains})
    sealed = family.chain(wanted.use)
    if sealed is not None:
        check_terms(sealed.terms, sample, wanted)
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


def _seal(
    sample: HeldRows, holdouts: Mapping[str, Entry], store: Store, wanted: WantedTerms, family: Family | None = None
) -> None:
    """Enter the terms: of unknown rows or, beside the family that has them, of one more use of its rows."""
    key = store.new_key() if isinstance(store, RepeatableStore) else Key.new()
    name = derive_id(key)
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
        columns=veil_columns(told.columns, key),
        veiled=True,
        sealed_for=wanted.settle(size),
        confidence=wanted.confidence,
        asks=wanted.asks,
        public=key.public,
        kept="seed" if isinstance(store, RepeatableStore) else _kept(store, wanted),
        version=__version__,
        uses=wanted.uses,
        units=None if wanted.uses is None and not practice else sample.size,
        practice=practice,
        first=None if family is None else family.joined(),
    )
    terms.begin()  # refuses a plan that cannot be kept
    store.create(Entry.seal(name, 0, GENESIS, terms.to_body(), key), key, among=holdouts.keys())


def derive_id(key: Key) -> str:
    """The public id of a holdout, which follows from its key and tells nothing about it."""
    return Stream(key.derive("unworn/name")).words(2).tobytes().hex()


def _kept(store: Store, wanted: WantedTerms) -> str:
    """Where the ledger is, for certificates to say."""
    if store.url is not None:
        return store.url.split(":", 1)[0]
    return BESIDE_A_LEDGER if wanted.beside else "memory"


def _default_name(sample: HeldRows, wanted: WantedTerms, family: Family | None) -> str:
    if family is not None:
        return f"{family.name}-{wanted.use}"
    return sample.title


def _names(holdouts: Mapping[str, Entry]) -> set[str]:
    return {first.body["name"] for first in holdouts.values()}


def _free_name(name: str, taken: set[str]) -> str:
    """A name nobody in this store has: people, people-2, people-3, …"""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)
