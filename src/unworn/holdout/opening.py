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
from typing import Any

from unworn.certificate import replaying
from unworn.errors import Conflict, Mismatch
from unworn.ledger import GENESIS, Entry, Key, Store, verify
from unworn.mechanisms import Mechanism
from unworn.mechanisms.transcript import Terms, Transcript
from unworn.noise import Stream
from unworn.sample import Sample
from unworn.sample.fingerprint import digests, rows_digest


@dataclass(frozen=True)
class Wanted:
    """The terms a caller asks for."""

    name: str | None
    mechanism: Mechanism
    confidence: float
    asks: int | None


def open_rows(sample: Sample, store: Store, wanted: Wanted) -> tuple[Transcript, Key | None, bool]:
    """The transcript of these rows, their key (without it the holdout can only be read), and whether they come in
    another order than they were sealed in, as far as that can be known.
    """
    while True:
        holdouts = store.holdouts()
        found = _find(sample, holdouts, store, wanted)
        if found is not None:
            break
        # Another process may have sealed the same rows meanwhile: then this is refused, and they are found.
        with suppress(Conflict):
            _seal(sample, holdouts, store, wanted)
    first, key = found
    entries = store.read(first.holdout)
    verify(entries, public=None if key is None else key.public, signatures="last")
    with replaying():
        transcript = Transcript.of(entries)
    reordered = key is None or digests(sample, rows_secret(key)).order != transcript.terms.order
    return transcript, key, reordered


def _find(
    sample: Sample, holdouts: Mapping[str, Entry], store: Store, wanted: Wanted
) -> tuple[Entry, Key | None] | None:
    keyless: list[Terms] = []
    for first in holdouts.values():
        terms, key = Terms.from_body(first.body), store.key(first.holdout)
        if key is None or key.public != terms.public:  # another key recognises no rows, and must not reseal them
            if wanted.name == terms.name and sample.size == terms.size:
                _check_terms(terms, sample, wanted)
                return first, None
            keyless.append(terms)
        elif _same_rows(sample, terms, key):
            _check_terms(terms, sample, wanted)
            if digests(sample, rows_secret(key)).grouping != terms.grouping:
                raise Mismatch(f"these rows were sealed as {terms.name!r} in other groups: open them with those groups")
            return first, key
    if wanted.name in _names(holdouts):
        raise Mismatch(
            f"the name {wanted.name!r} belongs to other rows in this ledger.\n"
            "  Choose another name=, or open the rows it was sealed with."
        )
    for terms in keyless:
        if terms.size == sample.size:
            raise Mismatch(
                f"the key of holdout {terms.name!r} is missing, and these {terms.size} rows may be its rows.\n"
                f"  Bring the key back (see docs/ledger.md), read it with name={terms.name!r}, or use another ledger "
                "if these are other rows.",
                holdout=terms.name,
            )
    return None


def _same_rows(sample: Sample, terms: Terms, key: Key) -> bool:
    secret = rows_secret(key)
    known, here = set(terms.columns), set(sample.columns)
    told = digests(sample, secret)
    if known == here and told.rows == terms.digest:
        return True
    if known < here and rows_digest(sample, secret, known) == terms.digest:
        raise _borrowed(terms, f"they are its rows with the column(s) {_list(here - known)} added")
    known_digests = {digest for pair in terms.columns.values() for digest in pair}
    shared = {name for digest, name in told.telling.items() if digest in known_digests}
    if shared:
        raise _borrowed(terms, f"they share its column(s) {_list(shared)}")
    return False


def _borrowed(terms: Terms, how: str) -> Mismatch:
    return Mismatch(
        f"these rows belong to holdout {terms.name!r} of this ledger: {how}.\n"
        "  A second ledger for the same rows would be a second budget. Open the rows as they were sealed, and pass "
        "predictions to score() or ask() instead of adding columns.",
        holdout=terms.name,
    )


def _check_terms(terms: Terms, sample: Sample, wanted: Wanted) -> None:
    """Entry 0 has the last word; whoever opens the rows on other terms is told both."""
    pairs: list[tuple[str, Any, Any]] = [
        ("mechanism", terms.mechanism, wanted.mechanism),
        ("confidence", terms.confidence, wanted.confidence),
        ("asks", terms.asks, wanted.asks),
        ("schema", terms.schema, sample.schema),
        ("name", terms.name, wanted.name if wanted.name is not None else terms.name),
    ]
    if wanted.mechanism.accepts(terms.mechanism):
        del pairs[0]
    differing = [(what, sealed, now) for what, sealed, now in pairs if sealed != now]
    if differing:
        lines = "\n".join(
            f"  {what}: sealed with {_short(sealed)}, opened with {_short(now)}" for what, sealed, now in differing
        )
        raise Mismatch(
            f"these rows were sealed as {terms.name!r} on other terms:\n{lines}\n"
            "  Terms are fixed for good, or the promise would not hold. Open the rows on the sealed terms.",
            holdout=terms.name,
            differing=[what for what, _, _ in differing],
        )


def _seal(sample: Sample, holdouts: Mapping[str, Entry], store: Store, wanted: Wanted) -> None:
    from importlib.metadata import version

    seeded = getattr(store, "new_key", None)  # the lab's store makes keys and names from a seed
    key: Key = Key.new() if seeded is None else seeded()
    name = secrets.token_hex(16) if seeded is None else Stream(key.derive("unworn/name")).words(2).tobytes().hex()
    told = digests(sample, rows_secret(key))
    terms = Terms(
        name=wanted.name or _free_name("holdout" if sample.path is None else sample.path.stem, _names(holdouts)),
        size=sample.size,
        rows=sample.rows,
        schema=sample.schema,
        digest=told.rows,
        grouping=told.grouping,
        order=told.order,
        columns=told.columns,
        mechanism=wanted.mechanism.settled(sample.size, wanted.confidence, wanted.asks),
        confidence=wanted.confidence,
        asks=wanted.asks,
        public=key.public,
        kept="seed" if seeded else "memory" if store.url is None else store.url.split(":", 1)[0],
        version=version("unworn"),
    )
    terms.mechanism.begin(terms.size, terms.confidence, terms.asks)  # refuses a plan that cannot be kept
    store.create(Entry.seal(name, 0, GENESIS, terms.to_body(), key), key, among=holdouts.keys())


def _names(holdouts: Mapping[str, Entry]) -> set[str]:
    return {first.body["name"] for first in holdouts.values()}


def _free_name(name: str, taken: set[str]) -> str:
    """A name nobody in this store has: people, people-2, people-3, …"""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def rows_secret(key: Key) -> bytes:
    """The key under which rows are fingerprinted."""
    return key.derive("unworn/rows")


def _list(names: Sequence[str] | set[str]) -> str:
    shown = sorted(names)[:5]
    return ", ".join(map(repr, shown)) + (", …" if len(names) > len(shown) else "")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "…"
