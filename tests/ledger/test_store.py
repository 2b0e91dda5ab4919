"""What every store must do, tried on each."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from unworn.errors import Conflict, LedgerError, Mismatch
from unworn.ledger import GENESIS, Entry, Key, MemoryStore, Store, open_store, verify
from unworn.ledger.stores.sqlite_store import SQLiteStore

Chain = Callable[..., list[Entry]]


def test_create_then_read(store: Store, chain: Chain, key: Key, holdout: str) -> None:
    assert isinstance(store, Store)
    assert store.holdouts() == {}
    assert store.read(holdout) == []
    assert store.key(holdout) is None
    entries = chain(4)
    store.create(entries[0], key)
    assert store.key(holdout) == key
    store.append(entries[1:2], expect=entries[0].hash)
    store.append(entries[2:], expect=entries[1].hash)
    assert store.read(holdout) == entries
    assert store.read(holdout, 3) == entries[3:]
    assert store.read(holdout, 5) == []
    assert store.holdouts() == {holdout: entries[0]}
    verify(store.read(holdout), public=key.public, head=entries[-1].hash)


def test_several_holdouts_do_not_meet(store: Store, chain: Chain, key: Key) -> None:
    chains = {name: chain(3, holdout=name) for name in ("aa" * 16, "bb" * 16, "cc" * 16)}
    for entries in chains.values():
        store.create(entries[0], key)
    for entries in chains.values():
        store.append(entries[1:], expect=entries[0].hash)
    assert {name: store.read(name) for name in chains} == chains
    assert store.holdouts() == {name: entries[0] for name, entries in chains.items()}


def test_a_holdout_is_created_once(store: Store, chain: Chain, key: Key, holdout: str) -> None:
    store.create(chain(0)[0], key)
    other = Key.new()
    for terms, its in (
        (chain(0)[0], key),
        (Entry.seal(holdout, 0, GENESIS, {"public": other.public}, other), other),
    ):
        with pytest.raises(Conflict, match="exists already"):
            store.create(terms, its)
    assert store.key(holdout) == key
    assert store.read(holdout) == chain(0)


def test_the_length_of_a_chain(store: Store, chain: Chain, key: Key, holdout: str) -> None:
    assert store.length(holdout) == 0
    entries = chain(3)
    store.create(entries[0], key)
    assert store.length(holdout) == 1
    store.append(entries[1:], expect=entries[0].hash)
    assert (store.length(holdout), store.length("f" * 32)) == (4, 0)


def test_terms_made_for_want_of_a_holdout_are_refused_where_one_has_come_meanwhile(
    store: Store, chain: Chain, key: Key
) -> None:
    """Whoever looked before the other was sealed must look again: it may have the same rows."""
    first, second, third = (chain(0, holdout=name * 32)[0] for name in "abc")
    store.create(first, key, among=[])
    with pytest.raises(Conflict, match="another holdout was sealed here meanwhile"):
        store.create(second, key, among=[])
    assert list(store.holdouts()) == [first.holdout]
    store.create(second, key, among=[first.holdout, third.holdout])
    store.create(third, key)
    assert sorted(store.holdouts()) == [first.holdout, second.holdout, third.holdout]


def test_terms_must_be_entry_0_and_name_the_key(store: Store, chain: Chain, key: Key, holdout: str) -> None:
    with pytest.raises(LedgerError, match="starts with entry 0"):
        store.create(chain(1)[1], key)
    with pytest.raises(Mismatch, match="names"):
        store.create(chain(0)[0], Key.new())
    assert store.holdouts() == {}
    assert store.key(holdout) is None


def test_another_key_is_never_put_over_the_first(store: Store, key: Key, holdout: str) -> None:
    store.keep_key(holdout, key)
    store.keep_key(holdout, Key.from_hex(key.hex()))
    with pytest.raises(Conflict):
        store.keep_key(holdout, Key.new())
    assert store.key(holdout) == key


def test_one_of_two_writers_with_the_same_expect_wins(store: Store, chain: Chain, key: Key, holdout: str) -> None:
    trunk = chain(1)
    store.create(trunk[0], key)
    store.append(trunk[1:], expect=trunk[0].hash)
    one, two = chain(1, trunk, who=1), chain(1, trunk, who=2)
    store.append(one[2:], expect=trunk[1].hash)
    for late in (two, one):
        with pytest.raises(Conflict, match="moved on") as caught:
            store.append(late[2:], expect=trunk[1].hash)
    assert caught.value.numbers["head"] == one[2].hash
    assert store.read(holdout) == one


def test_all_or_none(store: Store, chain: Chain, key: Key, holdout: str) -> None:
    trunk = chain(2)
    store.create(trunk[0], key)
    store.append(trunk[1:], expect=trunk[0].hash)
    stale = chain(50, trunk[:2], late=True)
    with pytest.raises(Conflict):
        store.append(stale[2:], expect=trunk[1].hash)
    assert store.read(holdout) == trunk
    longer = chain(100, trunk)
    store.append(longer[3:], expect=trunk[2].hash)
    assert store.read(holdout) == longer


def test_entries_that_cannot_stand_together_are_refused_at_once(store: Store, chain: Chain, key: Key) -> None:
    a = chain(4)
    store.create(a[0], key)
    for entries, expect in (
        ([], a[0].hash),
        ([a[1], a[3]], a[0].hash),
        ([a[2], a[1]], a[1].hash),
        ([a[1]], a[3].hash),
        ([a[1], chain(2, holdout="cc" * 16)[2]], a[0].hash),
    ):
        with pytest.raises(LedgerError):
            store.append(entries, expect=expect)
    assert len(store.read(a[0].holdout)) == 1


def test_an_index_that_skips_is_refused(store: Store, chain: Chain, key: Key, holdout: str) -> None:
    terms = chain(0)[0]
    store.create(terms, key)
    with pytest.raises(LedgerError, match="the next entry is 1, not 2"):
        store.append([Entry.seal(holdout, 2, terms.hash, {}, key)], expect=terms.hash)
    with pytest.raises(Conflict):
        store.append(chain(1, holdout="dd" * 16)[1:], expect=chain(0, holdout="dd" * 16)[0].hash)
    assert store.read(holdout) == [terms]


def test_what_is_refused_leaves_nothing_behind(store: Store, chain: Chain, key: Key, holdout: str) -> None:
    entries, other = chain(5), chain(2, holdout="ee" * 16)
    store.create(entries[0], key)
    store.create(other[0], key)
    store.append(entries[1:2], entries[0].hash)
    for length in (1, 60):
        with pytest.raises(Conflict):
            store.append(chain(length, entries[:1], bad=True)[1:], entries[0].hash)
        assert store.read(holdout) == entries[:2]
    store.append(other[1:], other[0].hash)
    store.append(entries[2:], entries[1].hash)
    assert store.read(holdout) == entries
    assert store.read("ee" * 16) == other


def test_a_signals_handler_in_the_midst_of_a_commit_is_refused(
    store: Store, chain: Chain, key: Key, holdout: str
) -> None:
    """It would wait for its own thread, or end the transaction that it interrupts; what it interrupts goes on."""
    entries, other = chain(40), chain(1, holdout="ee" * 16)
    store.create(entries[0], key)
    store.create(other[0], key)
    refused: list[LedgerError] = []

    class Interrupted(Entry):
        """An entry during whose writing a signal comes."""

        @property
        def text(self) -> str:
            if not refused:
                with pytest.raises(LedgerError, match="signal handler") as caught:
                    store.append(other[1:], expect=other[0].hash)
                refused.append(caught.value)
            return super().text

    class Late(list[Entry]):
        """Entries during whose adding, in memory, a signal comes."""

        def __iter__(self) -> Iterator[Entry]:
            if store.url is None and not refused and store._lock._is_owned():  # type: ignore[attr-defined]
                with pytest.raises(LedgerError, match="signal handler") as caught:
                    store.append(other[1:], expect=other[0].hash)
                refused.append(caught.value)
            return super().__iter__()

    struck = entries[35]
    _ = struck.signature, struck.body
    entries[35] = Interrupted(struck.holdout, struck.index, struck.previous, struck.body, struck.hash, struck.signature)
    store.append(Late(entries[1:]), expect=entries[0].hash)
    assert len(refused) == 1
    assert [entry.hash for entry in store.read(holdout)] == [entry.hash for entry in entries]
    assert store.read("ee" * 16) == other[:1]
    store.append(other[1:], expect=other[0].hash)
    assert store.read("ee" * 16) == other


def test_eight_threads_lose_nothing(store: Store, chain: Chain, key: Key, holdout: str) -> None:
    store.create(chain(0)[0], key)
    written: list[str] = []
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            last = store.read(holdout)[-1]
            for number in range(200):
                while True:
                    body = {"worker": worker, "number": number}
                    entry = Entry.seal(holdout, last.index + 1, last.hash, body, key)
                    try:
                        store.append([entry], expect=last.hash)
                    except Conflict:
                        last = store.read(holdout, last.index)[-1]
                        continue
                    written.append(entry.hash)
                    last = entry
                    break
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures
    entries = store.read(holdout)
    verify(entries, signatures="last")
    assert len(entries) == 1601
    assert {entry.hash for entry in entries[1:]} == set(written)
    for worker in range(8):
        assert [e.body["number"] for e in entries[1:] if e.body["worker"] == worker] == list(range(200))


def test_threads_with_a_holdout_each_share_a_store(store: Store, chain: Chain, key: Key) -> None:
    chains = [chain(60, holdout=f"{number:02x}" * 16) for number in range(1, 9)]
    failures: list[BaseException] = []

    def work(entries: list[Entry]) -> None:
        try:
            store.create(entries[0], key)
            for entry in entries[1:]:
                store.append([entry], expect=entry.previous)
                assert store.read(entry.holdout, entry.index) == [entry]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(entries,)) for entries in chains]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures
    assert [store.read(entries[0].holdout) for entries in chains] == chains


def test_open_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(open_store(None), MemoryStore)
    memory = MemoryStore()
    assert open_store(memory) is memory
    real = os.path.realpath(tmp_path)
    for where in ("x.db", "sqlite:///x.db", f"sqlite:///{real}/x.db", Path("x.db"), tmp_path / "x.db"):
        opened = open_store(where)
        assert isinstance(opened, SQLiteStore)
        assert opened.url == f"sqlite:///{real}/x.db"
        again = open_store(opened.url)
        assert again.url == opened.url
        opened.close()
        again.close()


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://host/db",
        "mysql://x",
        "sqlite://x.db",
        "sqlite:///",
        "",
        ":memory:",
        7,
        object(),
        b"x.db",
    ],
)
def test_unknown_places_are_named(where: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError, match=r"churn\.db|ledger=None"):
        open_store(where)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
