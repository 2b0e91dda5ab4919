from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unworn.errors import Tampered
from unworn.ledger import GENESIS, Entry, Key, verify

Chain = Callable[..., list[Entry]]


def reseal(entry: Entry, **changes: object) -> Entry:
    """What a forger without the key can do: change a field and recompute the hash."""
    from unworn.ledger.entry import digest

    changed = dataclasses.replace(entry, signed=entry.signature, **changes)
    return dataclasses.replace(changed, hash=digest(changed.holdout, changed.index, changed.previous, changed.text))


@pytest.mark.parametrize("signatures", [True, "last", False])
def test_a_good_chain_passes(chain: Chain, key: Key, signatures: bool) -> None:
    entries = chain(6)
    for count in range(1, 8):
        verify(entries[:count], signatures=signatures)
    verify(entries, public=key.public, head=entries[3].hash, signatures=signatures)


@pytest.mark.parametrize("at", [0, 2, 5])
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("holdout", "ef" * 16, "belongs to holdout|was changed"),
        ("index", 9, "is missing or out of order"),
        ("previous", "12" * 32, "does not follow"),
        ("body", {"symbol": 7, "public": "00" * 32}, "was changed"),
        ("hash", "12" * 32, "was changed"),
        ("signed", "12" * 64, "has a signature that key"),
    ],
)
def test_each_field_is_guarded(chain: Chain, key: Key, at: int, field: str, value: object, message: str) -> None:
    entries = chain(5)
    entries[at] = dataclasses.replace(entries[at], **{field: value})
    where = 1 if (field == "holdout" and at == 0) else at
    with pytest.raises(Tampered, match=message) as caught:
        verify(entries, public=key.public)
    assert caught.value.numbers["index"] in (where, at)
    assert f"entry {caught.value.numbers['index']} " in str(caught.value)


def test_a_body_changed_in_place_is_found(chain: Chain) -> None:
    entries = chain(3)
    entries[2].body["symbol"] = 99
    with pytest.raises(Tampered, match="entry 2 was changed"):
        verify(entries, signatures=False)


def test_recomputed_hashes_do_not_help_without_the_key(chain: Chain) -> None:
    entries = chain(4)
    entries[2] = reseal(entries[2], body={"symbol": 99})
    entries[3] = reseal(entries[3], previous=entries[2].hash)
    entries[4] = reseal(entries[4], previous=entries[3].hash)
    verify(entries, signatures=False)
    with pytest.raises(Tampered, match="entry 2 has a signature"):
        verify(entries)
    with pytest.raises(Tampered, match="entry 4 has a signature"):
        verify(entries, signatures="last")


def test_a_chain_signed_anew_by_another_key_is_found_by_the_noted_public_key(chain: Chain, key: Key) -> None:
    other = Key.new()
    forged = [Entry.seal("0123456789abcdef" * 2, 0, GENESIS, {"public": other.public}, other)]
    verify(forged)
    with pytest.raises(Tampered, match="entry 0 has a signature"):
        verify(forged, public=key.public)


@settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(6)))
def test_only_the_one_order_passes(chain: Chain, order: list[int]) -> None:
    entries = chain(5)
    if order == list(range(6)):
        verify([entries[i] for i in order])
    else:
        with pytest.raises(Tampered):
            verify([entries[i] for i in order])


def test_a_missing_and_a_doubled_entry_are_found(chain: Chain) -> None:
    entries = chain(5)
    with pytest.raises(Tampered, match="entry 2 is missing or out of order: entry 3 stands"):
        verify(entries[:2] + entries[3:])
    with pytest.raises(Tampered, match="entry 3 is missing or out of order: entry 2 stands"):
        verify([*entries[:3], entries[2], *entries[3:]])
    with pytest.raises(Tampered, match="names no public key"):
        verify(entries[1:])
    with pytest.raises(Tampered, match="entry 0 is missing"):
        verify(entries[1:], signatures=False)


def test_entries_of_two_holdouts_do_not_mix(chain: Chain) -> None:
    with pytest.raises(Tampered, match="entry 1 belongs to holdout ffff"):
        verify([chain(1)[0], chain(1, holdout="ff" * 16)[1]])


def test_truncation_is_found_against_a_noted_head(chain: Chain) -> None:
    entries = chain(5)
    verify(entries[:4])  # a prefix is a chain: only a noted head tells
    with pytest.raises(Tampered, match="ends at entry 3 and does not contain the noted head"):
        verify(entries[:4], head=entries[5].hash)
    with pytest.raises(Tampered, match="empty"):
        verify([])


def test_two_branches_from_one_head(chain: Chain) -> None:
    trunk = chain(2)
    one, two = chain(2, trunk), chain(2, trunk, other=True)
    with pytest.raises(Tampered, match="noted head"):
        verify(one, head=two[-1].hash)
    with pytest.raises(Tampered, match="entry 4 does not follow"):
        verify([*one[:4], two[4]])


def test_a_tail_is_checked_after_a_verified_entry(chain: Chain, key: Key) -> None:
    entries = chain(6)
    verify(entries[4:], after=entries[3], public=key.public, head=entries[3].hash)
    verify([], after=entries[3], signatures=False)
    with pytest.raises(Tampered, match="entry 4 is missing"):
        verify(entries[5:], after=entries[3], public=key.public)
    with pytest.raises(Tampered, match="names no public key"):
        verify(entries[4:], after=entries[3])


@pytest.mark.parametrize("body", [{}, {"public": 7}, {"public": "zz"}, {"public": "00" * 32}])
def test_hostile_terms(body: dict[str, object], key: Key) -> None:
    with pytest.raises(Tampered):
        verify([Entry.seal("ab" * 16, 0, GENESIS, body, key)])
