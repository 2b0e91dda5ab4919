from __future__ import annotations

import dataclasses
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.errors import LedgerError, Tampered
from unworn.ledger import GENESIS, Entry, Key, verify
from unworn.queries.query import canonical

KEY = Key(bytes(32))
HOLDOUT = "ab" * 16
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('abé"\\\n'), inner, max_size=4),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.dictionaries(st.text('abé"\\\n'), JSON, max_size=4), st.integers(1, 2**63 - 1))
def test_hash_is_over_the_canonical_json_of_the_four_fields(body: dict[str, object], index: int) -> None:
    entry = Entry.seal(HOLDOUT, index, "1f" * 32, body, KEY)
    fields = {"body": body, "holdout": HOLDOUT, "index": index, "previous": "1f" * 32}
    assert entry.hash == hashlib.sha256(canonical(fields).encode()).hexdigest()
    again = Entry.from_line(canonical(entry.to_json()))
    assert again == entry
    assert again.text == entry.text == canonical(body)


def test_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry.seal(HOLDOUT, 0, GENESIS, {"a": 1}, KEY)
    monkeypatch.setattr("unworn.ledger.entry.canonical", lambda data: pytest.fail("encoded again"))
    assert entry.text == '{"a":1}'


def test_a_changed_copy_does_not_keep_the_old_text() -> None:
    entry = Entry.seal(HOLDOUT, 0, GENESIS, {"a": 1}, KEY)
    assert dataclasses.replace(entry, body={"a": 2}).text == '{"a":2}'


def test_frozen_and_hashable() -> None:
    entry = Entry.seal(HOLDOUT, 0, GENESIS, {"a": 1}, KEY)
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.index = 3  # type: ignore[misc]
    assert len({entry, Entry.from_json(entry.to_json())}) == 1


def nested(depth: int) -> dict[str, object]:
    body: dict[str, object] = {}
    for _ in range(depth):
        body = {"a": body}
    return body


@pytest.mark.parametrize(
    "body",
    [
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": "\ud800"},
        {"a": {1, 2}},
        {1: 2, "a": 3},
        [1],
        nested(100_000),
    ],
    ids=["nan", "inf", "surrogate", "set", "mixed keys", "list", "deep"],
)
def test_a_body_that_is_not_json_is_refused(body: object) -> None:
    with pytest.raises(LedgerError):
        Entry.seal(HOLDOUT, 0, GENESIS, body, KEY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("holdout", "index", "previous"),
    [
        ("AB" * 16, 0, GENESIS),
        ("ab" * 16 + "\n", 0, GENESIS),
        ("../../../../etc/passwd", 0, GENESIS),
        (HOLDOUT, 0, "12" * 32),
        (HOLDOUT, 1, GENESIS),
        (HOLDOUT, -1, "12" * 32),
        (HOLDOUT, True, "12" * 32),
        (HOLDOUT, 2**63, "12" * 32),
        (HOLDOUT, 1, "12"),
    ],
)
def test_seal_refuses_malformed_places(holdout: str, index: int, previous: str) -> None:
    with pytest.raises(LedgerError):
        Entry.seal(holdout, index, previous, {}, KEY)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(JSON)
def test_hostile_json_is_tampered_and_nothing_else(data: object) -> None:
    with pytest.raises(Tampered):
        Entry.from_json(data)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.sampled_from(["holdout", "index", "previous", "body", "hash", "signature"]), JSON)
def test_hostile_fields_are_tampered_and_nothing_else(name: str, value: object) -> None:
    good = Entry.seal(HOLDOUT, 0, GENESIS, {"a": 1}, KEY).to_json()
    try:
        entry = Entry.from_json(good | {name: value})
    except Tampered:
        return
    assert name in ("body", "index")
    assert isinstance(getattr(entry, name), dict if name == "body" else int)


@pytest.mark.parametrize(
    "line",
    ["", "{", "[" * 200_000, b"\xff\xfe", '{"a":' * 100_000, "9" * 5000, "NaN", '"\\ud800"'],
    ids=lambda x: x[:4],
)
def test_hostile_lines_are_tampered_and_nothing_else(line: str | bytes) -> None:
    with pytest.raises(Tampered):
        Entry.from_line(line)


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
def test_numbers_json_does_not_have_never_reach_a_hash(number: str) -> None:
    line = canonical(Entry.seal(HOLDOUT, 0, GENESIS, {"a": 1}, KEY).to_json()).replace('{"a":1}', f'{{"a":{number}}}')
    with pytest.raises(Tampered):
        Entry.from_line(line)


def test_a_body_sealed_as_text_is_read_when_it_is_looked_at_and_then_judged_by_what_it_says() -> None:
    entry = Entry.seal_text(HOLDOUT, 1, "1f" * 32, '{"a":[1,2]}', KEY)
    assert entry == Entry.seal(HOLDOUT, 1, "1f" * 32, {"a": [1, 2]}, KEY)
    assert entry.body is entry.body
    assert entry.text_to_verify == '{"a":[1,2]}'
    entry.body["a"].append(3)
    assert entry.text_to_verify == '{"a":[1,2,3]}'
    assert entry.text == '{"a":[1,2]}'


def test_a_row_that_was_read_and_changed_is_found() -> None:
    sealed = Entry.seal(HOLDOUT, 0, GENESIS, {"a": 1, "public": KEY.public}, KEY)
    row = (sealed.holdout, sealed.index, sealed.previous, sealed.text, sealed.hash, sealed.signature)
    verify([Entry.from_row(*row)])
    read = Entry.from_row(*row)
    read.body["a"] = 2
    with pytest.raises(Tampered, match="entry 0 was changed"):
        verify([read])


def test_text_that_has_no_bytes_is_no_body() -> None:
    with pytest.raises(LedgerError, match="Unicode"):
        Entry.seal_text(HOLDOUT, 1, "1f" * 32, '{"a":"\ud800"}', KEY)
