"""What only a ledger in PostgreSQL must do: several machines, a server that comes and goes, keys, passwords, roles."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.ledger.older_conversations import CONVERSATIONS, FOLDER
from tests.postgres_server import PostgresServer
from unworn import Holdout, col, share
from unworn.cli import app
from unworn.errors import Conflict, LedgerError, Mismatch, Tampered
from unworn.ledger import Entry, Key, ledger_exists, ledger_url, open_store, verify
from unworn.ledger.backup import export, restore
from unworn.ledger.stores.postgres_store import PostgresStore
from unworn.record.certificate import replay

pytestmark = pytest.mark.postgres
Chain = Callable[..., list[Entry]]
X = {"x": np.arange(600) / 600, "y": np.arange(600) % 7}


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(postgres_url)
    yield opened
    opened.close()


def test_a_password_is_used_and_written_nowhere(
    postgres_server: PostgresServer, postgres_url: str, home_of_its_own: Path
) -> None:
    name = postgres_url.rsplit("/", 1)[1]
    postgres_server.run(
        f"CREATE ROLE ada_{name} LOGIN PASSWORD 's3cret pass'; ALTER DATABASE {name} OWNER TO ada_{name}"
    )
    url = f"postgresql+psycopg://ada_{name}:s3cret%20pass@127.0.0.1:{postgres_server.port}/{name}"
    plain = url.replace(":s3cret%20pass", "")
    assert ledger_url(url) == ledger_url(f"{plain}?password=s3cret%20pass") == plain
    assert ledger_exists(ledger_url(url))
    holdout = Holdout(X, ledger=url, practice=0, name="secret")
    assert holdout.ledger_url == plain
    assert holdout._desk.store._session.database.pool.place.password == "s3cret pass"  # type: ignore[attr-defined]
    answer = holdout.ask(share(col("x") > 0.5), guess=0.5)
    told = [repr(holdout), repr(holdout._desk.store), str(answer.certificate.to_json())]
    told.append(holdout.report(home_of_its_own / "report.html").read_text())
    told += [entry.text for entry in holdout._desk.store.read(holdout.id)]
    holdout.close()
    with pytest.raises(LedgerError) as caught:
        open_store(url.replace(f"/{name}", "/no_such_database"))
    told += [str(caught.value), str(caught.value.numbers), "".join(traceback.format_exception(caught.value))]
    wrong = url.replace(f":{postgres_server.port}", ":s3cret")  # read as a port
    with pytest.raises(LedgerError) as caught:
        open_store(wrong)
    told += [str(caught.value), "".join(traceback.format_exception(caught.value))]
    told += [path.read_bytes().decode("latin-1") for path in home_of_its_own.rglob("*") if path.is_file()]
    assert not [text for text in told if "s3cret" in text]
    again = Holdout(X, ledger=plain, practice=0, name="secret")  # this process knows it; others have ~/.pgpass
    assert again.ask(share(col("x") > 0.5), guess=0.5).index == answer.index
    again.close()


def test_rows_sealed_there_are_known_by_their_url(postgres_url: str, tmp_path: Path) -> None:
    holdout = Holdout(X, ledger=postgres_url, practice=0, name="rows")
    holdout.ask(share(col("x") > 0.5), guess=0.5)
    holdout.close()
    with pytest.raises(Mismatch, match="postgresql"):
        Holdout(X, ledger=tmp_path / "second.db", practice=0)
    found = Holdout(X, practice=0)  # no ledger named: the one that has these rows
    assert found.ledger_url == postgres_url
    assert found.meter.asked == 1
    found.close()


def test_schemas_keep_ledgers_apart(postgres_url: str, chain: Chain, key: Key, holdout: str) -> None:
    one, two = (open_store(f"{postgres_url}?schema={name}") for name in ("one", "two"))
    one.create(chain(0)[0], key)
    assert two.holdouts() == {}
    assert open_store(str(one.url)).holdouts() == {holdout: chain(0)[0]}
    for store in (one, two):
        store.close()
    with pytest.raises(LedgerError, match="small letters"):
        open_store(f"{postgres_url}?schema=a;drop")


def test_looking_makes_nothing(postgres_server: PostgresServer, postgres_url: str, chain: Chain, key: Key) -> None:
    looking = open_store(postgres_url, write=False)
    assert (looking.holdouts(), looking.read("ab" * 16), looking.length("ab" * 16)) == ({}, [], 0)
    assert (looking.checkpoints("ab" * 16), looking.key("ab" * 16)) == ([], None)
    with pytest.raises(LedgerError, match="opened to be read"):
        looking.create(chain(0)[0], key)
    assert postgres_server.run("SELECT count(*) FROM pg_class WHERE relname LIKE 'unworn%'", _name(postgres_url)) == "0"
    writing = open_store(postgres_url)
    writing.create(chain(0)[0], key)
    assert looking.read(chain(0)[0].holdout) == chain(0)
    looking.close()
    writing.close()


def test_an_auditor_is_shown_the_ledger_without_its_keys(
    postgres_server: PostgresServer, store: PostgresStore, chain: Chain, key: Key, holdout: str
) -> None:
    store.create(chain(0)[0], key)
    name = _name(str(store.url))
    postgres_server.run(
        f"CREATE ROLE auditor_{name} LOGIN; GRANT SELECT ON unworn_entries, unworn_checkpoints, unworn_migrations "
        f"TO auditor_{name}",
        name,
    )
    auditor = open_store(str(store.url).replace("//postgres@", f"//auditor_{name}@"), write=False)
    assert auditor.read(holdout) == chain(0)
    assert auditor.key(holdout) is None
    assert "unworn_keys" in auditor.explain_missing_key(holdout)  # type: ignore[attr-defined]
    auditor.close()


def test_keys_may_be_files_of_a_folder(
    postgres_server: PostgresServer, postgres_url: str, chain: Chain, key: Key, holdout: str, tmp_path: Path
) -> None:
    store = open_store(f"{postgres_url}?keys={tmp_path}/keys")
    store.create(chain(0)[0], key)
    assert store.key(holdout) == key
    assert (tmp_path / "keys" / f"{holdout}.key").stat().st_mode & 0o777 == 0o600
    assert postgres_server.run("SELECT count(*) FROM unworn_keys", _name(postgres_url)) == "0"
    with pytest.raises(Conflict):
        store.create(chain(0, holdout="cc" * 16)[0], key, among=[])
    assert store.key("cc" * 16) is None
    store.close()


def test_entries_and_keys_are_not_changed_by_mistake(
    postgres_server: PostgresServer, store: PostgresStore, chain: Chain, key: Key
) -> None:
    store.create(chain(0)[0], key)
    for statement in ("UPDATE unworn_entries SET body = 'x'", "DELETE FROM unworn_entries", "TRUNCATE unworn_keys"):
        with pytest.raises(subprocess.CalledProcessError) as caught:
            postgres_server.run(statement, _name(str(store.url)))
        assert "append-only" in caught.value.stderr


@pytest.mark.parametrize("setting", ["synchronous_commit"])
def test_a_server_that_forgets_is_refused(postgres_server: PostgresServer, postgres_url: str, setting: str) -> None:
    postgres_server.run(f"ALTER DATABASE {_name(postgres_url)} SET {setting} = off")
    with pytest.raises(LedgerError, match=rf"{setting} = off"):
        open_store(postgres_url)


def test_a_database_that_was_brought_back_from_a_backup_is_found_out(
    postgres_server: PostgresServer, store: PostgresStore, chain: Chain, key: Key, holdout: str, tmp_path: Path
) -> None:
    entries, name = chain(6), _name(str(store.url))
    store.create(entries[0], key)
    store.append(entries[1:4], expect=entries[0].hash)
    export(store, tmp_path / "full.jsonl")
    postgres_server.run(
        "ALTER TABLE unworn_entries DISABLE TRIGGER no_change; DELETE FROM unworn_entries WHERE idx > 1", name
    )
    with pytest.raises(Tampered, match=r"lacks answers that were given: .* had entry 3 .* ends at entry 1"):
        open_store(str(store.url))
    postgres_server.run("DELETE FROM unworn_entries", name)
    with pytest.raises(Tampered, match="not in it at all"):
        open_store(str(store.url), write=False)
    restoring = open_store(str(store.url), restoring=True)
    assert restore(tmp_path / "full.jsonl", restoring) == 4
    restoring.close()
    again = open_store(str(store.url))
    assert again.read(holdout) == entries[:4]
    again.close()


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_older_ledgers_come_back_from_it_as_they_were(name: str, store: PostgresStore, tmp_path: Path) -> None:
    assert restore(FOLDER / f"{name}.jsonl", store) > 1
    export(store, tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (FOLDER / f"{name}.jsonl").read_bytes()
    (holdout,) = store.holdouts()
    replay(store.read(holdout))


def test_the_commands_take_its_url(postgres_url: str) -> None:
    holdout = Holdout(X, ledger=postgres_url, practice=0, name="commands")
    holdout.ask(share(col("x") > 0.5), guess=0.5)
    holdout.close()
    for arguments in (["ledger", postgres_url], ["verify", "--ledger", postgres_url]):
        told = CliRunner().invoke(app, arguments)
        assert told.exit_code == 0, told.output
        assert "commands" in told.output


def test_two_machines_write_one_chain(store: PostgresStore, chain: Chain, key: Key, holdout: str) -> None:
    """Forked children and programs started afresh, each with connections and locks of its own."""
    store.create(chain(0)[0], key)
    code = (
        "import sys; from tests.ledger.stores.test_postgres_store import _extend; _extend(sys.argv[1], sys.argv[2], 30)"
    )
    fresh = [subprocess.Popen([sys.executable, "-c", code, str(store.url), name]) for name in ("a", "b")]
    child = os.fork()
    if not child:
        try:
            _extend_in(store, "c", 30)
            os._exit(0)
        finally:
            os._exit(1)
    _extend_in(store, "d", 30)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [process.wait(60) for process in fresh] == [0, 0]
    entries = store.read(holdout)
    verify(entries, public=key.public)
    for who in "abcd":
        assert [entry.body["number"] for entry in entries[1:] if entry.body["who"] == who] == list(range(30))


def test_a_fork_in_the_midst_of_work_hurts_nobody(store: PostgresStore, chain: Chain, key: Key, holdout: str) -> None:
    store.create(chain(0)[0], key)
    stop = threading.Event()

    def work() -> None:
        number = 0
        while not stop.is_set():
            _extend_in(store, "thread", number + 1, start=number)
            number += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for number in range(5):
            child = os.fork()
            if not child:
                try:
                    _extend_in(store, f"child {number}", 3)
                    os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        thread.join(60)
    verify(store.read(holdout), public=key.public)
    assert sum(entry.body.get("who", "").startswith("child") for entry in store.read(holdout)) == 15


def test_the_server_is_killed_and_comes_back(chain: Chain, key: Key, holdout: str) -> None:
    """Nothing that was told is lost, nothing stands twice, and who waited goes on by themselves."""
    server = PostgresServer()
    try:
        store = PostgresStore(server.new_database())
        store.create(chain(0)[0], key)
        stop, failures = threading.Event(), list[BaseException]()
        told: list[str] = []

        def work(who: int) -> None:
            number = 0
            try:
                while not stop.is_set():
                    told.extend(_extend_in(store, f"{who}", number + 1, start=number))
                    number += 1
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            time.sleep(0.3)
            server.kill()
            server.start()
        time.sleep(0.3)
        stop.set()
        for thread in threads:
            thread.join(60)
        assert failures == []
        entries = store.read(holdout)
        verify(entries, public=key.public)
        assert {entry.hash for entry in entries[1:]} == set(told)
        assert len(told) > 10
        store.close()
    finally:
        server.close()


@pytest.mark.parametrize("keeps", [True, False], ids=["committed", "not committed"])
def test_a_commit_whose_end_is_not_heard_is_looked_up(
    keeps: bool, postgres_server: PostgresServer, postgres_url: str, chain: Chain, key: Key, holdout: str
) -> None:
    """The connection is cut after the entry went to the server, or before: in both cases it stands there once."""
    entries = chain(3)
    with _cutting_proxy(postgres_server.port, b"INSERT INTO unworn_entries", keeps) as (port, cuts):
        store = PostgresStore(postgres_url.replace(f":{postgres_server.port}/", f":{port}/"))
        store.create(entries[0], key)
        cuts.set()
        store.append(entries[1:3], expect=entries[0].hash)
        assert not cuts.is_set()
        assert store.read(holdout) == entries[:3]
        store.append(entries[3:], expect=entries[2].hash)
        store.close()


def test_a_server_that_stays_away_is_an_error_that_says_so(
    monkeypatch: pytest.MonkeyPatch, chain: Chain, key: Key, holdout: str
) -> None:
    for module in ("unworn.database.postgres_pool", "unworn.ledger.stores.postgres_session"):
        monkeypatch.setattr(f"{module}.PATIENCE", 1.0)
    server = PostgresServer()
    try:
        store = PostgresStore(server.new_database())
        store.create(chain(0)[0], key)
        server.kill()
        with pytest.raises(LedgerError, match="could not be used"):
            store.append(chain(1)[1:], expect=chain(0)[0].hash)
        server.start()
        store.append(chain(1)[1:], expect=chain(0)[0].hash)
        assert store.read(holdout) == chain(1)
        store.close()
        with pytest.raises(LedgerError, match="closed"):
            store.read(holdout)
    finally:
        server.close()


def _name(url: str) -> str:
    return url.rsplit("/", 1)[1]


def _extend(url: str, who: str, number: int) -> None:
    store = PostgresStore(url)
    _extend_in(store, who, number)
    store.close()


def _extend_in(store: PostgresStore, who: str, stop: int, start: int = 0) -> list[str]:
    """Append entries one by one, again where others were first; their hashes."""
    (holdout,) = store.holdouts()
    key, made = Key(bytes(range(32))), []
    for number in range(start, stop):
        while True:
            last = store.read(holdout, store.length(holdout) - 1)[-1]
            entry = Entry.seal(holdout, last.index + 1, last.hash, {"who": who, "number": number}, key)
            try:
                store.append([entry], expect=last.hash)
            except Conflict:
                continue
            made.append(entry.hash)
            break
    return made


@contextmanager
def _cutting_proxy(port: int, word: bytes, keeps: bool) -> Iterator[tuple[int, threading.Event]]:
    """A wire that breaks once, when it is told to and a word goes over it: after it has arrived, or before."""
    cuts, listener = threading.Event(), socket.create_server(("127.0.0.1", 0))

    def carry(client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", port))

        def back() -> None:
            try:
                while data := server.recv(65536):
                    client.sendall(data)
            except OSError:
                pass

        threading.Thread(target=back, daemon=True).start()
        try:
            while data := client.recv(65536):
                if cuts.is_set() and word in data:
                    cuts.clear()
                    client.shutdown(socket.SHUT_RDWR)  # before the answer can pass
                    if keeps:
                        server.sendall(data)
                        time.sleep(0.3)
                    break
                server.sendall(data)
        except OSError:
            pass
        client.close()
        server.close()

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=carry, args=(client,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1], cuts
    finally:
        listener.close()
